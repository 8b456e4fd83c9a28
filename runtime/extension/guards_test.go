package extension_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
)

// guarded starts one guard with rights, and subscribes it with a line.
func guarded(t *testing.T, rights *policies.Bound, line string) (*rig, *puppet) {
	p := newPuppet(t, "ext")
	e := p.entry()
	e.Rights = rights
	r := newRig(t, extension.Options{}, e)
	p.load(line)
	return r, p
}

// An answer counts as far as the grant goes; more is ignored, and said.
func TestWhatAGuardMay(t *testing.T) {
	const (
		block   = `{"type":"event_intercept_response","id":"ID","block":true,"reason":"no"}`
		rewrite = `{"type":"event_intercept_response","id":"ID","modified_args":{"a":1}}`
	)
	for _, c := range []struct {
		may, answer string
		blocked     bool
		args, raise string
	}{
		{`["block"]`, block, true, `{}`, ""},
		{`["rewrite"]`, block, false, `{}`, "block of tool_call"},
		{`["rewrite"]`, rewrite, false, `{"a":1}`, ""},
		{`["block"]`, rewrite, false, `{}`, "change of the arguments of bash"},
		{`[]`, allow, false, `{}`, ""},
	} {
		t.Run(c.may+c.raise, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, p := guarded(t, rightsOf(t, `{"intercept":{"tool_call":{"may":`+c.may+`}}}`, ""), askedTool)
				w := r.guard(t.Context(), `{}`)
				p.answer(p.hears("event_intercept"), c.answer)
				v, err := w.result()
				if err != nil || v.Blocked != c.blocked || string(v.Args) != c.args {
					t.Errorf("%+v, %v", v, err)
				}
				notes := strings.Join(r.notes("ext"), "\n")
				if c.raise == "" && notes != "" {
					t.Errorf("notes %q", notes)
				}
				if c.raise != "" {
					wantContains(t, notes, "ZP042", c.raise)
				}
			})
		})
	}
}

// A message may be replaced with the right to rewrite only.
func TestReplaceTextNeedsRewrite(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := guarded(t, rightsOf(t, `{"intercept":{"assistant_message":{"may":["block"]}}}`, ""), askedText)
		w := begin(t, func() (extension.Verdict, error) { return r.InterceptAssistantMessage(t.Context(), "hello") })
		p.answer(p.hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","replace_text":"bye"}`)
		if v, err := w.result(); err != nil || v.Text != "hello" || v.Blocked {
			t.Errorf("%+v, %v", v, err)
		}
		wantContains(t, strings.Join(r.notes("ext"), "\n"), "ZP042", "change of a message")
	})
}

// A guard of some tools is asked about these.
func TestToolFilter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := guarded(t, rightsOf(t, `{"intercept":{"tool_call":{"may":["block"],"tools":["w*"]}}}`, ""), askedTool)
		if v, err := r.guard(t.Context(), `{}`).result(); err != nil || v.Blocked {
			t.Errorf("%+v, %v", v, err)
		}
		p.hearsNothing()
		w := begin(t, func() (extension.Verdict, error) {
			return r.InterceptToolCall(t.Context(), extension.ToolQuestion{ToolName: "write", Args: json.RawMessage(`{}`)})
		})
		p.answer(p.hears("event_intercept"), allow)
		w.result()
	})
}

// The grant shortens the wait for an answer, and never lengthens it.
func TestGuardTimeout(t *testing.T) {
	for _, c := range []struct {
		grant string
		want  time.Duration
	}{{"2s", 2 * time.Second}, {"1m", 5 * time.Second}} {
		bubble2(t, c.grant, func(t *testing.T) {
			r, p := guarded(t, rightsOf(t, `{"intercept":{"tool_call":{"timeout":"`+c.grant+`"}}}`, ""), askedTool)
			start := time.Now()
			w := r.guard(t.Context(), `{}`)
			p.hears("event_intercept")
			<-w.done
			if took := time.Since(start); took != c.want {
				t.Errorf("it took %s, want %s", took, c.want)
			}
		})
	}
}

func bubble2(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { bubble(t, f) })
}

// Where a grant says so, a guard that gives no judgement refuses, by name.
func TestFailsClosed(t *testing.T) {
	const grant = `{"intercept":{"tool_call":{"may":["block","rewrite"],"onFailure":"deny"},"turn_start":{"may":["block"],"onFailure":"deny"},"assistant_message":{"may":["block"],"onFailure":"deny"}}}`
	closed := rightsOf(t, grant, `{"rules":[{"decision":"allow","match":{"name":"ext"},"grant":`+grant+`}]}`)
	for _, c := range []struct {
		name string
		fail func(p *puppet, q frame)
		want string
	}{
		{"silence", func(*puppet, frame) { time.Sleep(5 * time.Second) }, "no answer within 5s"},
		{"death", func(p *puppet, _ frame) { p.dies(9, "") }, "exit status 9"},
		{"a wrong field", func(p *puppet, q frame) { p.answer(q, `{"type":"event_intercept_response","id":"ID","block":"yes"}`) }, "malformed answer"},
	} {
		bubble2(t, c.name, func(t *testing.T) {
			r, p := guarded(t, closed, askedTool)
			w := r.guard(t.Context(), `{}`)
			c.fail(p, p.hears("event_intercept"))
			v, err := w.result()
			if err != nil || !v.Blocked || v.By != "ext" {
				t.Fatalf("%+v, %v", v, err)
			}
			wantContains(t, v.Reason, "guard ext did not judge tool_call of bash", c.want)
		})
	}
	for name, ask := range map[string]func(*rig) (extension.Verdict, error){
		"turn": func(r *rig) (extension.Verdict, error) { return r.InterceptTurnStart(context.Background(), 1) },
		"text": func(r *rig) (extension.Verdict, error) {
			return r.InterceptAssistantMessage(context.Background(), "x")
		},
	} {
		bubble2(t, name, func(t *testing.T) {
			r, p := guarded(t, closed, askedTurn+"\n"+askedText)
			w := begin(t, func() (extension.Verdict, error) { return ask(r) })
			p.hears("event_intercept")
			time.Sleep(5 * time.Second)
			if v, err := w.result(); err != nil || !v.Blocked {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

const (
	requires      = `{"require":[{"name":"ext"}]}`
	requiresOpen  = `{"require":[{"name":"ext","onFailure":"allow"}]}`
	pinned        = `{"mode":"pinned"}`
	guardsTools   = `{"intercept":{"tool_call":{"may":["block"],"tools":["bash"]}}}`
	guardsNothing = `{"commands":["go"],"intercept":{}}`
)

// A guard that has died is not passed by: what it guards is refused, until it
// runs again; what it does not guard goes on.
func TestGuardNotRunning(t *testing.T) {
	for _, c := range []struct {
		name, rights, policy string
		closed               bool
	}{
		{"required", guardsTools, requires, true},
		{"required with all rights", `null`, requires, true},
		{"required, open on failure", guardsTools, requiresOpen, false},
		{"strict", guardsTools, pinned, true},
		{"neither", guardsTools, "", false},
		{"said by its grant", `{"intercept":{"tool_call":{"may":["block"],"onFailure":"deny"}}}`, `{"rules":[{"decision":"allow","match":{"name":"ext"},"grant":{"commands":["*"],"intercept":{"tool_call":{"may":["block"],"onFailure":"deny"}}}}]}`, true},
	} {
		bubble2(t, c.name, func(t *testing.T) {
			r, p := guarded(t, rightsOf(t, c.rights, c.policy), askedTool)
			p.dies(7, "")
			v, err := r.guard(t.Context(), `{}`).result()
			if err != nil || v.Blocked != c.closed {
				t.Fatalf("%+v, %v", v, err)
			}
			if c.closed {
				wantContains(t, v.Reason, "guard ext", "ZP072", "not running", "exit status 7")
			}
			if v, err := r.InterceptTurnStart(t.Context(), 1); err != nil || v.Blocked {
				t.Errorf("a turn, which it does not guard: %+v, %v", v, err)
			}
			if r.WithholdsText() {
				t.Error("it withholds text, which it does not guard")
			}
		})
	}
}

// A required guard is waited for while it starts; where it never comes, what it
// may guard is refused.
func TestGuardThatNeverStarts(t *testing.T) {
	for name, c := range map[string]struct {
		rights string
		closed bool
	}{"a guard": {guardsTools, true}, "no guard": {guardsNothing, false}} {
		bubble2(t, name, func(t *testing.T) {
			p := newPuppet(t, "ext")
			e := p.entry()
			e.Rights = rightsOf(t, c.rights, requires)
			r := newRig(t, extension.Options{}, e)
			p.begin()
			w := r.guard(t.Context(), `{}`)
			if w.waits() != c.closed {
				t.Fatalf("the call waits: %t", !c.closed)
			}
			time.Sleep(30 * time.Second)
			synctest.Wait()
			v, err := w.result()
			if err != nil || v.Blocked != c.closed {
				t.Errorf("%+v, %v", v, err)
			}
			if c.closed {
				wantContains(t, v.Reason, "ZP072", "no hello within 30s")
			}
		})
	}
}

// A required guard that becomes ready while a call waits for it is asked.
func TestGuardThatComesLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		e := p.entry()
		e.Rights = rightsOf(t, guardsTools, requires)
		r := newRig(t, extension.Options{}, e)
		w := r.guard(t.Context(), `{}`)
		p.load(askedTool)
		p.answer(p.hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","block":true,"reason":"seen"}`)
		if v, err := w.result(); err != nil || v.Reason != "seen" {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// The system prompt is hidden, shown, or open to replacement.
func TestSystemPromptRight(t *testing.T) {
	for _, c := range []struct{ right, want string }{{"none", "base"}, {"read", "base"}, {"replace", "mine"}} {
		bubble2(t, c.right, func(t *testing.T) {
			r, p := guarded(t, rightsOf(t, `{"commands":["x"],"systemPrompt":"`+c.right+`"}`, ""), askedStart)
			w := r.prompt(t.Context(), "base")
			if c.right != "none" {
				p.answer(p.hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","system_prompt":"mine"}`)
			}
			if got, err := w.result(); err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
			p.hearsNothing()
			notes := strings.Join(r.notes("ext"), "\n")
			switch c.right {
			case "none":
				wantContains(t, notes, "ZP040: being asked about before_agent_start")
			case "read":
				wantContains(t, notes, "ZP042: its change of the system prompt")
			default:
				if notes != "" {
					t.Errorf("notes %q", notes)
				}
			}
		})
	}
}

// Registering what the manifest does not declare is refused; in the strict
// modes the extension is stopped.
func TestContributes(t *testing.T) {
	declared := &extension.Contributes{}
	if err := json.Unmarshal([]byte(`{"Commands":[{"name":"go","description":"Goes."}],
		"Tools":[{"name":"echo","description":"Echoes.","schema":{"type":"object","properties":{"n":{"type":"integer","maximum":10}}}},{"name":"bare"}]}`), declared); err != nil {
		t.Fatal(err)
	}
	tool := func(name, description, schema string) string {
		return `{"type":"register_tool","name":"` + name + `","description":"` + description + `","schema":` + schema + `}`
	}
	const schema = `{"properties": {"n":{"maximum":10,"type":"integer"}},"type":"object"}`
	for _, c := range []struct {
		name, line string
		ok         bool
	}{
		{"as declared", tool("echo", "Echoes.", schema), true},
		{"one character of the description", tool("echo", "Echoes!", schema), false},
		{"another schema", tool("echo", "Echoes.", `{"type":"object"}`), false},
		{"a number of the schema", tool("echo", "Echoes.", strings.Replace(schema, "10", "11", 1)), false},
		{"a tool not declared", tool("other", "", `{"type":"object"}`), false},
		{"what is left open", tool("bare", "anything", `{"type":"object"}`), true},
		{"deferred", `{"type":"register_tool","name":"bare","schema":{"type":"object"},"exposure":"deferred"}`, false},
		{"interactive", `{"type":"register_tool","name":"bare","schema":{"type":"object"},"interactive":true}`, false},
		{"a command as declared", `{"type":"register_command","name":"go","description":"Goes."}`, true},
		{"a command's description", `{"type":"register_command","name":"go","description":"Goes"}`, false},
	} {
		for mode, policy := range map[string]string{"open": "", "pinned": pinned} {
			bubble2(t, mode+"/"+c.name, func(t *testing.T) {
				p := newPuppet(t, "ext")
				e := p.entry()
				e.Rights, e.Contributes = rightsOf(t, `{"commands":["*"],"tools":["*"]}`, policy), declared
				r := newRig(t, extension.Options{}, e)
				p.begin()
				p.greet()
				p.say(c.line)
				if n := len(r.Tools()) + len(r.Commands()); n != map[bool]int{true: 1}[c.ok] {
					t.Errorf("%d registrations count, want this one to: %t", n, c.ok)
				}
				s := r.status("ext")
				if stopped := s.State == extension.StateFailed; stopped != (!c.ok && mode == "pinned") {
					t.Errorf("it is %s: %s", s.State, s.Error)
				}
				if !c.ok {
					wantContains(t, strings.Join(r.notes("ext"), "\n"), "ZP034", "is not what the manifest declares")
				}
				if !c.ok && mode == "pinned" {
					if failed := emitted[event.ExtFailed](r); len(failed) != 1 || !strings.Contains(failed[0].Message, "stopped: ZP034") {
						t.Errorf("failures %+v", failed)
					}
				}
			})
		}
	}
}

package extension_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
)

// guards are puppets that intercept what line subscribes to, loaded.
func guards(t *testing.T, line string, names ...string) (*rig, []*puppet) {
	var all []*puppet
	for _, name := range names {
		all = append(all, newPuppet(t, name))
	}
	r := rigOf(t, extension.Options{}, all...)
	for _, p := range all {
		p.load(line)
	}
	return r, all
}

// Rewrites chain: the next interceptor is shown what the one before made, and
// an answer without a change keeps it.
func TestRewritesChain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, g := guards(t, askedTool, "a", "b", "c")
		w := r.guard(t.Context(), `{"command":"ls"}`)
		g[0].answer(g[0].hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","modified_args":{"command":"ls -l"}}`)
		q := g[1].hears("event_intercept")
		if diff := cmp.Diff(map[string]any{"command": "ls -l"}, q["tool_args"]); diff != "" {
			t.Errorf("b was shown (-want +got):\n%s", diff)
		}
		g[1].answer(q, allow)
		g[2].answer(g[2].hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","modified_args":{"command":"ls -la"}}`)
		v, err := w.result()
		want := extension.Verdict{Args: json.RawMessage(`{"command":"ls -la"}`), By: "c",
			Changes: []string{"a rewrote the arguments", "c rewrote the arguments"}}
		if diff := cmp.Diff(want, v); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// One that allows does not keep the next from blocking, in either order; after
// a block nobody else is asked. The reason comes through whole.
func TestFirstBlockWins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const block = `{"type":"event_intercept_response","id":"ID","block":true,"reason":"no:\n1. this\n2. that"}`
		r, g := guards(t, askedTool, "a", "b")
		for _, blocker := range []int{0, 1} {
			w := r.guard(t.Context(), `{}`)
			for i := range blocker {
				g[i].answer(g[i].hears("event_intercept"), allow)
			}
			g[blocker].answer(g[blocker].hears("event_intercept"), block)
			v, err := w.result()
			if err != nil || !v.Blocked || v.By != g[blocker].name || v.Reason != "no:\n1. this\n2. that" {
				t.Errorf("%+v, %v", v, err)
			}
			g[1].hearsNothing()
		}
	})
}

// An interceptor that is silent, broken or gone lets things pass, with one
// visible warning that names it; the rest of the chain is asked all the same.
func TestFailingGuards(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(p *puppet, q frame)
		want string
	}{
		{"silence", func(p *puppet, q frame) { time.Sleep(5 * time.Second) }, "no answer within 5s"},
		{"half an answer", func(p *puppet, q frame) {
			p.stdio.Out.Write([]byte(`{"type":"event_intercept_resp`))
			time.Sleep(5 * time.Second)
		}, "no answer within 5s"},
		{"death", func(p *puppet, q frame) { p.dies(9, "") }, "exit status 9"},
		{"a wrong field", func(p *puppet, q frame) { p.answer(q, `{"type":"event_intercept_response","id":"ID","block":"yes"}`) }, "malformed answer"},
		{"arguments that are no object", func(p *puppet, q frame) {
			p.answer(q, `{"type":"event_intercept_response","id":"ID","modified_args":"ls"}`)
		}, `modified_args is not a JSON object: "ls"`},
		{"arguments that do not fit", func(p *puppet, q frame) {
			p.answer(q, `{"type":"event_intercept_response","id":"ID","modified_args":{"comand":"ls"}}`)
		}, "modified_args does not fit the tool: command is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, g := guards(t, askedTool, "weak", "strong")
				w := begin(t, func() (extension.Verdict, error) {
					return r.InterceptToolCall(t.Context(), extension.ToolQuestion{
						ToolName: "bash", Args: json.RawMessage(`{"command":"ls"}`),
						Check: func(args json.RawMessage) error {
							if !strings.Contains(string(args), `"command"`) {
								return errors.New("command is missing")
							}
							return nil
						},
					})
				})
				c.fail(g[0], g[0].hears("event_intercept"))
				g[1].answer(g[1].hears("event_intercept"), allow)
				v, err := w.result()
				if err != nil || v.Blocked || string(v.Args) != `{"command":"ls"}` || len(v.Changes) > 0 {
					t.Errorf("%+v, %v", v, err)
				}
				notes := r.notes("weak")
				if len(notes) != 1 {
					t.Fatalf("notes %q, want one", notes)
				}
				wantContains(t, notes[0], "guard weak did not judge tool_call of bash, which goes on unchanged", c.want)
				wantContains(t, r.log("weak"), "guard weak did not judge")
			})
		})
	}
}

// Text is handed down the chain like arguments; while anybody is asked about
// it, none may be shown before.
func TestTextChain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, g := guards(t, askedText, "a", "b")
		if !r.WithholdsText() {
			t.Error("text is not withheld")
		}
		w := begin(t, func() (extension.Verdict, error) { return r.InterceptAssistantMessage(t.Context(), "key 42") })
		g[0].answer(g[0].hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","replace_text":"key [redacted]"}`)
		q := g[1].hears("event_intercept")
		if q["text"] != "key [redacted]" {
			t.Errorf("b was shown %q", q["text"])
		}
		g[1].answer(q, allow)
		if v, err := w.result(); err != nil || v.Text != "key [redacted]" || v.By != "a" || len(v.Changes) != 1 {
			t.Errorf("%+v, %v", v, err)
		}
		g[0].dies(0, "")
		if !r.WithholdsText() {
			t.Error("text is not withheld while b is there")
		}
		g[1].dies(0, "")
		if r.WithholdsText() {
			t.Error("text is withheld for nobody")
		}
	})
}

// Blocks without a reason get one of zot's own.
func TestBlocksWithoutReason(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const block = `{"type":"event_intercept_response","id":"ID","block":true}`
		r, g := guards(t, `{"type":"subscribe","intercept":["turn_start","assistant_message"]}`, "a")
		turn := begin(t, func() (extension.Verdict, error) { return r.InterceptTurnStart(t.Context(), 3) })
		q := g[0].hears("event_intercept")
		if q["step"] != 3.0 {
			t.Errorf("asked %v", q)
		}
		g[0].answer(q, block)
		if v, _ := turn.result(); v.Reason != "turn blocked by extension guard" {
			t.Errorf("%+v", v)
		}
		msg := begin(t, func() (extension.Verdict, error) { return r.InterceptAssistantMessage(t.Context(), "x") })
		g[0].answer(g[0].hears("event_intercept"), block)
		if v, _ := msg.result(); v.Reason != "message withheld by extension guard" {
			t.Errorf("%+v", v)
		}
	})
}

// The system prompt is handed down the chain to the letter, under one run id.
func TestPromptChain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, g := guards(t, askedStart, "a", "b", "c", "d")
		w := r.prompt(t.Context(), " base\n")
		q := g[0].hears("event_intercept")
		if q["system_prompt"] != " base\n" || q["agent_run_id"] != "r" || q["session_id"] != "s" {
			t.Errorf("a was asked %v", q)
		}
		g[0].answer(q, `{"type":"event_intercept_response","id":"ID","system_prompt":""}`)
		q = g[1].hears("event_intercept")
		if q["system_prompt"] != "" || q["agent_run_id"] != "r" {
			t.Errorf("b was asked %v", q)
		}
		g[1].answer(q, `{"type":"event_intercept_response","id":"ID","system_prompt":7}`)
		q = g[2].hears("event_intercept")
		if q["system_prompt"] != "" {
			t.Errorf("c was asked %v", q)
		}
		g[2].answer(q, `{"type":"event_intercept_response","id":"ID","system_prompt":"  é\u2028<&>\t"}`)
		g[3].answer(g[3].hears("event_intercept"), allow)
		if got, err := w.result(); err != nil || got != "  é\u2028<&>\t" {
			t.Errorf("%q, %v", got, err)
		}
		if notes := r.notes("b"); len(notes) != 1 || notes[0] != "before_agent_start: system_prompt is not a string: 7; keeping current system prompt" {
			t.Errorf("notes %q", notes)
		}
		if n := len(emitted[event.ExtNotify](r)); n != 1 {
			t.Errorf("%d notes, want 1", n)
		}
	})
}

// The encoded prompt may have a mebibyte, its quotes included.
func TestPromptLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, g := guards(t, askedStart, "a")
		for _, c := range []struct {
			size int
			ok   bool
		}{{1<<20 - 2, true}, {1<<20 - 1, false}} {
			r.forget()
			w := r.prompt(t.Context(), "base")
			long := strings.Repeat("x", c.size)
			g[0].answer(g[0].hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","system_prompt":"`+long+`"}`)
			got, err := w.result()
			if err != nil || (got == long) != c.ok || !c.ok && got != "base" {
				t.Errorf("%d bytes: %d came, %v", c.size, len(got), err)
			}
			if warned := len(r.notes("a")) == 1; warned == c.ok {
				t.Errorf("%d bytes: notes %q", c.size, r.notes("a"))
			}
		}
	})
}

// The five seconds of a preparation hold for the write, too: one that reads
// nothing delays the others no longer.
func TestPromptForTheDeaf(t *testing.T) {
	bubble(t, func(t *testing.T) {
		deaf, fine := newPuppet(t, "deaf"), newPuppet(t, "fine")
		r := rigOf(t, extension.Options{}, deaf, fine)
		deaf.beginDeaf()
		deaf.say(`{"type":"hello","name":"deaf"}`, askedStart, `{"type":"ready"}`)
		fine.load(askedStart)
		base := strings.Repeat("x", 200<<10)
		start := time.Now()
		w := r.prompt(t.Context(), base)
		time.Sleep(5 * time.Second)
		fine.answer(fine.hears("event_intercept"), `{"type":"event_intercept_response","id":"ID","system_prompt":"short"}`)
		if got, err := w.result(); err != nil || got != "short" || time.Since(start) != 5*time.Second {
			t.Errorf("%.20q, %v after %s", got, err, time.Since(start))
		}
		if notes := r.notes("deaf"); len(notes) != 1 {
			t.Errorf("notes %q, want one", notes)
		}
	})
}

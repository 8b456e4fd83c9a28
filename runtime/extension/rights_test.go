package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/extensiontest"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
	"github.com/patriceckhart/zot/transports/subprocess"
)

// scriptEnv makes the test binary play the script in that file.
const scriptEnv = "ZOT_TEST_SCRIPT"

func init() {
	if file := os.Getenv(scriptEnv); file != "" {
		os.Exit(extensiontest.Main([]string{file}))
	}
}

// rightsOf is what an installed extension with these permissions may do, under
// the policy of a user.
func rightsOf(t testing.TB, permissions, policy string) *policies.Bound {
	t.Helper()
	g, err := policies.ParsePermissions(json.RawMessage(permissions))
	if err != nil {
		t.Fatal(err)
	}
	var sections []policies.Section
	if policy != "" {
		f, err := document.Parse("user.json", []byte(policy))
		if err != nil {
			t.Fatal(err)
		}
		sections = append(sections, policies.Section{Layer: policies.User, File: "user.json", Text: f.Data, Node: f.Root})
	}
	set := policies.Load(sections)
	for _, p := range set.Problems {
		t.Fatalf("policy: %v", p)
	}
	return set.Bind(policies.Subject{
		Name: "ext", Scope: policies.ScopeUser, Transport: "subprocess", Requests: g,
		Lock: policies.LockFacts{Kept: true, Entry: true, Permissions: policies.AskedFor(g, "subprocess")},
	})
}

// A carrier starts the extension that a script describes.
type carrier func(t testing.TB, script string) func(context.Context, io.Writer) (transports.Conn, error)

func inMemory(t testing.TB, text string) func(context.Context, io.Writer) (transports.Conn, error) {
	t.Helper()
	s, err := extensiontest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(_ context.Context, stderr io.Writer) (transports.Conn, error) {
		return memory.New(func(ctx context.Context, io memory.Stdio) error {
			if code := s.Run(ctx, extensiontest.Stdio{In: io.In, Out: io.Out, Err: io.Err}); code != 0 {
				return memory.ExitError{Code: code}
			}
			return nil
		}, memory.Options{Stderr: stderr}), nil
	}
}

func asProcess(t testing.TB, text string) func(context.Context, io.Writer) (transports.Conn, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
		return subprocess.Start(ctx, subprocess.Options{
			Path: self, Dir: filepath.Dir(file), Env: append(os.Environ(), scriptEnv+"="+file), Stderr: stderr,
		})
	}
}

// An audited is what the audit heard of.
type audited struct {
	mu   sync.Mutex
	list []string
}

func (a *audited) note(_ string, c policies.Capability, value string, d policies.Decision) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Code, c, value)))
}

func (a *audited) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.list, "; ")
}

// play starts an extension that greets, says opening, is ready, and then does
// as handlers say. It knows the command sync, which has the manager act on all
// that came before. In the script $record is a file of what it is told.
func play(t *testing.T, by carrier, rights *policies.Bound, opening, handlers string) (r *rig, heard *audited, record string) {
	t.Helper()
	return playOf(t, by, extension.Entry{Name: "ext", Rights: rights}, opening, handlers)
}

func playOf(t *testing.T, by carrier, e extension.Entry, opening, handlers string) (r *rig, heard *audited, record string) {
	t.Helper()
	record = filepath.Join(t.TempDir(), "record")
	script := `send {"type":"hello","name":"ext","capabilities":["call_tool"]}
await hello_ack
send {"type":"register_command","name":"sync"}
` + opening + `
send {"type":"ready"}
record $record
` + handlers + `
on command_invoked
send {"type":"command_response","id":"$id","action":"noop"}`
	e.Launch = by(t, strings.ReplaceAll(script, "$record", record))
	heard = &audited{}
	r = newRig(t, extension.Options{
		Audit: heard.note,
		CallTool: func(_ context.Context, c tool.Call) (tool.Result, error) {
			return tool.TextResult("ran " + c.Name), nil
		},
	}, e)
	r.WaitReady(t.Context())
	return r, heard, record
}

// sync waits until the extension has read all it was told, and zot what it said
// to that.
func (r *rig) sync() {
	r.t.Helper()
	if _, _, err := r.RunCommand(r.t.Context(), "sync", ""); err != nil {
		r.t.Fatal(err)
	}
}

// told are the frames of a type in a record.
func told(t testing.TB, record, typ string) (all []frame) {
	t.Helper()
	data, err := os.ReadFile(record)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := parse(t, []byte(line)); f["type"] == typ {
			all = append(all, f)
		}
	}
	return all
}

// does lists what an extension brought about.
func (r *rig) does() string {
	var all []string
	for _, c := range r.Commands() {
		if c.Name != "sync" {
			all = append(all, "/"+c.Name)
		}
	}
	for _, t := range r.Tools() {
		all = append(all, t.Spec().Name)
	}
	for _, e := range emitted[event.ExtNotify](r) {
		if !strings.HasPrefix(e.Message, "ZP") {
			all = append(all, "note "+e.Message)
		}
	}
	for _, e := range emitted[event.ExtSubmit](r) {
		all = append(all, fmt.Sprintf("submits %s ask=%t", e.Text, e.Ask))
	}
	for _, e := range emitted[event.ExtPanelOpen](r) {
		all = append(all, "panel "+e.ID)
	}
	return strings.Join(all, ", ")
}

// rightsCases give an extension something to try, with a grant that holds it
// and one that does not.
var rightsCases = []struct {
	name, grant, opening string
	does                 string
	refused              string // what the audit hears of
}{
	{"a command", `{"commands":["sync","go*"]}`, `send {"type":"register_command","name":"going"}`, "/going", ""},
	{"a command outside", `{"commands":["sync","go"]}`, `send {"type":"register_command","name":"stop"}`, "", "ZP040 commands stop"},
	{"a tool", `{"commands":["sync"],"tools":["w_*"]}`, `send {"type":"register_tool","name":"w_x","schema":{"type":"object"}}`, "w_x", ""},
	{"a tool outside", `{"commands":["sync"],"tools":["w_*"]}`, `repeat 3 {"type":"register_tool","name":"x","schema":{"type":"object"}}`, "", "ZP040 tools x"},
	{"notes", `{"commands":["sync"],"notify":true}`, `send {"type":"notify","message":"hi"}`, "note hi", ""},
	{"no notes", `{"commands":["sync"]}`, `repeat 3 {"type":"notify","message":"hi"}`, "", "ZP040 notify"},
	{"submit", `{"commands":["sync"],"submit":"auto"}`, `send {"type":"submit","text":"go on"}`, "submits go on ask=false", ""},
	{"submit after a question", `{"commands":["sync"],"submit":"ask"}`, `send {"type":"submit","text":"go on"}`, "submits go on ask=true", ""},
	{"no submit", `{"commands":["sync"],"submit":"none"}`, `send {"type":"submit","text":"go on"}`, "", "ZP040 submit ask"},
	{"panels", `{"commands":["sync"],"panels":true}`, `send {"type":"open_panel","panel":{"id":"p"}}`, "panel p", ""},
	{"no panels", `{"commands":["sync"]}`, `send {"type":"open_panel","panel":{"id":"p"}}`, "", "ZP040 panels"},
	{"interceptors", `{"commands":["sync"],"intercept":{"tool_call":{}},"systemPrompt":"read"}`,
		`send {"type":"subscribe","intercept":["tool_call","before_agent_start"]}`, "", ""},
	{"no interceptors", `{"commands":["sync"],"intercept":{"turn_start":{}}}`,
		`send {"type":"subscribe","intercept":["tool_call","before_agent_start","turn_start"]}`, "", "ZP040 intercept tool_call; ZP040 systemPrompt read"},
	{"events", `{"commands":["sync"],"events":{"turn_start":"full"}}`,
		`send {"type":"subscribe","events":["turn_start","turn_end"]}`, "", "ZP040 events turn_end=redacted"},
}

func TestRights(t *testing.T) {
	for name, by := range map[string]carrier{"memory": inMemory, "subprocess": asProcess} {
		t.Run(name, func(t *testing.T) {
			for _, c := range rightsCases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					r, heard, _ := play(t, by, rightsOf(t, c.grant, ""), c.opening, "")
					r.sync()
					if got := r.does(); got != c.does {
						t.Errorf("it does %q, want %q", got, c.does)
					}
					if heard.String() != c.refused {
						t.Errorf("refused: %q, want %q", heard, c.refused)
					}
					if s := r.status("ext"); len(s.Refusals) != strings.Count(c.refused, "ZP") || len(s.Messages) < len(s.Refusals) {
						t.Errorf("refusals %+v, messages %q", s.Refusals, s.Messages)
					}
				})
			}
		})
	}
}

// Of a refusal the user is told what, by whom, and what would change it, once.
func TestRefusalIsVisible(t *testing.T) {
	r, _, _ := play(t, inMemory, rightsOf(t, `{"commands":["sync"]}`, `{"rules":[{"id":"quiet","decision":"deny","match":{"requests":["notify"]},"reason":"we work in silence"}]}`),
		`repeat 5 {"type":"notify","message":"hi"}`, "")
	notes := r.notes("ext")
	if len(notes) != 1 {
		t.Fatalf("notes %q, want one", notes)
	}
	wantContains(t, notes[0], "ZP021: a note is refused: we work in silence", "user user.json:1", "quiet", "; change")
	if s := r.status("ext"); len(s.Refusals) != 1 || s.Refusals[0].Count != 5 {
		t.Errorf("refusals %+v", s.Refusals)
	}
}

// What is told of an event is as much as was granted; both levels have the
// number of the one event.
func TestEventLevels(t *testing.T) {
	for name, by := range map[string]carrier{"memory": inMemory, "subprocess": asProcess} {
		t.Run(name, func(t *testing.T) {
			const all = `send {"type":"subscribe","events":["tool_call","tool_result","assistant_message"]}`
			r, _, record := play(t, by, rightsOf(t, `{"commands":["sync"],"events":{"tool_call":"full","tool_result":"redacted"}}`, ""), all, "")
			r.Observe(event.ToolCall{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"ls"}`)})
			r.Observe(event.ToolResult{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"ls"}`), Executed: true, Status: "completed",
				Content: []message.Block{message.Text{Text: "secret"}}})
			r.Observe(event.AssistantMessage{Visible: "secret"})
			r.sync()
			events := told(t, record, "event")
			if len(events) != 2 {
				t.Fatalf("it is told %v, want two events", events)
			}
			if events[0]["tool_args"] == nil {
				t.Errorf("a full event has no arguments: %v", events[0])
			}
			e := events[1]
			if e["tool_args"] != nil || e["result"] != nil || e["text"] != nil {
				t.Errorf("a redacted event has content: %v", e)
			}
			if e["tool_name"] != "bash" || e["tool_id"] != "1" || e["status"] != "completed" || e["executed"] != true {
				t.Errorf("a redacted event has lost its names: %v", e)
			}
		})
	}
}

// A panel that the manifest does not declare is not opened, whichever way it is
// asked for.
func TestDeclaredPanels(t *testing.T) {
	r, heard, _ := playOf(t, inMemory, extension.Entry{
		Name: "ext", Rights: rightsOf(t, `{"commands":["*"],"panels":true}`, ""),
		Contributes: &extension.Contributes{
			Commands: []extproto.RegisterCommand{{Name: "sync"}, {Name: "p"}}, Panels: []string{"main"},
		},
	}, `send {"type":"register_command","name":"p"}
send {"type":"open_panel","panel":{"id":"main"}}
send {"type":"open_panel","panel":{"id":"other"}}`, `on command_invoked contains "name":"p"
send {"type":"command_response","id":"$id","action":"open_panel","open_panel":{"id":"third"}}`)
	if _, _, err := r.RunCommand(t.Context(), "p", ""); err == nil {
		t.Error("a command opened a panel that is not declared")
	}
	if got := r.does(); got != "/p, panel main" {
		t.Errorf("it does %q", got)
	}
	if want := "ZP034 panels other; ZP034 panels third"; heard.String() != want {
		t.Errorf("refused %q, want %q", heard, want)
	}
}

// A host service judges by itself; that it refused is kept for doctor, once.
func TestDeniedRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		e := p.entry()
		e.Rights = rightsOf(t, `{"commands":["*"]}`, "")
		r := newRig(t, extension.Options{Request: func(context.Context, string, string, json.RawMessage) (json.RawMessage, error) {
			return nil, &extension.RequestError{Code: "denied", Message: "ZP040: not that host"}
		}}, e)
		p.load()
		for range 3 {
			p.say(`{"type":"request","id":"1","method":"http.fetch"}`)
			p.hears("response")
		}
		s := r.status("ext")
		if len(s.Refusals) != 1 || s.Refusals[0].Count != 3 || len(r.notes("ext")) != 1 {
			t.Errorf("refusals %+v, notes %q", s.Refusals, r.notes("ext"))
		}
		if r.Rights("EXT") != e.Rights || r.Rights("nobody") != nil {
			t.Error("Rights does not tell what it runs under")
		}
	})
}

// call_tool reaches the tools of the grant and no others, also where a command
// of the user asks for it.
func TestCallToolRights(t *testing.T) {
	for name, by := range map[string]carrier{"memory": inMemory, "subprocess": asProcess} {
		t.Run(name, func(t *testing.T) {
			r, heard, record := play(t, by, rightsOf(t, `{"commands":["sync","p"],"callTool":["re*"]}`, ""),
				`send {"type":"register_command","name":"p"}
record $record
send {"type":"call_tool","id":"a","name":"read"}
await tool_result
send {"type":"call_tool","id":"b","name":"bash"}
await tool_result`,
				`on command_invoked contains "name":"p"
send {"type":"command_response","id":"$id","action":"tool_prompt","tool_name":"bash","prompt":"x"}`)
			_, _, err := r.RunCommand(t.Context(), "p", "")
			if err == nil || !strings.Contains(err.Error(), `ZP040: calling the tool "bash" is refused`) {
				t.Errorf("tool_prompt of bash: %v", err)
			}
			results := told(t, record, "tool_result")
			wantContains(t, fmt.Sprint(results[0]), "ran read")
			wantContains(t, fmt.Sprint(results[1]), "ZP040", "is_error:true")
			if heard.String() != "ZP040 callTool bash" {
				t.Errorf("refused: %q", heard)
			}
		})
	}
}

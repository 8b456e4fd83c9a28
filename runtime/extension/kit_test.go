package extension_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
)

// A puppet is an extension in this process whose every frame the test writes
// itself. Its methods wait until the manager has acted on what they did, so it
// lives in a bubble of synctest.
type puppet struct {
	t       testing.TB
	name    string
	started chan memory.Stdio // one for each start
	stdio   memory.Stdio
	lines   chan []byte // what zot said
	leave   chan error  // what the extension ends with
}

func newPuppet(t testing.TB, name string) *puppet {
	return &puppet{t: t, name: name, started: make(chan memory.Stdio, 1), leave: make(chan error, 1)}
}

func (p *puppet) entry() extension.Entry {
	dir := "/ext/" + p.name
	return extension.Entry{Name: p.name, Version: "1.0.0", Scope: "global", Dir: dir, DataDir: dir, Exec: "./" + p.name, Launch: p.launch}
}

func (p *puppet) launch(_ context.Context, stderr io.Writer) (transports.Conn, error) {
	return memory.New(func(ctx context.Context, s memory.Stdio) error {
		p.started <- s
		select {
		case err := <-p.leave:
			return err
		case <-ctx.Done():
			return nil
		}
	}, memory.Options{Stderr: stderr}), nil
}

// begin takes over the streams of the extension, which was started, and reads
// what it is told from now on.
func (p *puppet) begin() {
	p.beginDeaf()
	lines := p.lines
	in := extproto.NewReader(p.stdio.In)
	go func() { // ends with the connection
		for {
			line, err := in.Next()
			if err != nil {
				return
			}
			lines <- bytes.Clone(line)
		}
	}()
	synctest.Wait()
}

// beginDeaf is begin for an extension that reads nothing.
func (p *puppet) beginDeaf() {
	p.lines = make(chan []byte, 10_000)
	p.stdio = <-p.started
	synctest.Wait()
}

// say writes lines.
func (p *puppet) say(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.stdio.Out, line+"\n"); err != nil {
			p.t.Fatalf("%s cannot say %s: %v", p.name, line, err)
		}
	}
	synctest.Wait()
}

// greet says hello, with the capabilities given, and reads the hello_ack.
func (p *puppet) greet(capabilities ...string) {
	p.t.Helper()
	caps, _ := json.Marshal(capabilities)
	p.say(fmt.Sprintf(`{"type":"hello","name":%q,"capabilities":%s}`, p.name, caps))
	p.hears("hello_ack")
}

// load begins, greets, says lines, and is ready.
func (p *puppet) load(lines ...string) {
	p.t.Helper()
	p.begin()
	p.greet()
	p.say(append(lines, `{"type":"ready"}`)...)
}

// hears returns the next frame from zot, which must be of the type.
func (p *puppet) hears(typ string) frame {
	p.t.Helper()
	synctest.Wait()
	select {
	case line := <-p.lines:
		f := parse(p.t, line)
		if f["type"] != typ {
			p.t.Fatalf("%s hears %s, want a %s", p.name, line, typ)
		}
		return f
	default:
		p.t.Fatalf("%s hears nothing, want a %s", p.name, typ)
		return nil
	}
}

// hearsNothing fails if zot said anything.
func (p *puppet) hearsNothing() {
	p.t.Helper()
	synctest.Wait()
	select {
	case line := <-p.lines:
		p.t.Fatalf("%s hears %s, want nothing", p.name, line)
	default:
	}
}

// answer answers a request: format says how, its id comes first.
func (p *puppet) answer(request frame, format string) {
	p.t.Helper()
	p.say(strings.Replace(format, "ID", request.id(), 1))
}

// dies ends the extension, with a line on its standard error first.
func (p *puppet) dies(status int, lastWords string) {
	p.t.Helper()
	if lastWords != "" {
		fmt.Fprintln(p.stdio.Err, lastWords)
	}
	p.leave <- memory.ExitError{Code: status}
	synctest.Wait()
}

// A frame is one from zot.
type frame map[string]any

func (f frame) id() string { s, _ := f["id"].(string); return s }

func parse(t testing.TB, line []byte) frame {
	t.Helper()
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		t.Fatalf("zot said %q: %v", line, err)
	}
	return f
}

// Frames that many tests use.
const (
	toolEcho   = `{"type":"register_tool","name":"echo","schema":{"type":"object"}}`
	commandGo  = `{"type":"register_command","name":"go"}`
	toolOK     = `{"type":"tool_result","id":"ID","content":[{"type":"text","text":"ok"}]}`
	commandOK  = `{"type":"command_response","id":"ID","action":"display","display":"ok"}`
	allow      = `{"type":"event_intercept_response","id":"ID"}`
	askedTool  = `{"type":"subscribe","intercept":["tool_call"]}`
	askedTurn  = `{"type":"subscribe","intercept":["turn_start"]}`
	askedText  = `{"type":"subscribe","intercept":["assistant_message"]}`
	askedStart = `{"type":"subscribe","intercept":["before_agent_start"]}`
)

// A rig is a manager and what it emitted.
type rig struct {
	*extension.Manager
	t      testing.TB
	logs   string // folder of the logs
	mu     sync.Mutex
	events []event.Event
}

// newRig starts a manager with the entries; it is stopped with the test.
func newRig(t testing.TB, opts extension.Options, entries ...extension.Entry) *rig {
	t.Helper()
	r := &rig{t: t, logs: t.TempDir()}
	if opts.Plan == nil {
		opts.Plan = func() extension.Plan { return extension.Plan{Entries: entries} }
	}
	opts.LogDir = r.logs
	opts.Emit = func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	r.Manager = extension.New(opts)
	t.Cleanup(func() { r.Stop(context.Background()) })
	r.Start()
	return r
}

// rigOf starts a manager with puppets.
func rigOf(t testing.TB, opts extension.Options, puppets ...*puppet) *rig {
	t.Helper()
	var entries []extension.Entry
	for _, p := range puppets {
		entries = append(entries, p.entry())
	}
	return newRig(t, opts, entries...)
}

// emitted returns the events of one kind so far.
func emitted[E event.Event](r *rig) (all []E) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

// forget drops the events so far.
func (r *rig) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// log is the log of an extension.
func (r *rig) log(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(extension.LogPath(r.logs, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) status(name string) extension.Status {
	r.t.Helper()
	for _, s := range r.Status() {
		if s.Name == name {
			return s
		}
	}
	r.t.Fatalf("there is no extension %s", name)
	return extension.Status{}
}

func (r *rig) wantState(name string, want extension.State) {
	r.t.Helper()
	if s := r.status(name); s.State != want {
		r.t.Errorf("%s is %q (%s), want %q", name, s.State, s.Error, want)
	}
}

// tool finds the tool that the model would call.
func (r *rig) tool(name string) tool.Tool {
	r.t.Helper()
	for _, t := range r.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	r.t.Fatalf("there is no tool %s", name)
	return nil
}

// toolNames lists the tools as owner/name.
func (r *rig) toolNames() string {
	var all []string
	for _, t := range r.Tools() {
		all = append(all, t.Spec().Extension+"/"+t.Spec().Name)
	}
	return strings.Join(all, " ")
}

// commandNames lists the commands as owner/name.
func (r *rig) commandNames() string {
	var all []string
	for _, c := range r.Commands() {
		all = append(all, c.Extension+"/"+c.Name)
	}
	return strings.Join(all, " ")
}

// A waiter is a request under way.
type waiter[T any] struct {
	t    testing.TB
	done chan struct{}
	got  T
	err  error
}

// begin runs f beside the test until it waits for something.
func begin[T any](t testing.TB, f func() (T, error)) *waiter[T] {
	w := &waiter[T]{t: t, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.got, w.err = f()
	}()
	synctest.Wait()
	return w
}

// result is what f came to; it must be over.
func (w *waiter[T]) result() (T, error) {
	w.t.Helper()
	if w.waits() {
		w.t.Fatal("the request still waits")
	}
	return w.got, w.err
}

func (w *waiter[T]) waits() bool {
	synctest.Wait()
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// call begins a tool call.
func (r *rig) call(ctx context.Context, name string) *waiter[tool.Result] {
	r.t.Helper()
	t := r.tool(name)
	return begin(r.t, func() (tool.Result, error) { return t.Run(ctx, tool.Call{ID: "t-" + name, Name: name}) })
}

// command begins a command.
func (r *rig) command(ctx context.Context, name, args string) *waiter[extproto.CommandResponse] {
	return begin(r.t, func() (extproto.CommandResponse, error) {
		_, resp, err := r.RunCommand(ctx, name, args)
		return resp, err
	})
}

// guard begins to ask about a call of bash.
func (r *rig) guard(ctx context.Context, args string) *waiter[extension.Verdict] {
	return begin(r.t, func() (extension.Verdict, error) {
		return r.InterceptToolCall(ctx, extension.ToolQuestion{ToolID: "t1", ToolName: "bash", Args: json.RawMessage(args)})
	})
}

// prompt begins to prepare a system prompt.
func (r *rig) prompt(ctx context.Context, text string) *waiter[string] {
	return begin(r.t, func() (string, error) {
		return r.BeforeAgentStart(ctx, extension.AgentStart{SessionID: "s", RunID: "r"}, text)
	})
}

func text(r tool.Result) string { return message.TextOf(r.Content) }

// bubble runs a test in fake time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

func wantContains(t testing.TB, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("got %q, want it to contain %q", got, w)
		}
	}
}

package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/extensiontest"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
)

// bubble runs a test in fake time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// A script is a model that gives its answers in order and then always "ok".
type script struct {
	mu       sync.Mutex
	replies  []reply
	requests []model.Request
}

// A reply is one answer of a model.
type reply struct {
	text  string
	calls []message.ToolCall
	input int           // tokens that the request took; 0 stands for 10
	takes time.Duration // after the text was streamed
	err   error
}

func (s *script) Generate(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	r := s.next(req)
	m := message.Message{Role: message.Assistant}
	if r.text != "" {
		emit(model.Chunk{Text: r.text})
		m.Content = append(m.Content, message.Text{Text: r.text})
	}
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return model.Response{Message: m}, ctx.Err()
	}
	resp := model.Response{Stop: model.StopEndTurn, Usage: message.Usage{Known: true, Input: max(r.input, 10), Output: 1}}
	for _, c := range r.calls {
		m.Content = append(m.Content, c)
		resp.Stop = model.StopToolUse
	}
	resp.Message = m
	return resp, r.err
}

func (s *script) next(req model.Request) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if len(s.replies) == 0 {
		return reply{text: "ok"}
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	return r
}

// asked returns the requests so far.
func (s *script) asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// systems lists the system prompts of the requests so far.
func (s *script) systems() (all []string) {
	for _, r := range s.asked() {
		all = append(all, r.System)
	}
	return all
}

func call(id, name, args string) message.ToolCall {
	return message.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

// calls is a reply that only calls.
func calls(all ...message.ToolCall) reply { return reply{calls: all} }

var errOverflow = &model.Error{Provider: "test", Kind: model.KindOverflow, Message: "too long"}

// A fake is a tool made of a function.
type fake struct {
	spec tool.Spec
	run  func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f *fake) Spec() tool.Spec                                           { return f.spec }
func (f *fake) Run(ctx context.Context, c tool.Call) (tool.Result, error) { return f.run(ctx, c) }

// echo is a tool that answers with the arguments that it ran with.
func echo(name string) *fake {
	return &fake{
		spec: tool.Spec{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
		run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			return tool.TextResult("ran " + string(c.Args)), nil
		},
	}
}

// An actor is an extension in this process that plays a script of
// extensiontest; what it hears is kept.
type actor struct {
	name, script string

	mu     sync.Mutex
	heard  bytes.Buffer
	starts int
}

func (a *actor) entry() extension.Entry {
	return extension.Entry{Name: a.name, Version: "1", Launch: a.launch}
}

func (a *actor) launch(_ context.Context, stderr io.Writer) (transports.Conn, error) {
	a.mu.Lock()
	a.starts++
	text := a.script
	a.mu.Unlock()
	s, err := extensiontest.Parse(text)
	if err != nil {
		return nil, err
	}
	return memory.New(func(ctx context.Context, sio memory.Stdio) error {
		in := io.TeeReader(sio.In, a)
		if code := s.Run(ctx, extensiontest.Stdio{In: in, Out: sio.Out, Err: sio.Err}); code != 0 {
			return memory.ExitError{Code: code}
		}
		return nil
	}, memory.Options{Stderr: stderr}), nil
}

// Write keeps what the extension reads.
func (a *actor) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heard.Write(p)
}

// rewrite gives the extension another script from its next start on.
func (a *actor) rewrite(script string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.script = script
}

type frame map[string]any

func (f frame) str(key string) string { s, _ := f[key].(string); return s }

// frames lists what the extension heard that has all of the given "key=value".
func (a *actor) frames(want ...string) (all []frame) {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for line := range bytes.Lines(a.heard.Bytes()) {
		var f frame
		if json.Unmarshal(line, &f) != nil {
			continue
		}
		if !slices.ContainsFunc(want, func(w string) bool {
			k, v, _ := strings.Cut(w, "=")
			return f.str(k) != v
		}) {
			all = append(all, f)
		}
	}
	return all
}

// plays is an extension that says hello, the given lines, and ready. Lines that
// follow the first "on" are what it does then.
func plays(name, lines string) *actor {
	opening, handlers, _ := strings.Cut(lines, "on ")
	if handlers != "" {
		handlers = "on " + handlers
	} else {
		handlers = "on nothing"
	}
	return &actor{name: name, script: fmt.Sprintf("send {\"type\":\"hello\",\"name\":%q,\"capabilities\":[]}\nawait hello_ack\n%s\nsend {\"type\":\"ready\"}\n%s", name, opening, handlers)}
}

// Lines of scripts.
const (
	askStart = `send {"type":"subscribe","intercept":["before_agent_start"]}` + "\n"
	askTool  = `send {"type":"subscribe","intercept":["tool_call"]}` + "\n"
	askTurn  = `send {"type":"subscribe","intercept":["turn_start"]}` + "\n"
	askText  = `send {"type":"subscribe","intercept":["assistant_message"]}` + "\n"
	onAsked  = "on event_intercept\n"
	onCalled = "on tool_call\n"
)

func answers(fields string) string {
	return `send {"type":"event_intercept_response","id":"$id"` + fields + "}\n"
}

func registers(name string) string {
	return fmt.Sprintf(`send {"type":"register_tool","name":%q,"schema":{"type":"object"}}`+"\n", name)
}

func defers(name string) string {
	return fmt.Sprintf(`send {"type":"register_tool","name":%q,"schema":{"type":"object"},"deferred":true}`+"\n", name)
}

// A setup is a session to be put together.
type setup struct {
	host.Options
	replies []reply
	actors  []*actor
	base    string // the system prompt; "" stands for "base"
}

// A rig is a session under test, and what it reported.
type rig struct {
	*host.Host
	t     testing.TB
	model *script

	mu     sync.Mutex
	events []event.Event
}

// newRig starts a session; it is closed with the test.
func newRig(t testing.TB, s setup) *rig {
	t.Helper()
	r := &rig{t: t, model: &script{replies: s.replies}}
	o := s.Options
	if o.CWD == "" {
		o.CWD = "/project"
	}
	if o.Plan == nil {
		o.Plan = func() (p extension.Plan) {
			for _, a := range s.actors {
				p.Entries = append(p.Entries, a.entry())
			}
			return p
		}
	}
	if o.Connect == nil {
		o.Connect = func(provider, id string) (host.Connection, error) {
			if id == "none" {
				return host.Connection{}, errors.New("there is no such model")
			}
			return r.connection(orWord(provider, "test"), orWord(id, "m1")), nil
		}
	}
	if o.SystemPrompt == nil {
		o.SystemPrompt = func([]tool.Spec) string { return orWord(s.base, "base") }
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = h
	h.Subscribe(func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	t.Cleanup(func() { h.Close(context.Background()) })
	h.Start()
	return r
}

func (r *rig) connection(provider, id string) host.Connection {
	return host.Connection{Model: agent.Model{Client: r.model, ID: id}, Provider: provider}
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// run runs a prompt, which must end well.
func (r *rig) run(text string) {
	r.t.Helper()
	if err := r.Run(r.t.Context(), host.Prompt{Text: text}); err != nil {
		r.t.Fatalf("prompt %q: %v", text, err)
	}
}

// begin submits a prompt and returns once nothing moves any more.
func (r *rig) begin(text string) *host.Ticket {
	t, _ := r.Submit(host.Prompt{Text: text})
	synctest.Wait()
	return t
}

// end waits for a ticket and returns what it ended with.
func (r *rig) end(t *host.Ticket) error { return t.Wait(context.Background()) }

// emitted lists the events of one kind so far.
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

// notices lists what the host and the extensions' notes said.
func (r *rig) notices() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		switch e := e.(type) {
		case event.Notice:
			all = append(all, e.Level+": "+e.Text)
		case event.ExtNotify:
			all = append(all, e.Extension+" "+e.Level+": "+e.Message)
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

// results lists the tool results of the transcript as "id: text".
func (r *rig) results() (all []string) {
	for _, res := range r.toolResults() {
		all = append(all, res.CallID+": "+message.TextOf(res.Content))
	}
	return all
}

func (r *rig) toolResults() (all []message.ToolResult) {
	for _, m := range r.Transcript() {
		for _, b := range m.Content {
			if res, ok := b.(message.ToolResult); ok {
				all = append(all, res)
			}
		}
	}
	return all
}

func user(text string) message.Message {
	return message.Message{Role: message.User, Content: []message.Block{message.Text{Text: text}}}
}

func assistant(text string) message.Message {
	return message.Message{Role: message.Assistant, Content: []message.Block{message.Text{Text: text}}}
}

// equal compares lists.
func equal(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// contains wants each of the texts in one of the lines.
func contains(t testing.TB, lines []string, want ...string) {
	t.Helper()
	all := strings.Join(lines, "\n")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("got %q, want it to contain %q", lines, w)
		}
	}
}

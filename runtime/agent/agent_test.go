package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/tool"
)

// script is a model that gives its answers in order.
type script struct {
	mu       sync.Mutex
	replies  []reply
	requests []model.Request
}

type reply struct {
	text  string
	calls []message.ToolCall
	err   error
	wait  func() // is called, and then the context's end awaited
}

func (s *script) Generate(ctx context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	if len(s.replies) == 0 {
		s.mu.Unlock()
		return model.Response{}, errors.New("the script is over")
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	s.mu.Unlock()
	m := message.Message{Role: message.Assistant}
	if r.text != "" {
		emit(model.Chunk{Text: r.text})
		m.Content = append(m.Content, message.Text{Text: r.text})
	}
	if r.wait != nil {
		r.wait()
		<-ctx.Done()
		return model.Response{Message: m}, ctx.Err()
	}
	stop := model.StopEndTurn
	for _, c := range r.calls {
		m.Content = append(m.Content, c)
		stop = model.StopToolUse
	}
	return model.Response{Message: m, Stop: stop, Usage: message.Usage{Known: true, Input: 10, Output: 1}}, r.err
}

func call(id, name, args string) message.ToolCall {
	return message.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

// fake is a tool made of a function.
type fake struct {
	spec     tool.Spec
	run      func(ctx context.Context, c tool.Call) (tool.Result, error)
	accesses []tool.Access
}

func (f *fake) Spec() tool.Spec { return f.spec }
func (f *fake) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	return f.run(ctx, c)
}
func (f *fake) Accesses(json.RawMessage) []tool.Access { return f.accesses }

func named(name string, run func(ctx context.Context, c tool.Call) (tool.Result, error)) *fake {
	return &fake{spec: tool.Spec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, run: run}
}

func says(text string) func(context.Context, tool.Call) (tool.Result, error) {
	return func(context.Context, tool.Call) (tool.Result, error) { return tool.TextResult(text), nil }
}

// world is an agent under test with what it reported.
type world struct {
	*agent.Agent
	model *script
	mu    sync.Mutex
	log   []string
}

func newWorld(replies []reply, opts agent.Options, tools ...tool.Tool) *world {
	w := &world{model: &script{replies: replies}}
	opts.Model = func() (agent.Model, error) { return agent.Model{Client: w.model, ID: "m"}, nil }
	opts.Tools = tool.NewRegistry(tools...)
	opts.Emit = func(e event.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.log = append(w.log, describe(e))
	}
	w.Agent = agent.New(opts)
	return w
}

func (w *world) prompt(ctx context.Context) error {
	return w.Prompt(ctx, message.Message{Role: message.User, Content: []message.Block{message.Text{Text: "go"}}})
}

func describe(e event.Event) string {
	switch e := e.(type) {
	case event.TextDelta:
		return "text " + e.Delta
	case event.AssistantMessage:
		if e.Suppressed {
			return "suppressed " + e.Reason
		}
		return "answer " + e.Visible
	case event.ToolCall:
		return "call " + e.Name
	case event.ToolResult:
		return "result " + e.Name + " " + e.Status
	case event.TurnStart:
		return fmt.Sprint("turn ", e.Step)
	case event.TurnEnd:
		return strings.TrimSpace("end " + e.Stop + " " + e.Error)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", e), "event.")
}

// results lists the tool results of the transcript as "id: text".
func (w *world) results() []string {
	var all []string
	for _, m := range w.Transcript() {
		for _, b := range m.Content {
			if r, ok := b.(message.ToolResult); ok {
				all = append(all, r.CallID+": "+message.TextOf(r.Content))
			}
		}
	}
	return all
}

func TestPromptRunsCallsUntilTheModelIsDone(t *testing.T) {
	w := newWorld([]reply{
		{text: "looking", calls: []message.ToolCall{call("1", "look", `{}`)}},
		{text: "seen"},
	}, agent.Options{}, named("look", says("a file")))
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"UserMessage", "turn 1", "AssistantStart", "text looking", "answer looking", "Usage",
		"call look", "end tool_use", "result look completed",
		"turn 2", "AssistantStart", "text seen", "answer seen", "Usage", "end end_turn", "Done",
	}
	if !slices.Equal(w.log, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(w.log, "\n"), strings.Join(want, "\n"))
	}
	second := w.model.requests[1].Messages
	if got := w.results(); !slices.Equal(got, []string{"1: a file"}) || len(second) != 3 {
		t.Errorf("results %q, second request has %d messages", got, len(second))
	}
	if u := w.Usage(); u.Input != 20 || u.Output != 2 {
		t.Errorf("usage = %+v, want the sum of both calls", u)
	}
}

// Calls that write the same thing keep their order; others overlap.
func TestCallsOfOneReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		slow := func(_ context.Context, c tool.Call) (tool.Result, error) {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			order = append(order, c.ID)
			return tool.TextResult(c.ID), nil
		}
		edit := named("edit", slow)
		edit.accesses = []tool.Access{{Key: "/f", Write: true}}
		free := named("free", slow)
		w := newWorld([]reply{
			{calls: []message.ToolCall{
				call("a", "edit", `{}`), call("b", "edit", `{}`), call("c", "edit", `{}`), call("d", "free", `{}`),
			}},
			{text: "done"},
		}, agent.Options{}, edit, free)
		start := time.Now()
		if err := w.prompt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s, want 3s: three edits one after the other, the rest beside them", took)
		}
		order = slices.DeleteFunc(order, func(id string) bool { return id == "d" })
		if !slices.Equal(order, []string{"a", "b", "c"}) {
			t.Errorf("edits ran in the order %q", order)
		}
		if got := w.results(); !slices.Equal(got, []string{"a: a", "b: b", "c: c", "d: d"}) {
			t.Errorf("results %q are not in the order of the calls", got)
		}
	})
}

// A prompt that is cancelled while calls run leaves one result for each, and
// the next prompt works.
func TestCancelLeavesAValidTranscript(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stuck := named("stuck", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		cancel()
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	stuck.accesses = []tool.Access{{Key: "x", Write: true}}
	w := newWorld([]reply{
		{calls: []message.ToolCall{call("1", "quick", `{}`), call("2", "stuck", `{}`), call("3", "stuck", `{}`)}},
		{text: "hello again"},
	}, agent.Options{}, named("quick", says("done")), stuck)
	if err := w.prompt(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v, want context.Canceled", err)
	}
	if got := w.results(); len(got) != 3 || !strings.Contains(got[1], "cancelled") || !strings.Contains(got[2], "cancelled") {
		t.Errorf("results = %q, want one each, the unfinished ones cancelled", got)
	}
	if !slices.Contains(w.log, "end aborted") {
		t.Errorf("no turn_end aborted in %q", w.log)
	}
	if err := w.prompt(t.Context()); err != nil {
		t.Errorf("the next prompt: %v", err)
	}
}

// A stream that breaks off keeps its text and never its calls.
func TestBrokenAnswerIsKeptWithoutCalls(t *testing.T) {
	broken := &model.Error{Provider: "p", Kind: model.KindTruncated, Message: "cut"}
	w := newWorld([]reply{
		{text: "I will", calls: []message.ToolCall{call("1", "look", `{}`)}, err: broken},
	}, agent.Options{}, named("look", says("x")))
	if err := w.prompt(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("error = %v", err)
	}
	last := w.Transcript()[1]
	if last.Text() != "I will" || len(last.ToolCalls()) != 0 {
		t.Errorf("kept %+v", last)
	}
}

func TestUnparsableArgumentsAreAnswered(t *testing.T) {
	bad := message.ToolCall{ID: "1", Name: "look", Args: json.RawMessage(`{}`), ArgsRaw: `{"path": "a`}
	w := newWorld([]reply{{calls: []message.ToolCall{bad}}, {text: "ok"}}, agent.Options{}, named("look", says("x")))
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.results(); len(got) != 1 || !strings.Contains(got[0], "byte 11 of 11") {
		t.Errorf("results = %q, want the place of the fault", got)
	}
}

func TestUnknownToolAndPanic(t *testing.T) {
	w := newWorld([]reply{
		{calls: []message.ToolCall{call("1", "nope", `{}`), call("2", "boom", `{}`)}}, {text: "ok"},
	}, agent.Options{}, named("boom", func(context.Context, tool.Call) (tool.Result, error) { panic("at the disco") }))
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.results()
	if !strings.Contains(got[0], `no tool named "nope"; there are: boom`) || !strings.Contains(got[1], "panic: at the disco") {
		t.Errorf("results = %q", got)
	}
}

func TestStepLimit(t *testing.T) {
	again := reply{calls: []message.ToolCall{call("1", "look", `{}`)}}
	w := newWorld([]reply{again, again, again}, agent.Options{MaxSteps: 2}, named("look", says("x")))
	if err := w.prompt(t.Context()); !errors.Is(err, agent.ErrMaxSteps) {
		t.Errorf("error = %v, want ErrMaxSteps", err)
	}
}

// Deferred tools stay unseen until a result names them; unknown names are
// ignored; a resumed transcript has them again.
func TestDeferredTools(t *testing.T) {
	weather := named("weather", says("fog"))
	weather.spec.Deferred = true
	loader := named("loader", func(context.Context, tool.Call) (tool.Result, error) {
		r := tool.TextResult("on")
		r.Activate = []string{"weather", "unknown"}
		return r, nil
	})
	w := newWorld([]reply{{calls: []message.ToolCall{call("1", "loader", `{}`)}}, {text: "ok"}, {text: "resumed"}},
		agent.Options{}, loader, weather)
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(w.model.requests[0].Deferred); n != 0 {
		t.Errorf("first request shows %d deferred tools", n)
	}
	if d := w.model.requests[1].Deferred; len(d) != 1 || d[0].Name != "weather" {
		t.Errorf("second request shows %+v", d)
	}
	w.DeactivateTools()
	w.SetTranscript(w.Transcript())
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := w.model.requests[2].Deferred; len(d) != 1 {
		t.Errorf("a resumed conversation shows %+v", d)
	}
}

// hookSet is hooks made of functions.
type hookSet struct {
	turn func(step int) (by, reason string)
	text func(string) agent.TextVerdict
}

func (h hookSet) Begin(context.Context)                        {}
func (h hookSet) BeforeCall(context.Context) error             { return nil }
func (h hookSet) Overflowed(context.Context) bool              { return false }
func (h hookSet) SystemPrompt(context.Context) (string, error) { return "be brief", nil }
func (h hookSet) WithholdText() bool                           { return h.text != nil }
func (h hookSet) TurnStart(_ context.Context, step int) (string, string, error) {
	if h.turn == nil {
		return "", "", nil
	}
	by, reason := h.turn(step)
	return by, reason, nil
}
func (h hookSet) AssistantMessage(_ context.Context, s string) (agent.TextVerdict, error) {
	return h.text(s), nil
}

// A refused turn ends the prompt, and the model never sees what was refused.
func TestBlockedTurn(t *testing.T) {
	blocked := true
	w := newWorld([]reply{{text: "later"}}, agent.Options{Hooks: hookSet{turn: func(int) (string, string) {
		if blocked {
			return "hours", "closed until nine"
		}
		return "", ""
	}}})
	err := w.prompt(t.Context())
	var refused *agent.BlockedError
	if !errors.As(err, &refused) || refused.Reason != "closed until nine" {
		t.Fatalf("error = %v", err)
	}
	if !slices.Contains(w.log, "end error closed until nine") || len(w.Transcript()) != 0 {
		t.Errorf("log %q, transcript %v", w.log, w.Transcript())
	}
	blocked = false
	if err := w.prompt(t.Context()); err != nil || len(w.model.requests[0].Messages) != 1 {
		t.Errorf("after: %v, %d messages", err, len(w.model.requests[0].Messages))
	}
}

// While an interceptor judges messages nothing of one is seen before the
// verdict, and what is seen then is its visible form; the transcript keeps
// what the model said, and calls of a suppressed message run.
func TestWithheldText(t *testing.T) {
	w := newWorld([]reply{
		{text: "my SECRET plan", calls: []message.ToolCall{call("1", "look", `{}`)}},
		{text: "nothing to see"},
	}, agent.Options{Hooks: hookSet{text: func(s string) agent.TextVerdict {
		if strings.Contains(s, "nothing") {
			return agent.TextVerdict{Suppressed: true, By: "scrub", Reason: "not for you"}
		}
		return agent.TextVerdict{Text: strings.ReplaceAll(s, "SECRET", "[redacted]"), By: "scrub"}
	}}}, named("look", says("x")))
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(w.log, "\n")
	if strings.Contains(all, "SECRET") || !strings.Contains(all, "text my [redacted] plan") || !strings.Contains(all, "suppressed not for you") {
		t.Errorf("events:\n%s", all)
	}
	if !strings.Contains(all, "result look completed") {
		t.Error("the call of the message did not run")
	}
	if got := w.Transcript()[1].Text(); got != "my SECRET plan" {
		t.Errorf("transcript keeps %q", got)
	}
	if w.model.requests[0].System != "be brief" {
		t.Errorf("system prompt = %q", w.model.requests[0].System)
	}
}

// What cannot be saved is said once, and the conversation goes on.
func TestRecordFailureIsSaidOnce(t *testing.T) {
	w := newWorld([]reply{{text: "a"}}, agent.Options{Record: func(message.Message) error { return errors.New("disk full") }})
	if err := w.prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range w.log {
		if l == "Notice" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d notices, want 1", n)
	}
}

// Escape during the model call stops it and keeps what was said.
func TestCancelDuringTheAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld([]reply{{text: "half a", wait: cancel}}, agent.Options{})
	if err := w.prompt(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v", err)
	}
	if got := w.Transcript(); len(got) != 2 || got[1].Text() != "half a" {
		t.Errorf("transcript = %+v", got)
	}
	if w.log[len(w.log)-1] != "Done" || w.log[len(w.log)-2] != "end aborted" {
		t.Errorf("log = %q", w.log)
	}
}

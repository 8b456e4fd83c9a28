package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
)

// Key is the API key that the contract gives its clients: no error may hold it.
const Key = "sk-contract-0123456789"

// A Subject is a client that must keep the contract.
type Subject struct {
	Wire Wire
	// New returns a client of the server at baseURL that sends Key, prices
	// each output token with a dollar, and tries again by the given rule.
	New func(t testing.TB, baseURL string, retry httpapi.Retry) model.Client
	// NoReasoningCount says that the wire does not count reasoning apart.
	NoReasoningCount bool
}

// Contract runs the suite that every client passes, whatever it speaks.
func Contract(t *testing.T, s Subject) {
	for _, tt := range contract {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, s) })
	}
	t.Run("cancelled while waiting to try again", func(t *testing.T) { cancelledInWait(t, s) })
	t.Run("cancelled in the stream", func(t *testing.T) { cancelledInStream(t, s) })
	t.Run("cancelled before it began", func(t *testing.T) { cancelledBefore(t, s) })
	t.Run("nothing listens", func(t *testing.T) { nothingListens(t, s) })
}

type contractCase struct {
	name   string
	script string
	req    model.Request // Model and a prompt are filled in where missing

	text      string
	reasoning string
	calls     []message.ToolCall // ids are compared only where given here
	stop      model.Stop
	usage     message.Usage // compared only where Known
	unknown   bool          // the usage must not be Known

	kind    model.Kind    // of the error; empty for none
	says    []string      // what the error's text contains
	lacks   []string      // what it does not contain
	status  int           // of the error; 0 is not compared
	tool    string        // that the error blames
	retries []model.Retry // emitted; Attempt and Wait are compared
}

func call(name, args string) message.ToolCall {
	return message.ToolCall{Name: name, Args: json.RawMessage(args)}
}

func broken(name, raw string) message.ToolCall {
	return message.ToolCall{Name: name, Args: json.RawMessage(`{}`), ArgsRaw: raw}
}

func says(role message.Role, s string) message.Message {
	return message.Message{Role: role, Content: []message.Block{message.Text{Text: s}}}
}

func calling(calls ...message.ToolCall) message.Message {
	m := message.Message{Role: message.Assistant}
	for _, c := range calls {
		m.Content = append(m.Content, c)
	}
	return m
}

func answering(results ...message.ToolResult) message.Message {
	m := message.Message{Role: message.Tool}
	for _, r := range results {
		m.Content = append(m.Content, r)
	}
	return m
}

func result(id, s string) message.ToolResult {
	return message.ToolResult{CallID: id, Content: []message.Block{message.Text{Text: s}}}
}

// Tools is a tool set for requests.
var contractTools = []model.Tool{
	{Name: "bash", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
	{Name: "now", Description: "Tells the time."},
}

func (tt contractCase) run(t *testing.T, s Subject) {
	srv := New(t, tt.script)
	var waits []time.Duration
	client := s.New(t, srv.URL(), noWait(&waits))
	got := Ask(t, client, tt.request())
	if s.NoReasoningCount {
		tt.usage.Reasoning = 0
	}
	tt.checkAnswer(t, got)
	tt.checkError(t, got.Err)
	var want []time.Duration
	for _, r := range tt.retries {
		want = append(want, r.Wait)
	}
	if d := cmp.Diff(want, waits); d != "" {
		t.Errorf("waits (-want +got):\n%s", d)
	}
	if d := cmp.Diff(tt.retries, got.Retries); d != "" {
		t.Errorf("retries shown (-want +got):\n%s", d)
	}
}

func (tt contractCase) request() model.Request {
	req := tt.req
	if req.Model == "" {
		req.Model = "fake"
	}
	if req.Messages == nil {
		req.Messages = []message.Message{says(message.User, "hi")}
	}
	return req
}

func (tt contractCase) checkAnswer(t *testing.T, got Answer) {
	t.Helper()
	if got.Response.Message.Text() != tt.text {
		t.Errorf("text = %q, want %q", got.Response.Message.Text(), tt.text)
	}
	if got.Thought != tt.reasoning {
		t.Errorf("reasoning = %q, want %q", got.Thought, tt.reasoning)
	}
	calls := got.Response.Message.ToolCalls()
	for i := range calls {
		if calls[i].ID == "" {
			t.Errorf("call %d has no id", i)
		}
		if i < len(tt.calls) && tt.calls[i].ID == "" {
			calls[i].ID = ""
		}
	}
	if d := cmp.Diff(tt.calls, calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if tt.stop != got.Response.Stop && tt.stop != "" {
		t.Errorf("stop = %q, want %q", got.Response.Stop, tt.stop)
	}
	if u := got.Response.Usage; tt.usage.Known && u != tt.usage {
		t.Errorf("usage = %+v, want %+v", u, tt.usage)
	} else if tt.unknown && u.Known {
		t.Errorf("usage = %+v, want it unknown", u)
	}
}

func (tt contractCase) checkError(t *testing.T, err error) {
	t.Helper()
	if tt.kind == "" {
		if err != nil {
			t.Errorf("error: %v", err)
		}
		return
	}
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want a *model.Error of kind %q", err, tt.kind)
	}
	if e.Kind != tt.kind || (tt.status != 0 && e.Status != tt.status) || e.Tool != tt.tool {
		t.Errorf("error is of kind %q, status %d, tool %q; want %q, %d, %q: %v", e.Kind, e.Status, e.Tool, tt.kind, tt.status, tt.tool, e)
	}
	if e.Provider == "" || e.Model == "" || e.Remedy == "" {
		t.Errorf("error names provider %q, model %q, remedy %q", e.Provider, e.Model, e.Remedy)
	}
	for _, s := range tt.says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error lacks %q: %v", s, err)
		}
	}
	for _, s := range append(tt.lacks, Key) {
		if strings.Contains(err.Error(), s) {
			t.Errorf("error holds %q: %v", s, err)
		}
	}
}

// An Answer is all that one call gave.
type Answer struct {
	Response model.Response
	Err      error
	Text     string // as emitted
	Thought  string // as emitted
	Retries  []model.Retry
}

// Ask makes one call and checks what holds of every call: what was emitted is
// what was returned, and calls begin, grow and end in that order.
func Ask(t testing.TB, c model.Client, req model.Request) Answer {
	t.Helper()
	return askIn(t, t.Context(), c, req)
}

func askIn(t testing.TB, ctx context.Context, c model.Client, req model.Request) Answer {
	t.Helper()
	var got Answer
	args := map[string]*strings.Builder{}
	ended := map[string]bool{}
	over := false
	resp, err := c.Generate(ctx, req, func(ch model.Chunk) {
		if over {
			t.Error("a chunk was emitted after Generate returned")
		}
		got.Text += ch.Text
		got.Thought += ch.Reasoning
		switch {
		case ch.Retry != nil:
			got.Retries = append(got.Retries, model.Retry{Attempt: ch.Retry.Attempt, Wait: ch.Retry.Wait})
			if ch.Retry.Cause == nil || ch.Retry.Of < ch.Retry.Attempt {
				t.Errorf("retry %+v lacks its cause or number", ch.Retry)
			}
		case ch.ToolStart != nil:
			if args[ch.ToolStart.ID] != nil || ch.ToolStart.Name == "" {
				t.Errorf("call %+v began twice or without a name", ch.ToolStart)
			}
			args[ch.ToolStart.ID] = new(strings.Builder)
		case ch.ToolArgs != nil:
			if b := args[ch.ToolArgs.ID]; b == nil {
				t.Errorf("arguments of %q came before its start", ch.ToolArgs.ID)
			} else {
				b.WriteString(ch.ToolArgs.Delta)
			}
		case ch.ToolEnd != nil:
			ended[ch.ToolEnd.ID] = true
		}
	})
	over = true
	got.Response, got.Err = resp, err
	if joined := strings.ReplaceAll(resp.Message.Text(), "\n", ""); joined != strings.ReplaceAll(got.Text, "\n", "") {
		t.Errorf("emitted text %q, returned %q", got.Text, resp.Message.Text())
	}
	for _, c := range resp.Message.ToolCalls() {
		if !json.Valid(c.Args) || args[c.ID] == nil || !ended[c.ID] {
			t.Errorf("call %+v is not valid, or was not emitted whole", c)
		}
		delete(ended, c.ID)
	}
	if len(ended) > 0 {
		t.Errorf("calls %v were ended and not returned", ended)
	}
	return got
}

// noWait is a rule that records its waits instead of waiting.
func noWait(waits *[]time.Duration) httpapi.Retry {
	return httpapi.Retry{
		Attempts: 3,
		Jitter:   func() float64 { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			*waits = append(*waits, d)
			return ctx.Err()
		},
	}
}

func cancelledInWait(t *testing.T, s Subject) {
	srv := New(t, "turn\n status 429 retry-after=30 slow down")
	ctx, cancel := context.WithCancel(t.Context())
	client := s.New(t, srv.URL(), httpapi.Retry{Sleep: func(ctx context.Context, d time.Duration) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}})
	got := askIn(t, ctx, client, contractCase{}.request())
	if !errors.Is(got.Err, context.Canceled) || got.Response.Stop != model.StopAborted {
		t.Errorf("got %v, stop %q; want the context's error, aborted", got.Err, got.Response.Stop)
	}
	if len(got.Retries) != 1 || got.Retries[0].Wait != 30*time.Second {
		t.Errorf("retries shown: %+v, want one of 30s", got.Retries)
	}
}

func cancelledInStream(t *testing.T, s Subject) {
	srv := New(t, "turn\n say one two\n call bash {\"command\":\"ls\"}\n hang")
	ctx, cancel := context.WithCancel(t.Context())
	client := s.New(t, srv.URL(), httpapi.Retry{})
	var seen strings.Builder
	resp, err := client.Generate(ctx, contractCase{}.request(), func(c model.Chunk) {
		seen.WriteString(c.Text)
		if seen.String() == "one two" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || resp.Stop != model.StopAborted {
		t.Errorf("got %v, stop %q; want the context's error, aborted", err, resp.Stop)
	}
	if resp.Message.Text() != seen.String() || len(resp.Message.ToolCalls()) != 0 {
		t.Errorf("kept %q with calls %v, want the text that was shown and no call", resp.Message.Text(), resp.Message.ToolCalls())
	}
}

func cancelledBefore(t *testing.T, s Subject) {
	srv := New(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := askIn(t, ctx, s.New(t, srv.URL(), httpapi.Retry{}), contractCase{}.request())
	if !errors.Is(got.Err, context.Canceled) {
		t.Errorf("error = %v, want the context's", got.Err)
	}
}

func nothingListens(t *testing.T, s Subject) {
	srv, err := Start(&Script{}, "")
	if err != nil {
		t.Fatal(err)
	}
	srv.Close()
	var waits []time.Duration
	got := Ask(t, s.New(t, srv.URL(), noWait(&waits)), contractCase{}.request())
	contractCase{kind: model.KindUnavailable, says: []string{"nothing listens at", "start the server"}}.checkError(t, got.Err)
	if len(waits) != 0 {
		t.Errorf("it was tried again after %v", waits)
	}
}

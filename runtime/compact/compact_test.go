package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/compact"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// scripted answers model calls in order, the last answer again and again.
type scripted struct {
	answers  []any // a string, or an error
	requests []model.Request
}

func (s *scripted) Generate(ctx context.Context, req model.Request, _ func(model.Chunk)) (model.Response, error) {
	s.requests = append(s.requests, req)
	if ctx.Err() != nil {
		return model.Response{}, ctx.Err()
	}
	a := s.answers[min(len(s.requests), len(s.answers))-1]
	if err, ok := a.(error); ok {
		return model.Response{}, err
	}
	return model.Response{
		Message: message.Message{Role: message.Assistant, Content: []message.Block{message.Text{Text: a.(string)}}},
		Stop:    model.StopEndTurn, Usage: message.Usage{Known: true, Input: 10},
	}, nil
}

func msg(role message.Role, text string) message.Message {
	return message.Message{Role: role, Content: []message.Block{message.Text{Text: text}}, Time: at}
}

func call(id, path string) message.Message {
	return message.Message{Role: message.Assistant, Content: []message.Block{
		message.ToolCall{ID: id, Name: "read", Args: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path))},
	}}
}

func result(id, text string) message.Message {
	return message.Message{Role: message.Tool, Content: []message.Block{
		message.ToolResult{CallID: id, Content: []message.Block{message.Text{Text: text}}},
	}}
}

// exchanges makes n exchanges, each with one call.
func exchanges(n, resultSize int) []message.Message {
	var out []message.Message
	for i := range n {
		id := fmt.Sprint(i)
		out = append(out, msg(message.User, "request "+id), call(id, "file"+id+".go"),
			result(id, strings.Repeat("x", resultSize)), msg(message.Assistant, "answer "+id))
	}
	return out
}

func options(c model.Client) compact.Options {
	return compact.Options{Client: c, Model: "m", Window: 100_000, Now: func() time.Time { return at }}
}

func TestTheLastExchangesStay(t *testing.T) {
	before := exchanges(10, 1000)
	original := exchanges(10, 1000)
	c := &scripted{answers: []any{" ## Goal\nto win \n"}}
	o := options(c)
	o.Focus = "the tests"
	r, err := compact.Run(context.Background(), o, compact.Manual, before)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(original[32:], r.Messages[1:]); diff != "" || r.Keep != 8 {
		t.Errorf("kept %d messages; the last two exchanges differ: %s", r.Keep, diff)
	}
	if diff := cmp.Diff(original, before); diff != "" {
		t.Errorf("the old transcript was changed: %s", diff)
	}
	if text := r.Summary.Text(); r.Summary.Role != message.User || !strings.HasSuffix(text, "## Goal\nto win") || r.Cause != nil || r.After >= r.Before || r.Usage.Input != 10 {
		t.Errorf("result: %+v", r)
	}
	req := c.requests[0]
	sent := req.Messages[0].Text()
	if len(req.Tools) != 0 || len(req.Messages) != 1 || !strings.Contains(sent, "request 7") || strings.Contains(sent, "request 8") || !strings.Contains(sent, "dwell on this: the tests") {
		t.Errorf("the model was sent %.300s", sent)
	}
	// Compacting again folds the summary into the next one.
	again := append(r.Messages, exchanges(3, 1000)...)
	if r, err = compact.Run(context.Background(), o, compact.Manual, again); err != nil {
		t.Fatal(err)
	}
	if sent := c.requests[1].Messages[0].Text(); !strings.Contains(sent, "to win") || len(r.Messages) != 9 {
		t.Errorf("the second time the model was sent %.300s", sent)
	}
}

func TestNothingToDo(t *testing.T) {
	c := &scripted{answers: []any{"s"}}
	for name, messages := range map[string][]message.Message{"empty": nil, "one exchange": exchanges(1, 10)} {
		if _, err := compact.Run(context.Background(), options(c), compact.Manual, messages); !errors.Is(err, compact.ErrNothing) {
			t.Errorf("%s: %v, want ErrNothing", name, err)
		}
	}
	if len(c.requests) != 0 {
		t.Error("the model was asked in vain")
	}
	c.answers = []any{strings.Repeat("longer than what it replaces ", 1000)}
	if _, err := compact.Run(context.Background(), options(c), compact.Manual, exchanges(3, 10)); !errors.Is(err, compact.ErrNothing) {
		t.Errorf("a summary that is longer: %v", err)
	}
}

// One prompt that went on for long is cut inside, and never between a call and
// its result.
func TestALongExchangeIsCutInside(t *testing.T) {
	messages := []message.Message{msg(message.User, "the one request")}
	for i := range 40 {
		messages = append(messages, call(fmt.Sprint(i), "f"), result(fmt.Sprint(i), strings.Repeat("y", 8000)))
	}
	r, err := compact.Run(context.Background(), options(&scripted{answers: []any{"s"}}), compact.Threshold, messages)
	if err != nil {
		t.Fatal(err)
	}
	if r.Keep == 0 || r.Keep%2 != 0 || r.Messages[1].Role != message.Assistant || r.After > 45_000 {
		t.Errorf("kept %d messages of %d tokens, the first of role %s", r.Keep, r.After, r.Messages[1].Role)
	}
	// Where not even the last step fits nothing stays but the request.
	huge := []message.Message{msg(message.User, "read it all"), call("a", "f"), result("a", strings.Repeat("z", 900_000))}
	r, err = compact.Run(context.Background(), options(&scripted{answers: []any{"s"}}), compact.Overflow, huge)
	if err != nil || r.Keep != 0 || !strings.Contains(r.Summary.Text(), "word for word; go on with it:\n\nread it all") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestFailureOfTheModel(t *testing.T) {
	down := &model.Error{Provider: "p", Kind: model.KindUnavailable, Message: "down"}
	c := &scripted{answers: []any{down}}
	messages := exchanges(30, 8000)
	for _, why := range []compact.Reason{compact.Manual, compact.Threshold} {
		if _, err := compact.Run(context.Background(), options(c), why, messages); !errors.Is(err, down) {
			t.Errorf("%s: %v, want the model's error", why, err)
		}
	}
	r, err := compact.Run(context.Background(), options(c), compact.Overflow, messages)
	if err != nil || !errors.Is(r.Cause, down) {
		t.Fatalf("got %+v, %v; want a plain summary", r.Cause, err)
	}
	text := r.Summary.Text()
	for _, want := range []string{"no summary of them could be written", "- request 27", "8 earlier requests", "file27.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "- request 29") {
		t.Error("a request that stays is listed")
	}
	if _, err := compact.Run(context.Background(), options(&scripted{answers: []any{"  "}}), compact.Manual, messages); err == nil {
		t.Error("an empty summary was taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := compact.Run(ctx, options(c), compact.Overflow, messages); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestTheRequestItselfFits(t *testing.T) {
	tooLarge := &model.Error{Provider: "p", Kind: model.KindOverflow}
	c := &scripted{answers: []any{tooLarge, tooLarge, "s"}}
	o := options(c)
	o.Window = 20_000
	r, err := compact.Run(context.Background(), o, compact.Overflow, exchanges(300, 20_000))
	if err != nil || r.Text != "s" || len(c.requests) != 3 {
		t.Fatalf("got %v after %d requests", err, len(c.requests))
	}
	for i, want := range []int{48_000, 24_000, 12_000} {
		if got := len(c.requests[i].Messages[0].Text()); got > want+200 {
			t.Errorf("request %d has %d bytes, want at most %d", i, got, want)
		}
	}
	if sent := c.requests[2].Messages[0].Text(); !strings.Contains(sent, "request 0\n") || !strings.Contains(sent, "are left out here") {
		t.Errorf("sent %.200s", sent)
	}
}

func TestAutoNeverLoops(t *testing.T) {
	a := &compact.Auto{Window: 10_000, Threshold: compact.DefaultThreshold}
	messages := exchanges(20, 2000)
	if !a.Due(0, messages) || a.Due(0, messages[:8]) || !a.Due(8_500, messages[:8]) {
		t.Error("due at 85 % and not before")
	}
	a.Done(compact.Threshold, messages) // it failed
	if a.Due(9_999, messages) {
		t.Error("due again at once")
	}
	if !a.MayRecover(messages) {
		t.Error("a refusal after a failed attempt cannot be recovered from")
	}
	a.Done(compact.Overflow, messages)
	if a.MayRecover(messages) {
		t.Error("recovering from the same refusal twice")
	}
	grown := append(messages, exchanges(3, 2000)...)
	if !a.Due(0, grown) || !a.MayRecover(grown) {
		t.Error("not due after it grew")
	}
	if (&compact.Auto{Window: 10_000}).Due(99_999, messages) || (&compact.Auto{Threshold: 85}).Due(99_999, messages) {
		t.Error("due although switched off, or without a window")
	}
}

// Whatever the transcript, what is kept begins with no result and answers
// every call.
func TestCutProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var messages []message.Message
		for range r.IntN(30) {
			id := fmt.Sprint(len(messages))
			if r.IntN(3) == 0 || len(messages) == 0 {
				messages = append(messages, msg(message.User, strings.Repeat("u", r.IntN(3000))))
				continue
			}
			messages = append(messages, call(id, "f"), result(id, strings.Repeat("r", r.IntN(20_000))))
		}
		o := options(&scripted{answers: []any{"s"}})
		o.Window = 2_000 + r.IntN(30_000)
		why := []compact.Reason{compact.Manual, compact.Threshold, compact.Overflow}[r.IntN(3)]
		got, err := compact.Run(context.Background(), o, why, messages)
		if err != nil {
			var large *compact.TooLargeError
			if !errors.Is(err, compact.ErrNothing) && !errors.As(err, &large) {
				t.Fatal(err)
			}
			continue
		}
		if len(got.Messages) != got.Keep+1 || got.Keep > 0 && got.Messages[1].Role == message.Tool || got.After >= got.Before {
			t.Fatalf("%s in %d: kept %d, first of role %s", why, o.Window, got.Keep, got.Messages[1].Role)
		}
	}
}

func TestSizesAreTold(t *testing.T) {
	o := options(&scripted{answers: []any{"s"}})
	o.Context = 123_000
	_, err := compact.Run(context.Background(), o, compact.Overflow, exchanges(1, 10))
	var large *compact.TooLargeError
	if !errors.As(err, &large) || !strings.Contains(err.Error(), "100000 that the model takes") || !strings.Contains(err.Error(), "/clear") {
		t.Errorf("got %v", err)
	}
}

package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// limited starts an extension with rights to tools, commands and notes with some limits.
func limited(t *testing.T, limits string, lines ...string) (*rig, *puppet) {
	p := newPuppet(t, "ext")
	e := p.entry()
	e.Rights = rightsOf(t, `{"commands":["*"],"tools":["*"],"notify":true,"callTool":["*"],"limits":`+limits+`}`,
		`{"rules":[{"decision":"allow","match":{"name":"ext"},"grant":{"commands":["*"],"tools":["*"],"notify":true,"callTool":["*"],"limits":`+limits+`}}]}`)
	r := newRig(t, extension.Options{}, e)
	p.load(append([]string{toolEcho}, lines...)...)
	return r, p
}

// More frames than allowed are borne for a moment; who goes on is stopped, and
// nobody else.
func TestFramesPerSecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := limited(t, `{"framesPerSecond":10}`)
		note := `{"type":"notify","message":"x"}`
		for range 50 { // exactly the rate, for long
			time.Sleep(100 * time.Millisecond)
			p.say(note)
		}
		r.wantState("ext", extension.StateReady)
		time.Sleep(time.Second)
		for range 20 {
			p.say(note)
		}
		r.wantState("ext", extension.StateReady)
		p.say(note, note)
		r.wantState("ext", extension.StateFailed)
		failed := emitted[event.ExtFailed](r)
		if len(failed) != 1 {
			t.Fatalf("failures %+v", failed)
		}
		wantContains(t, failed[0].Message, "ZP041", "more than 10 frames a second")
	})
}

// Answers are not counted: zot asked for them.
func TestAnswersAreFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := limited(t, `{"framesPerSecond":10}`)
		for range 100 {
			w := r.call(t.Context(), "echo")
			p.answer(p.hears("tool_call"), toolOK)
			if got, err := w.result(); err != nil || got.IsError {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	})
}

// Further calls wait, in the order in which they came.
func TestConcurrentCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := limited(t, `{"concurrentCalls":2}`)
		var calls []*waiter[tool.Result]
		for range 4 {
			calls = append(calls, r.call(t.Context(), "echo"))
		}
		first, second := p.hears("tool_call"), p.hears("tool_call")
		p.hearsNothing()
		p.answer(first, toolOK)
		third := p.hears("tool_call")
		p.hearsNothing()
		if calls[0].waits() || !calls[2].waits() {
			t.Error("calls are not served in their order")
		}
		p.answer(second, toolOK)
		p.answer(third, toolOK)
		p.answer(p.hears("tool_call"), toolOK)
		for _, c := range calls {
			if got, err := c.result(); err != nil || got.IsError {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
}

// A call that finds no room for as long as it may take fails; its own time
// begins with its turn. One that is given up leaves the queue.
func TestNoRoomInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := limited(t, `{"concurrentCalls":1,"wallPerCall":"10s"}`)
		first := r.call(t.Context(), "echo")
		p.hears("tool_call")
		time.Sleep(time.Second)
		ctx, giveUp := context.WithCancel(t.Context())
		given := r.call(ctx, "echo")
		second := r.call(t.Context(), "echo")
		time.Sleep(4 * time.Second)
		third := r.call(t.Context(), "echo")
		giveUp()
		if _, err := given.result(); !errors.Is(err, context.Canceled) {
			t.Errorf("the one that was given up: %v", err)
		}

		time.Sleep(5 * time.Second) // the first is over, the second at work
		if got, err := first.result(); err != nil || got.Status != tool.TimedOut {
			t.Errorf("the first: %+v, %v", got, err)
		}
		q := p.hears("tool_call")
		time.Sleep(5 * time.Second)
		got, err := third.result()
		if err != nil || got.Status != tool.TimedOut {
			t.Errorf("the third: %+v, %v", got, err)
		}
		wantContains(t, text(got), "ZP041", "it may work on 1 calls at a time", "none ended within 10s")
		p.hearsNothing()
		p.answer(q, toolOK)
		if got, err := second.result(); err != nil || got.IsError {
			t.Errorf("the second: %+v, %v", got, err)
		}
	})
}

// A call within a call cannot wait for the one it is made for.
func TestNestedCallDoesNotWaitForItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		e := p.entry()
		e.Rights = rightsOf(t, `{"tools":["*"],"callTool":["*"],"limits":{"concurrentCalls":1}}`, `{"rules":[{"decision":"allow","match":{"name":"ext"},"grant":{"tools":["*"],"callTool":["*"],"limits":{"concurrentCalls":1}}}]}`)
		var r *rig
		opts := extension.Options{CallTool: callThrough(&r)}
		r = newRig(t, opts, e)
		p.begin()
		p.greet("call_tool")
		p.say(toolEcho, strings.Replace(toolEcho, "echo", "inner", 1), `{"type":"ready"}`)
		w := r.call(t.Context(), "echo")
		q := p.hears("tool_call")
		p.say(fmt.Sprintf(`{"type":"call_tool","id":"n","name":"inner","parent_id":%q}`, q.id()))
		answer := p.hears("tool_result")
		wantContains(t, fmt.Sprint(answer), "ZP041", "would wait for itself", "is_error:true")
		p.answer(q, toolOK)
		w.result()
	})
}

// The policy shortens a call's time.
func TestWallPerCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := limited(t, `{"wallPerCall":"3s"}`, commandGo)
		for _, wait := range []func() <-chan struct{}{
			func() <-chan struct{} { return r.call(t.Context(), "echo").done },
			func() <-chan struct{} { return r.command(t.Context(), "go", "").done },
		} {
			start := time.Now()
			<-wait()
			if took := time.Since(start); took != 3*time.Second {
				t.Errorf("it took %s, want 3s", took)
			}
		}
		_ = p
	})
}

// A result over the limit is cut, with a word about it.
func TestToolResultLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, p := limited(t, `{"toolResult":10}`)
		w := r.call(t.Context(), "echo")
		p.answer(p.hears("tool_call"), `{"type":"tool_result","id":"ID","content":[{"type":"text","text":"1234567"},{"type":"image","mime_type":"image/png","data":"AAAA"},{"type":"text","text":"89é"}],"structured_content":{"a":1}}`)
		got, err := w.result()
		if err != nil || got.Structured != nil || len(got.Content) != 3 {
			t.Fatalf("%+v, %v", got, err)
		}
		if first, second := message.TextOf(got.Content[:1]), message.TextOf(got.Content[1:2]); first != "1234567" || second != "89" {
			t.Errorf("%q and %q", first, second)
		}
		wantContains(t, text(got), "ZP041: cut; the result had 22 bytes")
		wantContains(t, strings.Join(r.notes("ext"), "\n"), "ZP041", "a result of echo with 22 bytes")

		w = r.call(t.Context(), "echo")
		p.answer(p.hears("tool_call"), toolOK)
		if got, _ := w.result(); text(got) != "ok" {
			t.Errorf("a short result: %q", text(got))
		}
	})
}

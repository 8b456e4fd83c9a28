package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// A host runs the tools that extensions call: those of the extensions for
// real, and "read", which waits until the test answers.
type host struct {
	*rig
	calls   []tool.Call
	ctxs    []context.Context
	answers chan tool.Result
}

func newHost(t *testing.T, puppets ...*puppet) *host {
	h := &host{answers: make(chan tool.Result, 100)}
	h.rig = rigOf(t, extension.Options{CallTool: h.run}, puppets...)
	return h
}

func (h *host) run(ctx context.Context, call tool.Call) (tool.Result, error) {
	h.mu.Lock()
	h.calls, h.ctxs = append(h.calls, call), append(h.ctxs, ctx)
	h.mu.Unlock()
	for _, t := range h.Tools() {
		if t.Spec().Name == call.Name {
			return t.Run(ctx, call)
		}
	}
	select {
	case r := <-h.answers:
		return r, nil
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
}

func register(name string) string {
	return fmt.Sprintf(`{"type":"register_tool","name":%q,"schema":{"type":"object"}}`, name)
}

// caller loads an extension that may call tools and has some.
func (p *puppet) caller(tools ...string) {
	p.t.Helper()
	p.begin()
	p.greet("call_tool", "tool_cancel")
	for _, name := range tools {
		p.say(register(name))
	}
	p.say(`{"type":"ready"}`)
}

// refused expects the answer to a call_tool to be an error with want in it.
func (p *puppet) refused(id, want string) {
	p.t.Helper()
	f := p.hears("tool_result")
	if f.id() != id || f["is_error"] != true || !strings.Contains(fmt.Sprint(f["content"]), want) {
		p.t.Errorf("answer %v, want a refusal of %s with %q", f, id, want)
	}
}

// A call for the model's call is accounted to it; one for no call has none.
func TestCallTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		h := newHost(t, p)
		p.caller("count")
		p.say(`{"type":"call_tool","id":"c1","name":"read","args":{"path":"a"}}`)
		h.answers <- tool.Result{Content: []message.Block{message.Text{Text: "x"}}, Structured: json.RawMessage(`{"n":1}`)}
		f := p.hears("tool_result")
		if f.id() != "c1" || f["name"] != "read" || f["truncated"] != nil || fmt.Sprint(f["structured_content"]) != "map[n:1]" {
			t.Errorf("answer %v", f)
		}
		w := h.call(t.Context(), "count")
		q := p.hears("tool_call")
		p.say(fmt.Sprintf(`{"type":"call_tool","id":"c2","name":"read","parent_id":%q}`, q.id()))
		h.answers <- tool.ErrorResult("path is missing")
		p.refused("c2", "path is missing")
		p.answer(q, toolOK)
		if _, err := w.result(); err != nil {
			t.Error(err)
		}
		own, child := h.calls[0], h.calls[1]
		if own.Origin != "ext" || own.Parent != "" || own.ID == "" || string(own.Args) != `{"path":"a"}` {
			t.Errorf("its own call %+v", own)
		}
		if child.Origin != "ext" || child.Parent != "t-count" || string(child.Args) != `{}` || child.ID == own.ID {
			t.Errorf("the call for the model's %+v", child)
		}
	})
}

// The rules of call_tool, each with its refusal.
func TestCallToolRules(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, plain := newPuppet(t, "ext"), newPuppet(t, "plain")
		h := newHost(t, p, plain)
		p.caller("count")
		plain.load()
		plain.say(`{"type":"call_tool","id":"c","name":"read"}`)
		plain.refused("c", "was not agreed on")
		for _, c := range []struct{ id, frame, want string }{
			{"", `"id":"","name":"read"`, "needs an id"},
			{"a", `"id":"a","name":"read","args":[1]`, "args must be a JSON object"},
			{"b", `"id":"b","name":"read","parent_id":"nobody"`, "unknown or expired parent tool call"},
		} {
			p.say(`{"type":"call_tool",` + c.frame + `}`)
			p.refused(c.id, c.want)
		}

		w := h.call(t.Context(), "count")
		q := p.hears("tool_call")
		p.say(`{"type":"call_tool","id":"c","name":"read"}`)
		p.refused("c", "name it in parent_id")
		p.say(fmt.Sprintf(`{"type":"call_tool","id":"d","name":"count","parent_id":%q}`, q.id()))
		p.refused("d", "cycle: count -> count")
		p.answer(q, toolOK)
		w.result()
		p.say(fmt.Sprintf(`{"type":"call_tool","id":"e","name":"read","parent_id":%q}`, q.id()))
		p.refused("e", "unknown or expired parent tool call")

		// A doubled id is ignored while the first is at work.
		p.say(`{"type":"call_tool","id":"f","name":"read"}`, `{"type":"call_tool","id":"f","name":"read"}`)
		if len(h.calls) != 1 {
			t.Errorf("%d calls, want 1", len(h.calls))
		}
		h.answers <- tool.TextResult("x")
		p.hears("tool_result")
		p.hearsNothing()
		wantContains(t, h.log("ext"), `ignored a call_tool with the id "f"`)

		// Sixty seconds, like any tool.
		p.say(`{"type":"call_tool","id":"g","name":"read"}`)
		time.Sleep(60 * time.Second)
		p.refused("g", "no result within 1m0s")
	})
}

// Tools that call each other do so four deep and not in circles.
func TestCallToolDepth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPuppet(t, "a"), newPuppet(t, "b")
		h := newHost(t, a, b)
		a.caller("one", "three")
		b.caller("two", "four")
		w := h.call(t.Context(), "one")
		q1 := a.hears("tool_call")
		call := func(from *puppet, parent frame, to *puppet, name string) frame {
			t.Helper()
			from.say(fmt.Sprintf(`{"type":"call_tool","id":"to-%s","name":%q,"parent_id":%q}`, name, name, parent.id()))
			return to.hears("tool_call")
		}
		q2 := call(a, q1, b, "two")
		b.say(fmt.Sprintf(`{"type":"call_tool","id":"back","name":"one","parent_id":%q}`, q2.id()))
		b.refused("back", "cycle: one -> two -> one")
		q3 := call(b, q2, a, "three")
		q4 := call(a, q3, b, "four")
		b.say(fmt.Sprintf(`{"type":"call_tool","id":"deep","name":"read","parent_id":%q}`, q4.id()))
		b.refused("deep", "nested deeper than 4")
		for _, step := range []struct {
			callee *puppet
			q      frame
			caller *puppet
		}{{b, q4, a}, {a, q3, b}, {b, q2, a}} {
			step.callee.answer(step.q, toolOK)
			step.caller.hears("tool_result")
		}
		a.answer(q1, toolOK)
		if res, err := w.result(); err != nil || text(res) != "ok" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// A call ends with the one that it is made for, and when its caller gives up.
// No answer is sent where the caller knows; one that cannot know gets an error.
func TestCallToolCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		knows, plain := newPuppet(t, "knows"), newPuppet(t, "plain")
		h := newHost(t, knows, plain)
		knows.caller("count")
		plain.begin()
		plain.greet("call_tool")
		plain.say(register("tally"), `{"type":"ready"}`)

		knows.say(`{"type":"call_tool","id":"a","name":"read"}`, `{"type":"call_tool_cancel","id":"a"}`, `{"type":"call_tool_cancel","id":"zzz"}`)
		if h.ctxs[0].Err() == nil {
			t.Error("the call runs on")
		}
		knows.hearsNothing()

		for i, p := range []*puppet{knows, plain} {
			ctx, cancel := context.WithCancel(t.Context())
			w := h.call(ctx, []string{"count", "tally"}[i])
			q := p.hears("tool_call")
			p.say(fmt.Sprintf(`{"type":"call_tool","id":"b","name":"read","parent_id":%q}`, q.id()))
			cancel()
			if _, err := w.result(); err != context.Canceled || h.ctxs[i+1].Err() == nil {
				t.Errorf("%v; the call that was made for it: %v", err, h.ctxs[i+1].Err())
			}
		}
		knows.hears("tool_cancel")
		knows.hearsNothing()
		plain.refused("b", "the tool call that it was made for is over")
	})
}

// The result of a call_tool has a budget.
func TestCallToolBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		h := newHost(t, p)
		p.caller()
		h.answers <- tool.TextResult(strings.Repeat("é", 300<<10))
		p.say(`{"type":"call_tool","id":"a","name":"read"}`)
		f := p.hears("tool_result")
		got := f["content"].([]any)[0].(map[string]any)["text"].(string)
		if f["truncated"] != true || len(got) != extproto.MaxCallToolResult || strings.ContainsRune(got, '�') {
			t.Errorf("truncated %v, %d bytes", f["truncated"], len(got))
		}
	})
}

// An extension may wait for 32 host services at a time; the end of one makes
// room. Errors have the protocol's codes.
func TestRequests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		answers := make(chan error)
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{
			Request: func(ctx context.Context, ext, method string, args json.RawMessage) (json.RawMessage, error) {
				if err := <-answers; err != nil {
					return nil, err
				}
				return json.Marshal(map[string]any{"who": ext, "what": method, "with": args})
			},
		}, p)
		p.begin()
		p.say(`{"type":"hello","name":"ext"}`)
		if ack := p.hears("hello_ack"); fmt.Sprint(ack["capabilities"]) != "[request]" {
			t.Errorf("capabilities %v", ack["capabilities"])
		}
		p.say(`{"type":"ready"}`)
		for i := range 33 {
			p.say(fmt.Sprintf(`{"type":"request","id":"q%d","method":"m","args":{"n":%d}}`, i, i))
		}
		code := func(f frame) string { return fmt.Sprint(f["error"].(map[string]any)["code"]) }
		if f := p.hears("response"); f.id() != "q32" || code(f) != "busy" {
			t.Errorf("%v", f)
		}
		answers <- nil
		if f := p.hears("response"); f["error"] != nil || f["result"].(map[string]any)["who"] != "ext" || f["result"].(map[string]any)["what"] != "m" {
			t.Errorf("%v", f)
		}
		answers <- &extension.RequestError{Code: extproto.CodeDenied, Message: "no"}
		if f := p.hears("response"); code(f) != "denied" {
			t.Errorf("%v", f)
		}
		answers <- fmt.Errorf("broken")
		if f := p.hears("response"); code(f) != "failed" {
			t.Errorf("%v", f)
		}
		p.say(`{"type":"request","id":"again","method":"m"}`)
		p.hearsNothing()
		close(answers)
		synctest.Wait()
		r.wantState("ext", extension.StateReady)
	})
}

// A host without services says so.
func TestNoRequests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		rigOf(t, extension.Options{}, p)
		p.load()
		p.say(`{"type":"request","id":"q","method":"http.fetch"}`)
		if f := p.hears("response"); f["error"].(map[string]any)["code"] != "unknown_method" {
			t.Errorf("%v", f)
		}
	})
}

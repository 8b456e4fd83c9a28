package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// A diary notes what happens in order, whoever is concerned.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) watch(e event.Event) {
	switch e := e.(type) {
	case event.ToolCall:
		d.note("call %s", e.Args)
	case event.ConfirmationRequested:
		d.note("question about %s", e.Preview)
	case event.PermissionDecision:
		d.note("%s by %s", e.Decision, e.Source)
	case event.ToolResult:
		d.note("result of %s: %s", e.Args, message.TextOf(e.Content))
	}
}

// Decide implements guard.Policy, Confirm guard.Asker.
func (d *diary) Decide(_ context.Context, c tool.Call, _ tool.Tool) guard.Decision {
	d.note("policy on %s", c.Args)
	return guard.Decision{Effect: guard.Ask}
}

func (d *diary) Confirm(_ context.Context, q guard.Question) (guard.Answer, error) {
	d.note("asked about %s, %s", q.Call.Args, strings.Join(q.Changes, ", "))
	return guard.Answer{Allow: true}, nil
}

// A call is told of with the model's arguments, goes through the chain, is
// judged, confirmed and run with the final ones; the transcript keeps the
// model's own and who changed them.
func TestOrderOfACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := plays("first", askTool+onAsked+answers(`,"modified_args":{"command":"b"}`))
		second := plays("second", askTool+onAsked+answers(`,"modified_args":{"command":"c"}`))
		d := &diary{}
		r := newRig(t, setup{
			actors:  []*actor{first, second},
			replies: []reply{calls(call("1", "bash", `{"command":"a"}`))},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}, Policy: d, Asker: d},
		})
		r.Subscribe(d.watch)
		r.run("hi")
		const changes = "first rewrote the arguments, second rewrote the arguments"
		equal(t, "order", d.lines,
			`call {"command":"a"}`,
			`policy on {"command":"c"}`,
			`question about c`,
			`asked about {"command":"c"}, `+changes,
			`approved by user`,
			`result of {"command":"c"}: ran {"command":"c"}`,
		)
		got := second.frames("event=tool_call")
		if len(got) != 1 || fmt.Sprint(got[0]["tool_args"]) != "map[command:b]" {
			t.Errorf("the second was asked %v, want the arguments of the first", got)
		}
		if c := r.Transcript()[1].ToolCalls()[0]; string(c.Args) != `{"command":"a"}` {
			t.Errorf("the transcript keeps %s", c.Args)
		}
		if c := r.model.asked()[1].Messages[1].ToolCalls()[0]; string(c.Args) != `{"command":"a"}` {
			t.Errorf("the model sees %s of itself", c.Args)
		}
		if res := r.toolResults()[0]; strings.Join(res.Changes, ", ") != changes {
			t.Errorf("the transcript says of changes: %q", res.Changes)
		}
	})
}

// The first block wins; its full reason reaches the model, nothing is asked
// and nothing runs.
func TestBlockedCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		reason := "refused: " + strings.Repeat("why ", 2000) + "ümläut"
		blocks, after := plays("blocks", askTool+onAsked+answers(fmt.Sprintf(`,"block":true,"reason":%q`, reason))),
			plays("after", askTool+onAsked+answers(``))
		d := &diary{}
		r := newRig(t, setup{
			actors:  []*actor{blocks, after},
			replies: []reply{calls(call("1", "bash", `{"command":"a"}`))},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}, Policy: d, Asker: d},
		})
		r.run("hi")
		equal(t, "results", r.results(), "1: "+reason)
		equal(t, "policy and person", d.lines)
		if n := len(after.frames("event=tool_call")); n != 0 {
			t.Errorf("the one after was asked %d times", n)
		}
		if res := emitted[event.ToolResult](r)[0]; res.Status != "blocked" || res.Executed {
			t.Errorf("result event: %+v", res)
		}
		if got := emitted[event.ConfirmationRequested](r); len(got) != 0 {
			t.Errorf("a confirmation was announced: %v", got)
		}
	})
}

// What cannot be used of an answer lets the call pass unchanged, with one
// warning that names the guard.
func TestInterceptorThatFails(t *testing.T) {
	for _, c := range []struct{ name, does, warning string }{
		{"silent", "pause 1h", "no answer within 5s"},
		{"leaves", "exit 1", "disconnected"},
		{"no object", answers(`,"modified_args":["a"]`), "not a JSON object"},
		{"against the schema", answers(`,"modified_args":{"command":5}`), "expected string, but got number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, setup{
					actors:  []*actor{plays("broken", askTool+onAsked+c.does)},
					replies: []reply{calls(call("1", "bash", `{"command":"a"}`))},
					Options: host.Options{Tools: []tool.Tool{echo("bash")}},
				})
				r.run("hi")
				equal(t, "results", r.results(), `1: ran {"command":"a"}`)
				notices := r.notices()
				contains(t, notices, "broken warn: guard broken did not judge tool_call of bash", c.warning)
				if len(notices) != 1 {
					t.Errorf("%d warnings: %q", len(notices), notices)
				}
			})
		})
	}
}

// Cancelling while a guard thinks stops at once; the late answer counts for
// nothing, and the call has its result.
func TestCancelWhileAGuardThinks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{
			actors:  []*actor{plays("slow", askTool+onAsked+"pause 3s\n"+answers(`,"modified_args":{"command":"late"}`))},
			replies: []reply{calls(call("1", "bash", `{"command":"a"}`))},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}},
		})
		ticket := r.begin("hi")
		began := time.Now()
		r.Cancel()
		if err := r.end(ticket); !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("ended with %v after %s", err, time.Since(began))
		}
		time.Sleep(5 * time.Second)
		if got := r.results(); len(got) != 1 || !strings.Contains(got[0], "cancelled") {
			t.Errorf("results %q", got)
		}
		r.run("again")
		equal(t, "notices", r.notices())
	})
}

// A refused turn ends the prompt: the model is not asked and never sees what
// was refused.
func TestBlockedTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{actors: []*actor{plays("hours", askTurn+onAsked+answers(`,"block":true,"reason":"closed until nine"`))}})
		err := r.Run(t.Context(), host.Prompt{Text: "hi"})
		var refused *agent.BlockedError
		if !errors.As(err, &refused) || refused.By != "hours" || refused.Reason != "closed until nine" {
			t.Fatalf("error %v", err)
		}
		if len(r.model.asked()) != 0 || len(r.Transcript()) != 0 {
			t.Errorf("%d requests, transcript %v", len(r.model.asked()), r.Transcript())
		}
		end := emitted[event.TurnEnd](r)
		if len(end) != 1 || end[0].Stop != "error" || end[0].Error != "closed until nine" {
			t.Errorf("turn_end %+v", end)
		}
		if len(emitted[event.Done](r)) != 1 || r.Busy() {
			t.Error("the prompt is not over")
		}
	})
}

// While an extension is asked about messages nothing of one is seen before its
// verdict, and then once in its visible form; the transcript keeps what the
// model said. A suppressed message still has its calls run.
func TestWithheldStreaming(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scrub := plays("scrub", askText+
			"on event_intercept contains SECRET\npause 1s\n"+answers(`,"replace_text":"[redacted]"`)+
			onAsked+answers(`,"block":true,"reason":"not for you"`))
		r := newRig(t, setup{
			actors: []*actor{scrub},
			replies: []reply{
				{text: "SECRET", takes: time.Second},
				{text: "hush", calls: []message.ToolCall{call("1", "bash", `{"command":"a"}`)}},
				{text: "SECRET again"},
			},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}},
		})
		ticket := r.begin("hi")
		time.Sleep(1500 * time.Millisecond)
		if got := emitted[event.TextDelta](r); len(got) != 0 {
			t.Errorf("seen before the verdict: %v", got)
		}
		if err := r.end(ticket); err != nil {
			t.Fatal(err)
		}
		r.run("more")
		if got := fmt.Sprint(emitted[event.TextDelta](r)); got != "[{[redacted]} {[redacted]}]" {
			t.Errorf("text was shown as %s", got)
		}
		said := emitted[event.AssistantMessage](r)
		if said[0].Visible != "[redacted]" || said[0].By != "scrub" || !said[1].Suppressed || said[1].Reason != "not for you" || said[1].Visible != "" {
			t.Errorf("messages %+v", said)
		}
		equal(t, "results", r.results(), `1: ran {"command":"a"}`)
		if tr := r.Transcript(); tr[1].Text() != "SECRET" || tr[3].Text() != "hush" {
			t.Errorf("the transcript keeps %q and %q", tr[1].Text(), tr[3].Text())
		}
	})
}

// An extension that only observes withholds nothing and sees each event.
func TestObserverSeesThePrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		watch := plays("watch", `send {"type":"subscribe","events":["session_start","turn_start","tool_call","tool_confirmation_requested","permission_decision","tool_result","turn_end","assistant_message"]}`+"\n")
		d := &diary{}
		r := newRig(t, setup{
			actors: []*actor{watch}, replies: []reply{calls(call("1", "bash", `{"command":"a"}`)), {text: "done"}},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}, Policy: d, Asker: d},
		})
		r.run("hi")
		var got []string
		for _, f := range watch.frames("type=event") {
			got = append(got, f.str("event"))
		}
		equal(t, "events", got, "session_start", "turn_start", "tool_call", "turn_end", "tool_confirmation_requested",
			"permission_decision", "tool_result", "turn_start", "assistant_message", "turn_end")
		if !slices.ContainsFunc(emitted[event.TextDelta](r), func(e event.TextDelta) bool { return e.Delta == "done" }) {
			t.Error("the text was not streamed")
		}
	})
}

// A tool of an extension may call another; it goes the same way, and is told
// to be the extension's.
func TestCallToolGoesTheSameWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		helper := &actor{name: "helper", script: `send {"type":"hello","name":"helper","capabilities":["call_tool"]}
await hello_ack
` + registers("help") + `send {"type":"ready"}
on tool_call
send {"type":"call_tool","id":"c1","parent_id":"$id","name":"bash","args":{"command":"a"}}
await tool_result
send {"type":"panel_close","panel_id":"none"}`}
		d := &diary{}
		r := newRig(t, setup{
			actors:  []*actor{helper},
			replies: []reply{calls(call("1", "help", `{}`))},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}, Policy: d, Asker: d},
		})
		ticket := r.begin("hi")
		results := emitted[event.ToolResult](r)
		if len(results) != 1 || results[0].Parent != "1" || results[0].Origin != "helper" || results[0].Name != "bash" {
			t.Fatalf("results %+v", results)
		}
		if !slices.Contains(d.lines, `asked about {"command":"a"}, `) {
			t.Errorf("nobody was asked: %q", d.lines)
		}
		heard := helper.frames("type=tool_result")
		if len(heard) != 1 {
			t.Fatalf("it heard %v", heard)
		}
		b, _ := json.Marshal(heard[0]["content"])
		if !strings.Contains(string(b), "ran") {
			t.Errorf("it got %s", b)
		}
		r.Cancel()
		_ = r.end(ticket)
	})
}

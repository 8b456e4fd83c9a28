package extension_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// When an extension dies, all that wait for it are told at once how: with its
// status and last words. What it had zot do ends, its panel closes, its names
// go, and what is asked of it afterwards fails without waiting.
func TestDeathReachesEveryWaiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ended := make(chan error, 2)
		untilOver := func(ctx context.Context) error {
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{
			CallTool: func(ctx context.Context, _ tool.Call) (tool.Result, error) { return tool.Result{}, untilOver(ctx) },
			Request: func(ctx context.Context, _, _ string, _ json.RawMessage) (json.RawMessage, error) {
				return nil, untilOver(ctx)
			},
		}, p)
		p.begin()
		p.greet("call_tool")
		p.say(toolEcho, commandGo, askedTool, askedTurn, askedText, askedStart, `{"type":"ready"}`,
			`{"type":"open_panel","panel":{"id":"main"}}`,
			`{"type":"call_tool","id":"c","name":"read","args":{}}`, `{"type":"request","id":"q","method":"x"}`)
		call, cmd := r.call(t.Context(), "echo"), r.command(t.Context(), "go", "")
		guard := r.guard(t.Context(), `{"command":"ls"}`)
		turn := begin(t, func() (extension.Verdict, error) { return r.InterceptTurnStart(t.Context(), 1) })
		msg := begin(t, func() (extension.Verdict, error) { return r.InterceptAssistantMessage(t.Context(), "hi") })
		start := r.prompt(t.Context(), "base")
		echo := r.tool("echo")

		before := time.Now()
		p.dies(7, "one\ntwo\nout of memory, sorry")
		const how = "extension ext disconnected: it ended: exit status 7\nlast lines on its standard error:\n  one\n  two\n  out of memory, sorry"
		res, err := call.result()
		if err != nil || !res.IsError {
			t.Errorf("the tool call: %+v, %v", res, err)
		}
		wantContains(t, text(res), "extension ext/echo failed: "+how)
		if _, err := cmd.result(); err == nil || !strings.Contains(err.Error(), how) {
			t.Errorf("the command: %v", err)
		}
		for name, w := range map[string]*waiter[extension.Verdict]{"tool call": guard, "turn": turn, "message": msg} {
			if v, err := w.result(); err != nil || v.Blocked || len(v.Changes) > 0 {
				t.Errorf("the intercept of a %s: %+v, %v", name, v, err)
			}
		}
		if got, err := start.result(); err != nil || got != "base" {
			t.Errorf("the prompt: %q, %v", got, err)
		}
		for range 2 {
			<-ended // both of its own requests
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("it took %s", took)
		}
		if failed := emitted[event.ExtFailed](r); len(failed) != 1 {
			t.Errorf("failures %+v, want one", failed)
		}
		if closed := emitted[event.ExtPanelClose](r); len(closed) != 1 || closed[0].ID != "main" {
			t.Errorf("panels closed %+v, want main", closed)
		}
		wantContains(t, strings.Join(r.notes("ext"), "\n"), "guard ext did not judge tool_call of bash", "guard ext did not judge turn_start",
			"guard ext did not judge assistant_message", "before_agent_start: ")

		if r.toolNames() != "" || r.commandNames() != "" {
			t.Errorf("it still owns %s %s", r.toolNames(), r.commandNames())
		}
		res, err = echo.Run(t.Context(), tool.Call{}) // a model may still hold it
		if err != nil || !res.IsError || !strings.Contains(text(res), "exit status 7") {
			t.Errorf("the next call: %+v, %v", res, err)
		}
		if v, err := r.InterceptToolCall(t.Context(), extension.ToolQuestion{}); err != nil || v.Blocked {
			t.Errorf("the next intercept: %+v, %v", v, err)
		}
		r.wantState("ext", extension.StateFailed)
	})
}

// An extension that ends well is gone all the same.
func TestLeavingByItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(commandGo)
		p.dies(0, "")
		r.wantState("ext", extension.StateFailed)
		wantContains(t, r.status("ext").Error, "it ended: exit status 0")
		if _, _, err := r.RunCommand(t.Context(), "go", ""); err == nil {
			t.Error("its command still runs")
		}
	})
}

// A line over the limit fails what waits at once, naming size and limit, and
// disconnects that extension alone.
func TestLineOverTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		big, other := newPuppet(t, "big"), newPuppet(t, "other")
		r := rigOf(t, extension.Options{}, big, other)
		big.load(toolEcho)
		other.load(commandGo)
		w := r.call(t.Context(), "echo")
		before := time.Now()
		go func() { // ends when the line is taken or the connection cut
			_, _ = big.stdio.Out.Write([]byte(`{"type":"tool_result","id":"` + strings.Repeat("x", 5<<20) + "\"}\n"))
		}()
		res, err := w.result()
		if err != nil || !res.IsError || time.Since(before) > 0 {
			t.Fatalf("%+v, %v after %s", res, err, time.Since(before))
		}
		wantContains(t, text(res), "is over the limit of 4194304 bytes")
		wantContains(t, r.status("big").Error, "disconnected: frame of ")
		r.wantState("other", extension.StateReady)
	})
}

// A request over the limit is refused, and harms nothing.
func TestRequestOverTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(toolEcho, askedTool)
		args := json.RawMessage(`{"a":"` + strings.Repeat("x", 5<<20) + `"}`)
		res, err := r.tool("echo").Run(t.Context(), tool.Call{Args: args})
		if err != nil || !res.IsError {
			t.Fatalf("%v, %v", res.IsError, err)
		}
		wantContains(t, text(res), "over the limit of 4194304 bytes")
		v, err := r.InterceptToolCall(t.Context(), extension.ToolQuestion{ToolName: "bash", Args: args})
		if err != nil || v.Blocked || len(r.notes("ext")) != 1 {
			t.Errorf("%v, %v, notes %q", v.Blocked, err, r.notes("ext"))
		}
		p.hearsNothing()
		w := r.call(t.Context(), "echo")
		p.answer(p.hears("tool_call"), toolOK)
		if res, err := w.result(); err != nil || text(res) != "ok" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// An extension that reads nothing while both pipes fill up costs a call its
// write deadline, and the others nothing; a cancel ends the wait at once.
func TestNobodyReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		deaf, other := newPuppet(t, "deaf"), newPuppet(t, "other")
		r := rigOf(t, extension.Options{}, deaf, other)
		deaf.beginDeaf()
		deaf.say(`{"type":"hello","name":"deaf"}`, `{"type":"register_tool","name":"swallow","schema":{"type":"object"}}`, `{"type":"ready"}`)
		other.load(toolEcho)
		args := json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)
		swallow := r.tool("swallow")
		ctx, cancel := context.WithCancel(t.Context())
		before := time.Now()
		run := func(ctx context.Context) *waiter[tool.Result] {
			return begin(t, func() (tool.Result, error) { return swallow.Run(ctx, tool.Call{Args: args}) })
		}
		first, second := run(t.Context()), run(ctx)
		cancel()
		if _, err := second.result(); err != context.Canceled || time.Since(before) > 0 {
			t.Errorf("the cancelled call: %v after %s", err, time.Since(before))
		}
		w := r.call(t.Context(), "echo")
		other.answer(other.hears("tool_call"), toolOK)
		if res, err := w.result(); err != nil || text(res) != "ok" {
			t.Errorf("the other extension: %+v, %v", res, err)
		}
		// It writes all the while, and nobody keeps it from that.
		go func() { _, _ = deaf.stdio.Out.Write([]byte(strings.Repeat("noise\n", 1<<18))) }()
		time.Sleep(5*time.Second - time.Millisecond)
		if !first.waits() {
			t.Error("the call failed before the deadline of its write")
		}
		time.Sleep(time.Millisecond)
		res, err := first.result()
		if err != nil || !res.IsError {
			t.Fatalf("%+v, %v", res, err)
		}
		wantContains(t, text(res), "disconnected: writing to it")
		r.wantState("deaf", extension.StateFailed)
		r.wantState("other", extension.StateReady)
	})
}

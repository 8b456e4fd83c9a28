package extension_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// Answers that are late, doubled, of another kind or to nothing are logged
// and change nothing.
func TestStrayAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(toolEcho)
		w := r.call(t.Context(), "echo")
		q := p.hears("tool_call")
		p.answer(q, `{"type":"command_response","id":"ID","action":"noop"}`)
		p.say(`{"type":"tool_result","id":"nonsense","content":[]}`)
		if !w.waits() {
			t.Fatal("a stray answer ended the call")
		}
		p.answer(q, toolOK)
		p.answer(q, `{"type":"tool_result","id":"ID","content":[{"type":"text","text":"again"}]}`)
		if res, err := w.result(); err != nil || text(res) != "ok" {
			t.Errorf("%+v, %v", res, err)
		}
		if n := strings.Count(r.log("ext"), "nothing waits for it (late, doubled or unknown)"); n != 3 {
			t.Errorf("%d stray answers in the log, want 3:\n%s", n, r.log("ext"))
		}
	})
}

// An answer that cannot be decoded fails its request at once.
func TestMalformedAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(toolEcho)
		w := r.call(t.Context(), "echo")
		p.answer(p.hears("tool_call"), `{"type":"tool_result","id":"ID","content":"ok"}`)
		res, err := w.result()
		if err != nil || !res.IsError {
			t.Fatalf("%+v, %v", res, err)
		}
		wantContains(t, text(res), "extension ext/echo failed: malformed answer")
	})
}

// A tool has sixty seconds and a command thirty. The extension hears of it
// where it wants to; its late answer is ignored; the next call works.
func TestDeadlines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, plain := newPuppet(t, "ext"), newPuppet(t, "plain")
		r := rigOf(t, extension.Options{}, p, plain)
		p.begin()
		p.greet("tool_cancel")
		p.say(toolEcho, commandGo, `{"type":"ready"}`)
		plain.load(`{"type":"register_tool","name":"dull","schema":{"type":"object"}}`)

		call, cmd, dull := r.call(t.Context(), "echo"), r.command(t.Context(), "go", ""), r.call(t.Context(), "dull")
		toolCall, invoked := p.hears("tool_call"), p.hears("command_invoked")
		plain.hears("tool_call")
		time.Sleep(30 * time.Second)
		if _, err := cmd.result(); err == nil || err.Error() != "timeout waiting for ext/go: no answer within 30s" {
			t.Errorf("the command: %v", err)
		}
		time.Sleep(30*time.Second - time.Millisecond)
		if !call.waits() {
			t.Fatal("the call ended before its deadline")
		}
		time.Sleep(time.Millisecond)
		for name, w := range map[string]*waiter[tool.Result]{"ext/echo": call, "plain/dull": dull} {
			res, err := w.result()
			if err != nil || res.Status != tool.TimedOut || !res.IsError {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			wantContains(t, text(res), "extension "+name+" failed: timeout", "within 1m0s")
		}
		if c := p.hears("tool_cancel"); c.id() != toolCall.id() {
			t.Errorf("cancelled %q, want %q", c.id(), toolCall.id())
		}
		plain.hearsNothing()
		p.answer(toolCall, toolOK)
		p.answer(invoked, commandOK)
		again := r.call(t.Context(), "echo")
		p.answer(p.hears("tool_call"), toolOK)
		if res, err := again.result(); err != nil || text(res) != "ok" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// A tool that waits for a person has no deadline, and is refused where there
// is nobody.
func TestInteractiveTools(t *testing.T) {
	const ask = `{"type":"register_tool","name":"ask","schema":{"type":"object"},"interactive":true}`
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{Interactive: true}, p)
		p.load(ask)
		w := r.call(t.Context(), "ask")
		q := p.hears("tool_call")
		time.Sleep(24 * time.Hour)
		p.answer(q, toolOK)
		if res, err := w.result(); err != nil || text(res) != "ok" {
			t.Errorf("%+v, %v", res, err)
		}

		lone := newPuppet(t, "lone")
		headless := rigOf(t, extension.Options{}, lone)
		lone.load(ask)
		res, err := headless.call(t.Context(), "ask").result()
		if err != nil || !res.IsError || !strings.Contains(text(res), "nobody is there") {
			t.Errorf("%+v, %v", res, err)
		}
		lone.hearsNothing()
	})
}

// Whatever is waited for, a cancel ends the wait at once; the late answer
// changes nothing, and the next request works.
func TestCancelEndsEveryWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.begin()
		p.greet("tool_cancel")
		p.say(toolEcho, commandGo, askedTool, askedTurn, askedText, askedStart, `{"type":"ready"}`)
		echo := r.tool("echo")
		for name, request := range map[string]struct {
			run   func(ctx context.Context) error
			hears string
			reply string
		}{
			"tool": {func(ctx context.Context) error { _, err := echo.Run(ctx, tool.Call{}); return err }, "tool_call", toolOK},
			"command": {func(ctx context.Context) error {
				_, _, err := r.RunCommand(ctx, "go", "")
				return err
			}, "command_invoked", commandOK},
			"intercept of a tool call": {func(ctx context.Context) error {
				_, err := r.InterceptToolCall(ctx, extension.ToolQuestion{})
				return err
			}, "event_intercept", allow},
			"intercept of a turn": {func(ctx context.Context) error {
				_, err := r.InterceptTurnStart(ctx, 1)
				return err
			}, "event_intercept", allow},
			"intercept of a message": {func(ctx context.Context) error {
				_, err := r.InterceptAssistantMessage(ctx, "x")
				return err
			}, "event_intercept", allow},
			"preparation": {func(ctx context.Context) error {
				got, err := r.BeforeAgentStart(ctx, extension.AgentStart{}, "base")
				if got != "" && ctx.Err() != nil {
					return errors.New("a cancelled preparation gave a prompt")
				}
				return err
			}, "event_intercept", allow},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			start := time.Now()
			w := begin(t, func() (struct{}, error) { return struct{}{}, request.run(ctx) })
			q := p.hears(request.hears)
			if !w.waits() {
				t.Errorf("%s: it did not wait", name)
			}
			cancel()
			if _, err := w.result(); !errors.Is(err, context.Canceled) || time.Since(start) > 0 {
				t.Errorf("%s: %v after %s", name, err, time.Since(start))
			}
			if name == "tool" {
				p.hears("tool_cancel")
			}
			p.answer(q, request.reply)
			p.hearsNothing()

			w = begin(t, func() (struct{}, error) { return struct{}{}, request.run(t.Context()) })
			p.answer(p.hears(request.hears), request.reply)
			if _, err := w.result(); err != nil {
				t.Errorf("%s, the next one: %v", name, err)
			}
		}
		if notes := r.notes("ext"); len(notes) > 0 {
			t.Errorf("the user was told %q of what the user did", notes)
		}
	})
}

package extension_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// callThrough runs a tool of the rig's own extensions.
func callThrough(r **rig) func(context.Context, tool.Call) (tool.Result, error) {
	return func(ctx context.Context, c tool.Call) (tool.Result, error) { return (*r).tool(c.Name).Run(ctx, c) }
}

// Narrowed rights hold from the next frame on, for what is there as well.
func TestNarrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		changed := 0
		p, other := newPuppet(t, "ext"), newPuppet(t, "other")
		r := rigOf(t, extension.Options{ToolsChanged: func() { changed++ }}, p, other)
		p.load(toolEcho, strings.Replace(toolEcho, "echo", "keep", 1), commandGo, observesAll, askedTool,
			`{"type":"open_panel","panel":{"id":"p"}}`)
		other.load(toolEcho)
		echo := r.tool("echo")
		running := begin(t, func() (tool.Result, error) { return echo.Run(t.Context(), tool.Call{Name: "echo"}) })
		q := p.hears("tool_call")
		r.forget()
		changed = 0

		if err := r.Narrow("EXT", rightsOf(t, `{"tools":["keep"],"events":{"turn_end":"full"}}`, "")); err != nil {
			t.Fatal(err)
		}
		if got := r.toolNames(); got != "ext/keep other/echo" || r.commandNames() != "" || changed != 1 {
			t.Errorf("tools %s, commands %s, changed %d times", got, r.commandNames(), changed)
		}
		if closed := emitted[event.ExtPanelClose](r); len(closed) != 1 {
			t.Errorf("closed panels %+v", closed)
		}
		p.hears("panel_close")
		got, err := echo.Run(t.Context(), tool.Call{Name: "echo"})
		if err != nil || !got.IsError {
			t.Errorf("a withdrawn tool: %+v, %v", got, err)
		}
		if v, err := r.guard(t.Context(), `{}`).result(); err != nil || v.Blocked {
			t.Errorf("%+v, %v", v, err)
		}
		r.Observe(event.TurnStart{Step: 1})
		p.hearsNothing()
		r.Observe(event.TurnEnd{})
		p.hears("event")

		p.say(`{"type":"notify","message":"hi"}`)
		for _, note := range emitted[event.ExtNotify](r) {
			if note.Message == "hi" {
				t.Error("it may still show notes")
			}
		}
		p.answer(q, toolOK) // what it was at may end
		if got, err := running.result(); err != nil || got.IsError {
			t.Errorf("%+v, %v", got, err)
		}
		wantContains(t, strings.Join(r.notes("ext"), "\n"), "ZP040: tool echo", "ZP040: command /go")
		wantContains(t, strings.Join(r.status("other").Messages, "\n"), "tool echo is active here now")
		r.wantState("ext", extension.StateReady)

		if err := r.Narrow("nobody", nil); !errors.Is(err, extension.ErrUnknownExtension) {
			t.Errorf("narrowing nobody: %v", err)
		}
		if err := r.Narrow("ext", rightsOf(t, `null`, `{"rules":[{"decision":"deny","match":{"name":"ext"},"reason":"recalled"}]}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.wantState("ext", extension.StateFailed)
		wantContains(t, r.status("ext").Error, "ZP021", "recalled")
	})
}

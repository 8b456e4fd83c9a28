package extension_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
)

// Whatever an extension without rights writes, nothing comes of it but what
// zot itself says of that.
func FuzzNoRights(f *testing.F) {
	for _, line := range []string{
		toolEcho, commandGo, askedTool, askedStart, observesAll,
		`{"type":"notify","message":"hi"}`, `{"type":"submit","text":"go"}`, `{"type":"open_panel","panel":{"id":"p"}}`,
		`{"type":"call_tool","id":"1","name":"bash","args":{}}`, `{"type":"panel_render","panel_id":"p"}`, `{"type":"submit_slash","text":"/x"}`,
		`{"type":"command_response","id":"1","action":"open_panel","open_panel":{"id":"p"}}`, "{", "\x00", `{"type":"hello","name":"x"}`,
	} {
		f.Add([]byte(line))
		f.Add([]byte(line + "\n" + line))
	}
	none := rightsOf(f, `{"commands":[]}`, "")
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			t.Skip()
		}
		entry := extension.Entry{Name: "ext", Rights: none, Launch: func(_ context.Context, stderr io.Writer) (transports.Conn, error) {
			return memory.New(func(_ context.Context, s memory.Stdio) error {
				_, _ = io.WriteString(s.Out, `{"type":"hello","name":"ext","capabilities":["call_tool"]}`+"\n")
				_, _ = s.Out.Write(bytes.TrimRight(text, "\n"))
				_, _ = io.WriteString(s.Out, "\n"+`{"type":"ready"}`+"\n")
				_, err := io.Copy(io.Discard, s.In)
				return err
			}, memory.Options{Stderr: stderr}), nil
		}}
		called := false
		short := extension.Timeouts{Ready: 50 * time.Millisecond} // where text takes in the ready
		r := newRig(t, extension.Options{Timeouts: short, CallTool: func(context.Context, tool.Call) (tool.Result, error) {
			called = true
			return tool.Result{}, nil
		}}, entry)
		r.WaitReady(t.Context())
		if v, err := r.InterceptToolCall(t.Context(), extension.ToolQuestion{ToolName: "bash"}); err != nil || v.Blocked {
			t.Errorf("%+v, %v", v, err)
		}
		r.Stop(t.Context())
		if called || r.toolNames() != "" || r.commandNames() != "" || r.WithholdsText() {
			t.Errorf("it called a tool: %t; tools %q, commands %q", called, r.toolNames(), r.commandNames())
		}
		for _, e := range emitted[event.Event](r) {
			switch e := e.(type) {
			case event.ExtNotify:
				if e.Level != extproto.LevelWarn || !strings.HasPrefix(e.Message, "ZP") {
					if !strings.Contains(e.Message, "set aside") && !strings.Contains(e.Message, "no ready frame") {
						t.Errorf("it said %+v", e)
					}
				}
			case event.ExtState, event.ExtFailed, event.ExtClearNotes:
			default:
				t.Errorf("it brought about %#v", e)
			}
		}
	})
}

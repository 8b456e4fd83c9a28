package ext_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// An answer that cannot be sent as it is becomes an error at once, so that
// nobody waits for it.
func TestUnsendableAnswers(t *testing.T) {
	e := quiet("x")
	big := strings.Repeat("x", extproto.MaxFrame)
	e.Tool("big", "", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult { return ext.TextResult(big) })
	e.Tool("odd", "", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult {
		return ext.ToolResult{StructuredContent: json.RawMessage(`{"half":`)}
	})
	e.Command("big", "", func(string) ext.Response { return ext.Display(big) })
	zot := exttest.Start(t, e)
	if res := zot.CallTool("big", nil); !res.IsError || !strings.Contains(exttest.Text(res), "over the protocol's limit of 4194304 bytes") {
		t.Errorf("big gave %.200v", res)
	}
	if res := zot.CallTool("odd", nil); !res.IsError || !strings.Contains(exttest.Text(res), "cannot be sent") {
		t.Errorf("odd gave %v", res)
	}
	if res := zot.Command("big", ""); !strings.Contains(res.Error, "over the protocol's limit") {
		t.Errorf("/big gave %.200v", res)
	}
}

func TestUnknownNames(t *testing.T) {
	zot := exttest.Start(t, quiet("x"))
	if res := zot.Command("nope", ""); res.Error != `unknown command "nope"` {
		t.Errorf("command gave %+v", res)
	}
	if res := zot.CallTool("nope", nil); !res.IsError || exttest.Text(res) != `unknown tool "nope"` {
		t.Errorf("tool gave %+v", res)
	}
}

// A request whose fields make no sense is answered all the same.
func TestUndecodableRequests(t *testing.T) {
	e := quiet("x")
	e.InterceptToolCall(func(string, json.RawMessage) (bool, string) { return false, "no" })
	out, err := script(t, e, ack,
		`{"type":"tool_call","id":"1","name":7,"args":{}}`,
		`{"type":"command_invoked","id":"2","name":[]}`,
		`{"type":"event_intercept","id":"3","event":{}}`,
		`{"type":"tool_cancel","id":4.5}`,
		`{"type":"panel_key","panel_id":true}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"type":"tool_result","id":"1","content":[{"type":"text","text":"decoding tool_call: `,
		`{"type":"command_response","id":"2","action":"noop","error":"decoding command_invoked: `,
		`{"type":"event_intercept_response","id":"3"}`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %s in\n%s", want, out)
		}
	}
}

func TestInterceptors(t *testing.T) {
	e := quiet("guard")
	e.InterceptToolCallX(func(tool string, args json.RawMessage) ext.ToolCallDecision {
		switch tool {
		case "list":
			return ext.ToolCallDecision{ModifiedArgs: json.RawMessage(`["ls"]`)}
		case "same":
			return ext.ToolCallDecision{ModifiedArgs: args}
		case "panic":
			panic("undecided")
		}
		return ext.ToolCallDecision{Block: true, Reason: "no", ModifiedArgs: json.RawMessage(`{}`)}
	})
	zot := exttest.Start(t, e)
	for tool, want := range map[string]string{"list": "", "same": "", "panic": "", "other": "no"} {
		got := zot.InterceptToolCall(tool, `{"a":1}`)
		if got.Block != (want != "") || got.Reason != want || got.ModifiedArgs != nil {
			t.Errorf("%s: %+v", tool, got)
		}
	}
	for _, want := range []string{"ModifiedArgs is not a JSON object", "panic in interceptor tool_call: undecided", "goroutine "} {
		if !strings.Contains(zot.Log(), want) {
			t.Errorf("the log does not say %q:\n%s", want, zot.Log())
		}
	}
}

// What is registered while the extension runs goes out at once; a name that is
// there already is not announced twice and gets its new handler.
func TestLateRegistrations(t *testing.T) {
	e := quiet("x")
	e.Command("a", "", func(string) ext.Response { return ext.Display("one") })
	zot := exttest.Start(t, e)
	e.Command("A", "", func(string) ext.Response { return ext.Display("two") })
	e.Command("b", "", func(string) ext.Response { return ext.Noop() })
	e.On("turn_start", func(ext.Event) { e.Notify("info", "turn") })
	e.InterceptTurnStart(func(int) ext.TurnStartDecision { return ext.TurnStartDecision{Block: true} })
	e.InterceptTurnStart(func(int) ext.TurnStartDecision { return ext.TurnStartDecision{} })
	if got := zot.Command("a", ""); got.Display != "two" {
		t.Errorf("a gave %+v", got)
	}
	if got := zot.InterceptTurnStart(1); got.Block {
		t.Errorf("the first interceptor answered: %+v", got)
	}
	zot.Event(extproto.Event{Event: "turn_start"})
	zot.WaitNote("turn")
	if c := zot.Commands(); len(c) != 2 || c[0].Name != "a" || c[1].Name != "b" {
		t.Errorf("commands: %+v", c)
	}
}

func TestHostServices(t *testing.T) {
	e := quiet("x")
	fetch := func(ctx context.Context, args json.RawMessage) ext.ToolResult {
		res, err := e.Fetch(ctx, ext.FetchRequest{URL: "https://example.com/", Body: []byte{0xff, 0xfe}})
		var refused *ext.RequestError
		switch {
		case errors.As(err, &refused):
			return ext.TextErrorResult(refused.Code)
		case err != nil:
			return ext.TextErrorResult(err.Error())
		}
		return ext.TextResult(string(res.Body))
	}
	e.ToolWithOptions("fetch", "", json.RawMessage(anyObject), ext.ToolOptions{}, fetch)
	e.Command("bad", "", func(string) ext.Response {
		_, err := e.CallTool(e.Context(), "read", []int{1})
		return ext.Errorf("%v", err)
	})
	answer := make(chan extproto.Response, 1)
	var asked extproto.FetchArgs
	zot := exttest.StartWith(t, e, exttest.Options{Request: func(r extproto.Request) extproto.Response {
		json.Unmarshal(r.Args, &asked)
		return <-answer
	}})
	answer <- extproto.Response{Result: json.RawMessage(`{"status":200,"body_base64":"//4="}`)}
	if got := exttest.Text(zot.CallTool("fetch", nil)); got != "\xff\xfe" && got != "\ufffd\ufffd" {
		t.Errorf("fetch gave %q", got)
	}
	if asked.URL != "https://example.com/" || asked.BodyBase64 != "//4=" || asked.Body != "" {
		t.Errorf("the host was asked for %+v", asked)
	}
	for res, want := range map[string]string{
		`{"error":{"code":"denied","message":"no"}}`: "denied",
		`{"result":7}`:                     "reading the result",
		`{"result":{"body_base64":"***"}}`: "reading the body",
	} {
		var r extproto.Response
		json.Unmarshal([]byte(res), &r)
		answer <- r
		if got := exttest.Text(zot.CallTool("fetch", nil)); !strings.Contains(got, want) {
			t.Errorf("%s: fetch gave %q", res, got)
		}
	}
	if got := zot.Command("bad", ""); !strings.Contains(got.Error, "not a JSON object") {
		t.Errorf("bad gave %+v", got)
	}
}

// The end of the run ends what waits for the host, tells handlers, and calls
// OnShutdown before the acknowledgement.
func TestShutdown(t *testing.T) {
	e := quiet("x")
	e.ToolWithOptions("ask", "", json.RawMessage(anyObject), ext.ToolOptions{}, func(ctx context.Context, _ json.RawMessage) ext.ToolResult {
		e.Notify("info", "asking")
		_, err := e.CallTool(ctx, "read", nil)
		if !errors.Is(err, ext.ErrEnded) {
			t.Errorf("the call ended with %v", err)
		}
		return ext.TextErrorResult("cut short")
	})
	e.OnShutdown(func() { e.Notify("info", "bye"); panic("at the end") })
	never := make(chan struct{})
	defer close(never)
	zot := exttest.StartWith(t, e, exttest.Options{CallTool: func(extproto.CallTool) extproto.ToolResult {
		<-never
		return extproto.ToolResult{}
	}})
	call := zot.StartTool("ask", nil)
	zot.WaitNote("asking")
	zot.Wait(func(f extproto.Frame) bool { return f.FrameType() == "call_tool" })
	if err := zot.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if got := exttest.Text(call.Result()); got != "cut short" {
		t.Errorf("the call gave %q", got)
	}
	frames := zot.Frames()
	if last := frames[len(frames)-1]; last != extproto.Frame(extproto.ShutdownAck{}) {
		t.Errorf("the last frame is %+v", last)
	}
	zot.WaitNote("bye")
}

func TestResponses(t *testing.T) {
	for _, tt := range []struct {
		name string
		res  ext.Response
		want string
	}{
		{"no tool", ext.ToolPrompt("", nil, "x"), "no tool is named"},
		{"no text", ext.ToolPrompt("read", nil, ""), "no prompt text"},
		{"arguments no object", ext.ToolPrompt("read", 7, "x"), "not a JSON object"},
		{"arguments not encodable", ext.ToolPrompt("read", func() {}, "x"), "encoding arguments"},
	} {
		if tt.res.Action != "noop" || !strings.Contains(tt.res.Error, tt.want) {
			t.Errorf("%s: %+v", tt.name, tt.res)
		}
	}
}

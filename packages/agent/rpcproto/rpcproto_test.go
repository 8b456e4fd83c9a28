package rpcproto_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

var (
	at       = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	yes      = true
	text     = []rpcproto.Block{{Type: "text", Text: "hi"}}
	count    = rpcproto.UsageCount{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 0.5}
	contents = []rpcproto.Block{
		{Type: "text", Text: ""},
		{Type: "image", MIMEType: "image/png", Bytes: 12},
		{Type: "tool_call", ID: "c1", Name: "read", Args: json.RawMessage(`{"path":"a"}`)},
		{Type: "tool_result", CallID: "c1", Content: []rpcproto.Block{{Type: "text", Text: "ok"}}},
	}
)

// events holds each event with the line that it is on the wire.
var events = []struct {
	event rpcproto.Event
	line  string
}{
	{rpcproto.TurnStart{Step: 1}, `{"type":"turn_start","step":1}`},
	{rpcproto.UserMessage{Content: text, Time: at}, `{"type":"user_message","content":[{"type":"text","text":"hi"}],"time":"2026-05-04T03:02:01Z"}`},
	{rpcproto.AssistantStart{}, `{"type":"assistant_start"}`},
	{rpcproto.TextDelta{Delta: "x"}, `{"type":"text_delta","delta":"x"}`},
	{rpcproto.ReasoningDelta{Delta: "x"}, `{"type":"reasoning_delta","delta":"x"}`},
	{rpcproto.ToolUseStart{ID: "c1", Name: "read"}, `{"type":"tool_use_start","id":"c1","name":"read"}`},
	{rpcproto.ToolUseArgs{ID: "c1", Delta: "{"}, `{"type":"tool_use_args","id":"c1","delta":"{"}`},
	{rpcproto.ToolUseEnd{ID: "c1"}, `{"type":"tool_use_end","id":"c1"}`},
	{rpcproto.ToolCall{ID: "c1", Name: "read", Args: json.RawMessage(`{}`)}, `{"type":"tool_call","id":"c1","name":"read","args":{}}`},
	{rpcproto.ToolProgress{ID: "c1", Text: "x"}, `{"type":"tool_progress","id":"c1","text":"x"}`},
	{rpcproto.ToolResult{ID: "c1", Content: text}, `{"type":"tool_result","id":"c1","is_error":false,"content":[{"type":"text","text":"hi"}]}`},
	{
		rpcproto.ToolResult{ID: "c1", IsError: true, Content: text, Name: "x", Status: "failed", Executed: &yes, Extension: "e", Changes: []string{"c"}, Diff: "d", Structured: json.RawMessage(`[1]`), DurationMS: 7},
		`{"type":"tool_result","id":"c1","is_error":true,"content":[{"type":"text","text":"hi"}],"name":"x","status":"failed","executed":true,"extension":"e","changes":["c"],"diff":"d","structured_content":[1],"duration_ms":7}`,
	},
	{
		rpcproto.AssistantMessage{Content: contents, Time: at},
		`{"type":"assistant_message","content":[{"type":"text","text":""},{"type":"image","mime_type":"image/png","bytes":12},{"type":"tool_call","id":"c1","name":"read","args":{"path":"a"}},{"type":"tool_result","call_id":"c1","is_error":false,"content":[{"type":"text","text":"ok"}]}],"time":"2026-05-04T03:02:01Z"}`,
	},
	{
		rpcproto.Usage{UsageCount: count, Cumulative: count},
		`{"type":"usage","input":1,"output":2,"cache_read":3,"cache_write":4,"cost_usd":0.5,"cumulative":{"input":1,"output":2,"cache_read":3,"cache_write":4,"cost_usd":0.5}}`,
	},
	{rpcproto.TurnEnd{Stop: "end_turn"}, `{"type":"turn_end","stop":"end_turn"}`},
	{rpcproto.TurnEnd{Stop: "error", Error: "x"}, `{"type":"turn_end","stop":"error","error":"x"}`},
	{rpcproto.Error{Message: "x"}, `{"type":"error","message":"x"}`},
	{rpcproto.Done{}, `{"type":"done"}`},
	{rpcproto.CompactStart{MessageCount: 9, Tokens: 10, Auto: true}, `{"type":"compact_start","message_count":9,"tokens":10,"auto":true}`},
	{rpcproto.CompactDone{Summary: "s"}, `{"type":"compact_done","summary":"s"}`},
	{rpcproto.Retry{Attempt: 1, Of: 3, WaitMS: 2000, Cause: "busy"}, `{"type":"retry","attempt":1,"of":3,"wait_ms":2000,"cause":"busy"}`},
	{rpcproto.Notice{Level: "warn", Text: "x"}, `{"type":"notice","level":"warn","text":"x"}`},
	{rpcproto.ModelChanged{Provider: "p", Model: "m"}, `{"type":"model_changed","provider":"p","model":"m"}`},
	{rpcproto.ConfirmationRequest{ID: "1", ToolID: "1", ToolName: "bash", Preview: "ls"}, `{"type":"confirmation_request","id":"1","tool_id":"1","tool_name":"bash","tool_preview":"ls"}`},
	{rpcproto.PermissionDecision{ToolID: "1", ToolName: "bash", Decision: "denied", Source: "policy"}, `{"type":"permission_decision","tool_id":"1","tool_name":"bash","decision":"denied","source":"policy"}`},
	{rpcproto.PolicyStatus{Mode: "open", Held: []rpcproto.PolicyHeld{{What: "w", Remedy: "r"}}}, `{"type":"policy_status","mode":"open","held":[{"what":"w","remedy":"r"}]}`},
	{rpcproto.ExtNotify{Extension: "x", Level: "warn", Message: "m"}, `{"type":"ext_notify","extension":"x","level":"warn","message":"m"}`},
	{rpcproto.ExtDisplay{Extension: "x", Text: "t"}, `{"type":"ext_display","extension":"x","text":"t"}`},
	{rpcproto.ExtClearNotes{Extension: "x"}, `{"type":"ext_clear_notes","extension":"x"}`},
	{rpcproto.ExtPanelOpen{Extension: "x", PanelID: "p", Title: "t", Lines: []string{"l"}, Footer: "f"}, `{"type":"ext_panel_open","extension":"x","panel_id":"p","title":"t","lines":["l"],"footer":"f"}`},
	{rpcproto.ExtPanelRender{Extension: "x", PanelID: "p", Title: "t", Lines: []string{"l"}, Footer: "f"}, `{"type":"ext_panel_render","extension":"x","panel_id":"p","title":"t","lines":["l"],"footer":"f"}`},
	{rpcproto.ExtPanelClose{Extension: "x", PanelID: "p"}, `{"type":"ext_panel_close","extension":"x","panel_id":"p"}`},
	{rpcproto.ExtFailed{Extension: "x", Message: "m"}, `{"type":"ext_failed","extension":"x","message":"m"}`},
	{rpcproto.ExtReloaded{Stopped: 1, Ready: 2}, `{"type":"ext_reloaded","stopped":1,"loaded":0,"ready":2,"failed":0}`},
	{rpcproto.ExtState{Loading: 1, Total: 2}, `{"type":"ext_state","loading":1,"total":2}`},
}

func TestEventsOnTheWire(t *testing.T) {
	schema := compile(t, "event")
	for _, c := range events {
		t.Run(c.event.EventType(), func(t *testing.T) {
			line, err := rpcproto.EncodeEvent(c.event)
			if err != nil {
				t.Fatal(err)
			}
			if string(line) != c.line {
				t.Errorf("encoded\n got %s\nwant %s", line, c.line)
			}
			validate(t, schema, line)
			_, back, err := rpcproto.DecodeLine(line)
			if err != nil {
				t.Fatal(err)
			}
			again, err := rpcproto.EncodeEvent(back)
			if err != nil || !bytes.Equal(again, line) {
				t.Errorf("after decoding: got %s, %v, want %s", again, err, line)
			}
			if reflect.TypeOf(back) != reflect.TypeOf(c.event) {
				t.Errorf("decoded to %T, want %T", back, c.event)
			}
		})
	}
}

func TestResponses(t *testing.T) {
	schema := compile(t, "response")
	cmd := func(typ string) rpcproto.Command { return rpcproto.Command{ID: rpcproto.StringID("7"), Type: typ} }
	for _, c := range []struct {
		command string
		data    any
		want    string
	}{
		{"hello", rpcproto.HelloData{ProtocolVersion: 1, Version: "v", Provider: "p", Model: "m"}, `{"protocol_version":1,"version":"v","provider":"p","model":"m"}`},
		{"prompt", rpcproto.StartedData{Started: true}, `{"started":true}`},
		{"abort", nil, ``},
		{"get_state", rpcproto.StateData{Provider: "p", Model: "m", CWD: "/d", MessageCount: 2, Usage: count}, `{"provider":"p","model":"m","cwd":"/d","message_count":2,"busy":false,"usage":{"input":1,"output":2,"cache_read":3,"cache_write":4,"cost_usd":0.5}}`},
		{"get_messages", rpcproto.MessagesData{Messages: []rpcproto.Message{{Role: "user", Content: contents, Time: at}}}, ""},
		{"set_model", rpcproto.ModelData{Model: "m"}, `{"model":"m"}`},
		{"get_models", rpcproto.ModelsData{Models: []rpcproto.Model{{ID: "m", Provider: "p", ContextWindow: 1, MaxOutput: 2, Reasoning: true}}}, `{"models":[{"id":"m","provider":"p","context_window":1,"max_output":2,"reasoning":true}]}`},
		{"reload_ext", rpcproto.ReloadData{Stopped: 1}, `{"stopped":1,"loaded":0,"ready":0}`},
		{"ping", rpcproto.PongData{Pong: true}, `{"pong":true}`},
	} {
		r, err := rpcproto.Succeed(cmd(c.command), c.data)
		if err != nil {
			t.Fatal(err)
		}
		line, err := rpcproto.EncodeResponse(r)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, schema, line)
		if c.want != "" {
			want := `{"type":"response","id":"7","command":"` + c.command + `","success":true,"data":` + c.want + `}`
			if string(line) != want {
				t.Errorf("%s\n got %s\nwant %s", c.command, line, want)
			}
		}
		back, _, err := rpcproto.DecodeLine(line)
		if err != nil || back == nil {
			t.Fatalf("%s: decoding its response: %v", c.command, err)
		}
		if diff := cmp.Diff(r, *back); diff != "" {
			t.Errorf("%s (-sent +received):\n%s", c.command, diff)
		}
	}
	line, err := rpcproto.EncodeResponse(rpcproto.Fail(rpcproto.Command{}, "invalid JSON"))
	if want := `{"type":"response","success":false,"error":"invalid JSON"}`; err != nil || string(line) != want {
		t.Errorf("refusal of no command: got %s, %v, want %s", line, err, want)
	}
	validate(t, schema, line)
}

func TestCommandsFollowTheSchema(t *testing.T) {
	schema := compile(t, "command")
	for _, c := range []rpcproto.Command{
		{ID: rpcproto.StringID("0"), Type: "hello", Token: "t", Capabilities: []string{rpcproto.CapConfirm}},
		{Type: "prompt", Message: "m", Images: []rpcproto.Image{{MIMEType: "image/png", Data: []byte{1, 2}}}},
		{Type: "abort"}, {Type: "compact"}, {Type: "get_state"}, {Type: "get_messages"}, {Type: "clear"},
		{Type: "set_model", Model: "m"}, {Type: "set_reasoning", Reasoning: "high"}, {Type: "get_models"}, {Type: "ping"},
		{Type: "confirm", Request: "1", Answer: "yes"}, {Type: "get_commands"}, {Type: "run_command", Name: "n", Args: "a"},
		{Type: "panel_key", PanelID: "p", Key: "enter"}, {Type: "panel_close", PanelID: "p"}, {Type: "reload_ext"}, {Type: "get_extensions"},
	} {
		line, err := rpcproto.EncodeCommand(c)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, schema, line)
		back, err := rpcproto.DecodeCommand(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Errorf("%s (-sent +received):\n%s", c.Type, diff)
		}
	}
}

func TestRefusedCommandsKeepTheirID(t *testing.T) {
	for _, c := range []struct{ line, id, typ, problem string }{
		{`{"id":"1","type":"prompt","message":5}`, `"1"`, "prompt", `"message"`},
		{`{"id":2,"type":"set_model","model":[]}`, `2`, "set_model", `"model"`},
		{`{"id":{},"type":"ping"}`, ``, "ping", `"id"`},
		{`{"id":"1"}`, `"1"`, "", "type"},
		{`{"id":"1","type":"pi`, ``, "", "invalid JSON"},
		{`[]`, ``, "", "JSON"},
	} {
		got, err := rpcproto.DecodeCommand([]byte(c.line))
		if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: error %v, want one about %s", c.line, err, c.problem)
		}
		if string(got.ID) != c.id || got.Type != c.typ {
			t.Errorf("%s: got id %s type %q, want id %s type %q", c.line, got.ID, got.Type, c.id, c.typ)
		}
	}
	got, err := rpcproto.DecodeCommand([]byte("\xef\xbb\xbf{\"id\":null,\"type\":\"ping\",\"new\":1}\r"))
	if err != nil || got.Type != "ping" || got.ID != nil {
		t.Errorf("a byte order mark, a null id and an unknown field: got %+v, %v", got, err)
	}
}

func TestUnknownEvent(t *testing.T) {
	_, _, err := rpcproto.DecodeLine([]byte(`{"type":"later","x":1}`))
	if _, ok := err.(*rpcproto.UnknownTypeError); !ok {
		t.Errorf("got %v, want an UnknownTypeError", err)
	}
}

func FuzzDecodeLine(f *testing.F) {
	for _, e := range events {
		f.Add([]byte(e.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		_, e, err := rpcproto.DecodeLine(line)
		if err != nil || e == nil {
			return
		}
		again, err := rpcproto.EncodeEvent(e)
		if err != nil {
			t.Skip() // a time outside what JSON can write
		}
		_, e2, err := rpcproto.DecodeLine(again)
		if err != nil {
			t.Fatalf("what was encoded does not decode: %v\n%s", err, again)
		}
		once, _ := rpcproto.EncodeEvent(e2)
		if !bytes.Equal(once, again) {
			t.Fatalf("not stable:\n%s\n%s", again, once)
		}
	})
}

func FuzzDecodeCommand(f *testing.F) {
	f.Add([]byte(`{"id":"1","type":"prompt","message":"m","images":[{"mime_type":"image/png","data":"AAEC"}]}`))
	f.Add([]byte(`{"id":1,"type":"ping"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := rpcproto.DecodeCommand(line)
		refusal := rpcproto.Fail(c, "no")
		if out, encErr := rpcproto.EncodeResponse(refusal); encErr != nil {
			t.Fatalf("a command that read as %v cannot be refused: %v (%s)", err, encErr, out)
		}
	})
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(filepath.Join("..", "..", "..", "schemas", "rpc", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, line []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s does not follow the schema: %#v", line, err)
	}
}

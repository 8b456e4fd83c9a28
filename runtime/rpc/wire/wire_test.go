package wire_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/rpc/wire"
)

var (
	at      = time.Date(2026, 5, 4, 3, 2, 1, 999, time.UTC)
	content = []message.Block{
		message.Reasoning{ID: "r", Summary: "secret thought", Encrypted: "e"},
		message.Text{Text: "a"},
		message.Text{Text: "b"},
		message.Image{MIMEType: "image/png", Data: []byte{1, 2, 3}},
		message.ToolCall{ID: "c", Name: "read"},
	}
	answer = message.Message{Role: message.Assistant, Content: content, Time: at}
	usage  = message.Usage{Known: true, Input: 1, Output: 2, CostUSD: 1}
)

// TestPublishedLines holds lines that existing clients rely on, byte for byte.
func TestPublishedLines(t *testing.T) {
	for _, c := range []struct {
		event event.Event
		want  string
	}{
		{event.TurnStart{Step: 2}, `{"type":"turn_start","step":2}`},
		{event.UserMessage{Message: message.Message{Role: message.User, Content: []message.Block{message.Text{Text: "x"}}, Time: at}},
			`{"type":"user_message","content":[{"type":"text","text":"x"}],"time":"2026-05-04T03:02:01Z"}`},
		{event.ToolCall{ID: "c", Name: "read"}, `{"type":"tool_call","id":"c","name":"read","args":{}}`},
		{event.TurnEnd{Stop: "aborted"}, `{"type":"turn_end","stop":"aborted"}`},
		{event.Usage{Turn: usage, Cumulative: usage},
			`{"type":"usage","input":1,"output":2,"cache_read":0,"cache_write":0,"cost_usd":1,"cumulative":{"input":1,"output":2,"cache_read":0,"cache_write":0,"cost_usd":1}}`},
		{event.ExtNotify{Extension: "e", Level: "warn", Message: "m"}, `{"type":"ext_notify","extension":"e","level":"warn","message":"m"}`},
		{event.Done{}, `{"type":"done"}`},
	} {
		if got := line(t, c.event); got != c.want {
			t.Errorf("%T\n got %s\nwant %s", c.event, got, c.want)
		}
	}
}

func TestEveryEventFollowsTheSchema(t *testing.T) {
	schema, err := jsonschema.Compile(filepath.Join("..", "..", "..", "schemas", "rpc", "event.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"ExtSubmit": true}
	for _, e := range []event.Event{
		event.TurnStart{Step: 1}, event.UserMessage{}, event.AssistantStart{}, event.TextDelta{Delta: "x"},
		event.ReasoningDelta{Delta: "x"}, event.ToolUseStart{ID: "c"}, event.ToolUseArgs{}, event.ToolUseEnd{},
		event.AssistantMessage{Message: answer, Visible: "a\nb"}, event.Usage{}, event.TurnEnd{Stop: "tool_use"},
		event.ToolCall{ID: "c", Name: "n", Args: json.RawMessage(`{}`), Extension: "e"}, event.ToolProgress{},
		event.ToolResult{ID: "c", Status: "blocked", Content: content[1:4], Duration: time.Second},
		event.ConfirmationRequested{ToolID: "c", ToolName: "bash", Preview: "ls"},
		event.PermissionDecision{Decision: "approved"},
		event.Retry{Attempt: 1, Of: 2, Wait: time.Second}, event.CompactStart{}, event.CompactDone{}, event.ModelChanged{},
		event.Error{Message: "x"}, event.Done{}, event.Notice{Level: "info"}, event.ExtNotify{}, event.ExtDisplay{},
		event.ExtClearNotes{}, event.ExtPanelOpen{}, event.ExtPanelRender{}, event.ExtPanelClose{}, event.ExtState{},
		event.ExtFailed{}, event.ExtReloaded{},
		event.PolicyStatus{Mode: "pinned", Held: []event.PolicyHeld{{What: "extension x", Code: "ZP010", Reason: "r", Remedy: "m"}}},
	} {
		seen[reflect.TypeOf(e).Name()] = true
		text := line(t, e)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s does not follow the schema: %#v", text, err)
		}
	}
	for _, name := range eventTypes(t) {
		if !seen[name] {
			t.Errorf("event.%s is not in this test: give it words on the wire, or say why it has none", name)
		}
	}
	if _, ok := wire.FromEvent(event.ExtSubmit{}); ok {
		t.Error("a submission of an extension left the process")
	}
}

func TestWithheldTextStaysHere(t *testing.T) {
	for _, c := range []struct {
		name  string
		event event.AssistantMessage
		want  string
	}{
		{"unchanged", event.AssistantMessage{Message: answer, Visible: "a\nb"}, `[{"type":"text","text":"a"},{"type":"text","text":"b"},`},
		{"replaced", event.AssistantMessage{Message: answer, Visible: "nicer", By: "tidy"}, `[{"type":"text","text":"nicer"},{"type":"image"`},
		{"suppressed", event.AssistantMessage{Message: answer, Suppressed: true, Reason: "rude", By: "tidy"}, `[{"type":"image"`},
	} {
		got := line(t, c.event)
		if !strings.Contains(got, `"content":`+c.want) {
			t.Errorf("%s: got %s, want content %s…", c.name, got, c.want)
		}
		if strings.Contains(got, "secret thought") {
			t.Errorf("%s: reasoning is in %s", c.name, got)
		}
	}
}

// eventTypes reads the names of all events from their source.
func eventTypes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "event", "event.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "event" {
			names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	return names
}

func line(t *testing.T, e event.Event) string {
	t.Helper()
	out, ok := wire.FromEvent(e)
	if !ok {
		t.Fatalf("%T has no words on the wire", e)
	}
	text, err := rpcproto.EncodeEvent(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

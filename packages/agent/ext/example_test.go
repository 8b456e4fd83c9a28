package ext_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

// zot is a stand-in that sends a few lines and shows what comes back. A real
// extension calls e.Run instead.
func zot(e *ext.Extension, lines ...string) {
	greeting := `{"type":"hello_ack","protocol_version":1,"zot_version":"0.1.0","provider":"demo","model":"demo","cwd":"/proj","extension_dir":"/x","data_dir":"/x"}`
	in := strings.NewReader(greeting + "\n" + strings.Join(lines, "\n") + "\n")
	if err := e.RunIO(context.Background(), in, os.Stdout); err != nil {
		fmt.Println(err)
	}
}

func Example() {
	e := ext.New("hello", "1.0.0")
	e.Command("hello", "say hi", func(args string) ext.Response {
		return ext.Prompt("Say hello to " + args + ", briefly.")
	})
	zot(e, `{"type":"command_invoked","id":"1","name":"hello","args":"Ada"}`)
	// Output:
	// {"type":"hello","name":"hello","version":"1.0.0","capabilities":["commands","tools","events","panels","tool_cancel","call_tool"]}
	// {"type":"register_command","name":"hello","description":"say hi"}
	// {"type":"ready"}
	// {"type":"command_response","id":"1","action":"prompt","prompt":"Say hello to Ada, briefly."}
}

func ExampleExtension_Tool() {
	e := ext.New("weather", "1.0.0")
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)
	e.Tool("weather", "Current weather of a city.", schema, func(args json.RawMessage) ext.ToolResult {
		var in struct{ City string }
		if err := json.Unmarshal(args, &in); err != nil || in.City == "" {
			return ext.TextErrorResult("city is missing")
		}
		return ext.TextResult(in.City + ": 9 °C, drizzle")
	})
	zot(e, `{"type":"tool_call","id":"1","name":"weather","args":{"city":"Berlin"}}`)
	// Output:
	// {"type":"hello","name":"weather","version":"1.0.0","capabilities":["commands","tools","events","panels","tool_cancel","call_tool"]}
	// {"type":"register_tool","name":"weather","description":"Current weather of a city.","schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}
	// {"type":"ready"}
	// {"type":"tool_result","id":"1","content":[{"type":"text","text":"Berlin: 9 °C, drizzle"}]}
}

func ExampleExtension_InterceptToolCall() {
	e := ext.New("guard", "1.0.0")
	e.InterceptToolCall(func(tool string, args json.RawMessage) (allow bool, reason string) {
		if tool == "bash" && strings.Contains(string(args), "mkfs") {
			return false, "formatting disks is not for you"
		}
		return true, ""
	})
	zot(e, `{"type":"event_intercept","id":"1","event":"tool_call","tool_id":"t","tool_name":"bash","tool_args":{"command":"mkfs /dev/sda"}}`)
	// Output:
	// {"type":"hello","name":"guard","version":"1.0.0","capabilities":["commands","tools","events","panels","tool_cancel","call_tool"]}
	// {"type":"subscribe","intercept":["tool_call"]}
	// {"type":"ready"}
	// {"type":"event_intercept_response","id":"1","block":true,"reason":"formatting disks is not for you"}
}

func ExampleExtension_OnPanelKey() {
	e := ext.New("counter", "1.0.0")
	n := 0
	draw := func() []string { return []string{fmt.Sprint("count: ", n)} }
	e.Command("count", "open the counter", func(string) ext.Response {
		return ext.OpenPanel("main", "Counter", draw(), "up counts")
	})
	e.OnPanelKey("main", func(key, text string) {
		if key == "up" {
			n++
		}
		e.RenderPanel("main", "", draw(), "up counts")
	}, nil)
	zot(e, `{"type":"panel_key","panel_id":"main","key":"up"}`)
	// Output:
	// {"type":"hello","name":"counter","version":"1.0.0","capabilities":["commands","tools","events","panels","tool_cancel","call_tool"]}
	// {"type":"register_command","name":"count","description":"open the counter"}
	// {"type":"ready"}
	// {"type":"panel_render","panel_id":"main","lines":["count: 1"],"footer":"up counts"}
}

// Whole is a program of the Go SDK as authors begin with: a command, a tool,
// one command more for where it runs, and no thought of how it does.
package main

import (
	"encoding/json"
	"time"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	e := ext.New("whole", "1.0.0")
	e.Command("greet", "have somebody greeted", func(args string) ext.Response {
		return ext.Prompt("Greet " + args + ", and be brief.")
	})
	e.Tool("forecast", "The weather of tomorrow.",
		json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		func(args json.RawMessage) ext.ToolResult {
			var in struct{ City string }
			json.Unmarshal(args, &in)
			return ext.TextResult(in.City + ": fair")
		})
	e.OnHello(func(host ext.HostInfo) {
		if host.CWD != "" {
			e.Command("place", "show the folder of the project", func(string) ext.Response { return ext.Display(host.CWD) })
		}
	})
	e.InterceptToolCall(func(tool string, _ json.RawMessage) (bool, string) { return tool != "bash", "no shell" })
	go func() { // all the while that it waits for zot
		time.Sleep(20 * time.Millisecond)
		e.Notify("info", "still here")
	}()
	e.Run()
}

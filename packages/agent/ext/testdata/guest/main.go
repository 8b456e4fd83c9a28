// The guest of TestWebAssembly.
package main

import (
	"encoding/json"
	"time"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	e := ext.New("guest", "1.0.0")
	e.Tool("echo", "", json.RawMessage(`{"type":"object"}`), func(args json.RawMessage) ext.ToolResult {
		time.Sleep(time.Millisecond)
		return ext.TextResult(string(args))
	})
	e.OnShutdown(func() { e.Notify("info", "bye") })
	if err := e.Run(); err != nil {
		panic(err)
	}
}

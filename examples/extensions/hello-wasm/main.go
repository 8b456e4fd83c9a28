// The program hello-wasm runs as a WebAssembly module or as a process; it
// cannot tell, apart from what it is not allowed.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "hello-wasm:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("hello-wasm", "1.0.0")
	e.Tool("greet", "Greet someone by name.", json.RawMessage(`{
		"type": "object",
		"properties": {"name": {"type": "string"}},
		"required": ["name"]
	}`), greet)
	e.Tool("peek", "Try to read a file, to see what is out of reach.", json.RawMessage(`{
		"type": "object",
		"properties": {"path": {"type": "string"}},
		"required": ["path"]
	}`), peek)
	e.Command("countdown", "count down from three, in the background", func(string) ext.Response {
		go func() { // timers and goroutines run while the module waits for input
			for n := 3; n > 0; n-- {
				time.Sleep(10 * time.Millisecond)
				e.Notify("info", fmt.Sprint(n))
			}
			e.Notify("success", "lift-off")
		}()
		return ext.Display("Counting.")
	})
	return e
}

func greet(args json.RawMessage) ext.ToolResult {
	var in struct{ Name string }
	if err := json.Unmarshal(args, &in); err != nil || in.Name == "" {
		return ext.TextErrorResult(`give the name as text, like {"name":"Ada"}`)
	}
	return ext.TextResult("Hello, " + in.Name + "!")
}

// peek shows what a missing right looks like from inside: an ordinary error.
func peek(args json.RawMessage) ext.ToolResult {
	var in struct{ Path string }
	if err := json.Unmarshal(args, &in); err != nil {
		return ext.TextErrorResult(`give the path as text, like {"path":"/etc/passwd"}`)
	}
	text, err := os.ReadFile(in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ext.TextErrorResult("there is no such file")
	case err != nil:
		return ext.TextErrorResult(err.Error())
	}
	return ext.TextResult(fmt.Sprintf("%d bytes", len(text)))
}

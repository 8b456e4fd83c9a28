// The program todo keeps a list that the user edits in a panel and the model
// adds to with a tool.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

const (
	panelID = "todo-main"
	footer  = "↑/↓ move · enter done · d delete · esc close"
)

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "todo:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("todo", "1.0.0")
	l := &list{}
	e.OnHello(func(host ext.HostInfo) {
		if err := l.open(host.DataDir); err != nil {
			e.Notify("error", err.Error())
		}
	})
	e.Command("todo", "open the list, or add to it: /todo buy milk", func(text string) ext.Response {
		if text != "" {
			if err := l.add(text); err != nil {
				return ext.Errorf("%v", err)
			}
		}
		return ext.OpenPanel(panelID, "To do", l.lines(), footer)
	})
	// Keys of one panel come in order, one at a time; after each the panel is
	// drawn again.
	e.OnPanelKey(panelID, func(key, text string) {
		if err := l.key(key, text); err != nil {
			e.Notify("error", err.Error())
		}
		e.RenderPanel(panelID, "", l.lines(), footer)
	}, nil)
	e.Tool("todo_add", "Adds an item to the user's to-do list.",
		json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		func(args json.RawMessage) ext.ToolResult {
			var in struct{ Text string }
			if err := json.Unmarshal(args, &in); err != nil || in.Text == "" {
				return ext.TextErrorResult("text is missing")
			}
			if err := l.add(in.Text); err != nil {
				return ext.TextErrorResult(err.Error())
			}
			e.RenderPanel(panelID, "", l.lines(), footer) // does nothing while it is closed
			return ext.TextResult("added: " + in.Text)
		})
	return e
}

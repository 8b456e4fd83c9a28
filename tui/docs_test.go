package tui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/tuitest"
)

const page = "../docs/tui.md"

// The tables of commands and keys in the documentation are the ones of the
// program.
func TestDocumentedCommandsAndKeys(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	want := weave(t, weave(t, text, "commands", commandTable()), "keys", keyTable())
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("the tables in %s are not those of the program; go test ./tui -run TestDocumented -update", page)
	}
}

// weave puts a table between the two comments that name it.
func weave(t *testing.T, text, name, table string) string {
	t.Helper()
	start, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	i, j := strings.Index(text, start), strings.Index(text, end)
	if i < 0 || j < i {
		t.Fatalf("%s has no place for %s", page, name)
	}
	return text[:i+len(start)] + table + text[j:]
}

func commandTable() string {
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range tui.BuiltinCommands() {
		name := strings.TrimSpace("/" + c.Name + " " + c.Args)
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), c.Description)
	}
	return b.String()
}

func keyTable() string {
	var b strings.Builder
	b.WriteString("| action | keys | what it does |\n|---|---|---|\n")
	for _, k := range keys.Defaults() {
		var chords []string
		for _, c := range k.Keys {
			chords = append(chords, "`"+c+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Action, strings.Join(chords, " "), k.Help)
	}
	return b.String()
}

// pictures are stories that end on a screen worth showing.
var pictures = map[string]func(d *tuitest.Driver){
	"conversation": func(d *tuitest.Driver) {
		d.RT.Begin("why does the build fail?")
		args := json.RawMessage(`{"command":"go build ./..."}`)
		d.Emit(event.ReasoningDelta{Delta: "Let me build it first."},
			event.ToolCall{ID: "1", Name: "bash", Args: args},
			event.ToolResult{ID: "1", Name: "bash", Args: args, IsError: true, Status: "exit 1", Executed: true, Duration: 2300 * time.Millisecond,
				Content: []message.Block{message.Text{Text: "./main.go:12:9: undefined: greet"}}},
			event.ToolCall{ID: "2", Name: "edit", Args: json.RawMessage(`{"path":"main.go"}`)},
			event.ToolResult{ID: "2", Name: "edit", Executed: true, Diff: "@@ -10,4 +10,4 @@\n func main() {\n \tname := os.Args[1]\n-\tfmt.Println(greet(name))\n+\tfmt.Println(Greet(name))\n }\n"},
			event.TextDelta{Delta: "The function is called `Greet`, with a **capital** letter:\n\n```go\nfunc Greet(name string) string {\n\treturn \"hello \" + name // see greet.go\n}\n```\n\n- it builds now\n- the tests still "})
		d.Type("and add a test for it")
		d.Sleep(12 * time.Second)
	},
	"question": func(d *tuitest.Driver) {
		d.RT.Begin("clean up")
		d.Emit(tui.Ask{Title: "run this command?", Command: "git clean -fdx build/", Cwd: "/work/project",
			Options: []dialog.Option{{Label: "allow"}, {Label: "allow for this session", Detail: "bash: git clean *"}, {Label: "deny"}}, Cancel: 2, Default: 1})
		d.Sleep(time.Second)
	},
	"panel": func(d *tuitest.Driver) {
		d.RT.Begin("what is left to do?")
		d.Emit(event.TextDelta{Delta: "Three things; the list is open below.\n"},
			event.ExtNotify{Extension: "todo", Level: "success", Message: "synced 3 items"},
			event.ExtPanelOpen{Extension: "todo", ID: "1", Title: "todos", Asked: true,
				Lines: []string{"✓ write the parser", "▸ test the parser", "  document the parser"}, Footer: "↑/↓ move · space done · a add · esc close"})
		d.RT.End("Three things; the list is open below.\n")
		d.Sleep(time.Second)
	},
	"commands": func(d *tuitest.Driver) { d.Type("/se") },
}

var svgColour = regexp.MustCompile(`(fill|font-[a-z]+|text-decoration)="[^"]*"|<rect[^>]*>\n?`)

// The pictures in the documentation show what the program shows. Colours are
// not compared: a theme may change without the pictures having to.
func TestPictures(t *testing.T) {
	for name, story := range pictures {
		t.Run(name, func(t *testing.T) {
			rt := tuitest.New()
			rt.St = tui.State{Provider: "anthropic", Model: "claude-sonnet-4-5", Ready: true, Cwd: "/work/project", ContextUsed: 41200, ContextWindow: 200000, CostKnown: true, CostUSD: 0.31}
			rt.Cmds = []command.Command{{Name: "search-docs", Description: "search the team's documentation", Extension: "docs"}}
			var got string
			synctest.Test(t, func(t *testing.T) {
				d := tuitest.Start(t, rt, 92, 30, nil)
				story(d)
				rows := d.Rows()
				for len(rows) > 2 && strings.TrimSpace(rows[0]) == "" {
					rows = rows[1:]
				}
				got = tuitest.SVG(rows, 92)
			})
			path := filepath.Join("..", "docs", "images", "tui-"+name+".svg")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			plain := func(s string) string {
				return svgColour.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "")
			}
			if plain(string(want)) != plain(got) {
				t.Errorf("%s does not show what the program shows; go test ./tui -run TestPictures -update", path)
			}
		})
	}
}

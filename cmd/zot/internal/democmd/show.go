package democmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/provider/demo"
)

// show tells the demo step by step, for a reader who does not know zot yet.
type show struct {
	s    *iostreams.Streams
	step int
}

func (w *show) line(format string, args ...any) { fmt.Fprintf(w.s.Out, format+"\n", args...) }

func (w *show) bold(text string) string { return w.s.Style(w.s.Out, "1", text) }
func (w *show) dim(text string) string  { return w.s.Style(w.s.Out, "2", text) }

func (w *show) opening(p *place, url string) {
	w.line("%s", w.bold("zot demo: a scripted model (no AI, no key, no network); all else is real"))
	w.line("  project     %s, with a test that fails", p.project)
	w.line("  model       %s at %s, asked like any other", demo.Model, url)
	w.line("  extensions  changelog, a WebAssembly module that can touch the project alone")
	w.line("              guard, a process that judges every call; each adds a tool")
	w.line("  policy      git push is denied")
	w.line("\n%s %s\n", w.bold("you>"), demo.Prompt)
}

// handle shows one event.
func (w *show) handle(e event.Event) {
	switch e := e.(type) {
	case event.ToolCall:
		w.step++
		owner := "" // a built-in tool
		if e.Extension != "" {
			owner = w.dim("  (tool of " + e.Extension + ")")
		}
		w.line("%s %s%s", w.bold(fmt.Sprintf("%d. %s", w.step, e.Name)), telling(e.Args), owner)
	case event.ToolResult:
		w.result(e)
	case event.AssistantMessage:
		if len(e.Message.ToolCalls()) == 0 {
			w.line("\n%s %s", w.bold("zot>"), e.Visible)
		}
	case event.ExtFailed:
		w.line("   extension %s: %s", e.Extension, e.Message)
	case event.Notice:
		w.line("   %s: %s", e.Level, e.Text)
	}
}

// telling is the argument by which a reader knows a call.
func telling(args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return ""
	}
	for _, key := range []string{"command", "path", "entry"} {
		if s, ok := fields[key].(string); ok {
			return s
		}
	}
	return ""
}

func (w *show) result(e event.ToolResult) {
	if !e.IsError { // or the result says it
		for _, change := range e.Changes {
			w.line("   %s", w.s.Style(w.s.Out, "33", "! "+change))
		}
	}
	text := message.TextOf(e.Content)
	switch {
	case e.Diff != "":
		w.diff(e.Diff)
	case e.Name == "read" && !e.IsError: // its file is the model's matter
	default:
		w.excerpt(text, e.IsError)
	}
}

// diff shows the lines that changed.
func (w *show) diff(diff string) {
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"):
			w.line("   %s", w.s.Style(w.s.Out, "31", line))
		case strings.HasPrefix(line, "+"):
			w.line("   %s", w.s.Style(w.s.Out, "32", line))
		}
	}
}

// excerpt shows the first lines of a result.
func (w *show) excerpt(text string, failed bool) {
	const most = 2
	text, _, _ = strings.Cut(text, "\n[exit code 0") // which goes without saying
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if i == most {
			w.line("   %s", w.dim(fmt.Sprintf("… %d more lines", len(lines)-most)))
			return
		}
		if failed {
			line = w.s.Style(w.s.Out, "31", line)
		}
		w.line("   %s", line)
	}
}

func (w *show) closing(u message.Usage) {
	w.line("%s go test ./... passes; zot looked for itself. %d tokens, $%.2f.",
		w.s.Style(w.s.Out, "32", "done:"), u.Input+u.CacheRead+u.Output, u.CostUSD)
	w.line("\nNow with a model that thinks:")
	w.line("  OPENAI_API_KEY=… zot -p \"what is in this folder?\"")
	w.line("  zot --provider ollama --model qwen3 -p \"what is in this folder?\"")
	w.line("  zot --base-url http://127.0.0.1:8080/v1 --model NAME -p \"…\"   # any server")
}

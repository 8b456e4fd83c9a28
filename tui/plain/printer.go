package plain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/transcript"
)

// printer turns events into lines. Text that arrives in pieces is printed by
// whole lines: a screen reader would otherwise read syllables.
type printer struct {
	line    func(format string, args ...any)
	cleaner screen.Cleaner
	open    string // the unfinished line
	who     string // who the open text is of
	printed strings.Builder
}

// say adds text of who.
func (p *printer) say(who, text string) {
	if p.who != who {
		p.flush()
		p.who = who
	}
	p.open += p.cleaner.Write(text)
	for {
		l, rest, ok := strings.Cut(p.open, "\n")
		if !ok {
			return
		}
		p.open = rest
		p.put(l)
	}
}

// put prints one line, with the speaker before the first.
func (p *printer) put(l string) {
	if p.printed.Len() == 0 {
		if strings.TrimSpace(l) == "" {
			return
		}
		l = p.who + ": " + l
	}
	p.printed.WriteString(l + "\n")
	p.line("%s", l)
}

// flush ends the open text.
func (p *printer) flush() {
	rest := p.open + p.cleaner.Flush()
	p.open = ""
	if strings.TrimSpace(rest) != "" {
		p.put(rest)
	}
	p.printed.Reset()
	p.who = ""
}

// whole prints a text at once.
func (p *printer) whole(who, text string) {
	p.flush()
	if who == "" {
		return
	}
	p.who = who
	p.say(who, strings.TrimRight(text, "\n")+"\n")
	p.flush()
}

func (p *printer) event(ev event.Event) {
	switch e := ev.(type) {
	case event.UserMessage:
		p.whole("you", e.Message.Text())
	case event.TextDelta:
		p.say("zot", e.Delta)
	case event.ReasoningDelta:
		p.say("thinking", e.Delta)
	case event.AssistantMessage:
		p.assistant(e)
	case event.ToolCall:
		p.whole("tool", attributed(e.Name, e.Extension)+" "+argsLine(e.Args))
	case event.ToolProgress:
		p.whole("tool output", screen.CleanOutput(e.Text))
	case event.ToolResult:
		p.result(e)
	case event.TurnEnd:
		p.flush()
	case event.Retry:
		p.whole("zot", fmt.Sprintf("trying again in %s: %s", e.Wait, e.Cause))
	case event.CompactStart:
		p.whole("zot", "shortening the conversation")
	case event.CompactDone:
		if e.Error != "" {
			p.whole("error", "shortening failed: "+e.Error)
			return
		}
		p.whole("zot", "conversation shortened")
	case event.ModelChanged:
		p.whole("model", e.Model)
	case event.Notice:
		p.whole(levelWord(e.Level, "note"), e.Text)
	case event.ExtNotify:
		p.whole(strings.TrimSuffix("["+screen.Line(e.Extension)+"] "+levelWord(e.Level, ""), " "), e.Message)
	case event.ExtFailed:
		p.whole("error", "extension "+screen.Line(e.Extension)+": "+e.Message)
	case event.ExtDisplay:
		p.whole("["+screen.Line(e.Extension)+"]", e.Text)
	}
}

// assistant prints what an interceptor put in place of the streamed text, or
// the whole text where none was streamed.
func (p *printer) assistant(e event.AssistantMessage) {
	streamed := strings.TrimSpace(strings.TrimPrefix(p.printed.String()+p.open, "zot: "))
	spoke := p.who == "zot" && streamed != ""
	p.flush()
	if e.Suppressed {
		p.whole("zot", "answer withheld by "+screen.Line(e.By)+": "+e.Reason)
		return
	}
	if text := strings.TrimSpace(screen.Clean(e.Visible)); text != "" && (!spoke || e.By != "" && streamed != text) {
		p.whole("zot", text)
	}
}

// maxResult is how many lines of a tool's output are printed.
const maxResult = 20

func (p *printer) result(e event.ToolResult) {
	state := "done"
	if e.IsError {
		state = "failed"
	}
	if word := transcript.StatusWord(e.Status); word != "" {
		state = word
	}
	text := attributed(e.Name, e.Extension) + " " + state
	for _, c := range e.Changes {
		text += "\n" + c
	}
	body := e.Diff
	if body == "" || e.IsError {
		body = screen.Clean(screen.CleanOutput(message.TextOf(e.Content)))
	}
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	if n := len(lines) - maxResult; n > 0 {
		lines = append(lines[:maxResult], fmt.Sprintf("and %d more lines", n))
	}
	if body != "" {
		text += "\n" + strings.Join(lines, "\n")
	}
	for _, b := range e.Content {
		if _, ok := b.(message.Image); ok {
			text += "\nan image"
		}
	}
	p.whole("tool", text)
}

func attributed(name, ext string) string {
	if ext != "" {
		return screen.Line(name) + " of " + screen.Line(ext)
	}
	return screen.Line(name)
}

func argsLine(raw json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(raw, &m) == nil {
		for _, k := range []string{"command", "path", "query", "url"} {
			if v, ok := m[k].(string); ok {
				return screen.Visible(v)
			}
		}
		if len(m) == 0 {
			return ""
		}
	}
	return screen.Visible(string(raw))
}

func levelWord(level, usual string) string {
	switch level {
	case "error":
		return "error"
	case "warn":
		return "warning"
	}
	return usual
}

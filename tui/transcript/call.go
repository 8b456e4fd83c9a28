package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// call is one use of a tool, from the first letters of its name to its result.
type call struct {
	name, ext, parent string
	args              string // what is shown of the arguments
	raw               strings.Builder
	running           bool
	live              []string // last lines of a tool at work
	output            string
	diff              string
	changes           []string
	images            []numbered
	isError           bool
	status            string
	took              time.Duration
	cell              *cell
}

// Rows of output that are shown of a finished call, and of one at work.
const (
	foldedHead = 4
	foldedTail = 6
	liveRows   = 6
	diffRows   = 40
)

func (t *Transcript) call(id string) *call {
	if c, ok := t.calls[id]; ok {
		return c
	}
	t.endThought()
	c := &call{running: true}
	c.cell = t.add(&cell{content: c, gap: true})
	t.calls[id] = c
	return c
}

// CallStart says that the model began to write a call.
func (t *Transcript) CallStart(id, name string) {
	c := t.call(id)
	c.name = screen.Line(name)
	c.cell.changed()
}

// maxRawArgs bounds what is parsed again as arguments arrive.
const maxRawArgs = 16 << 10

// CallArgs adds a piece of the arguments as the model writes them.
func (t *Transcript) CallArgs(id, delta string) {
	c := t.call(id)
	if c.raw.Len() > maxRawArgs {
		return
	}
	c.raw.WriteString(delta)
	c.args = partialArgs(c.raw.String())
	c.cell.changed()
}

// Call says that a call begins to run.
func (t *Transcript) Call(e event.ToolCall) {
	c := t.call(e.ID)
	c.name, c.ext = screen.Line(e.Name), screen.Line(e.Extension)
	if e.Origin != "" {
		c.ext = strings.TrimPrefix(c.ext+" for "+screen.Line(e.Origin), " ")
	}
	c.parent = e.Parent
	c.args = argsText(e.Args)
	c.cell.changed()
	t.touch()
}

// Progress adds a line of a tool at work.
func (t *Transcript) Progress(id, text string) {
	c := t.call(id)
	c.live = append(c.live, strings.Split(strings.TrimRight(screen.CleanOutput(text), "\n"), "\n")...)
	if n := len(c.live) - 200; n > 0 {
		c.live = append([]string(nil), c.live[n:]...)
	}
	c.cell.changed()
	t.touch()
}

// Result ends a call.
func (t *Transcript) Result(e event.ToolResult) {
	c := t.call(e.ID)
	if e.Name != "" {
		c.name = screen.Line(e.Name)
	}
	if e.Extension != "" {
		c.ext = screen.Line(e.Extension)
	}
	if len(e.Args) > 0 {
		c.args = argsText(e.Args)
	}
	c.running, c.live = false, nil
	c.isError, c.status, c.took = e.IsError, StatusWord(e.Status), e.Duration
	c.diff = shorten(screen.Clean(e.Diff))
	for _, ch := range e.Changes {
		c.changes = append(c.changes, screen.Line(ch))
	}
	c.output = strings.TrimRight(screen.CleanOutput(shorten(message.TextOf(e.Content))), "\n ")
	for _, b := range e.Content {
		if img, ok := b.(message.Image); ok {
			c.images = append(c.images, t.number(Image(img)))
		}
	}
	delete(t.calls, e.ID)
	c.cell.changed()
	t.touch()
}

// maxShown is how much of one text is kept to be drawn. The whole of it is in
// the session.
const maxShown = 256 << 10

// shorten takes the middle out of a text that is too long to be drawn.
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	half := maxShown / 2
	return strings.ToValidUTF8(s[:half], "") + fmt.Sprintf("\n[%d KB are not shown]\n", (len(s)-maxShown)>>10) + strings.ToValidUTF8(s[len(s)-half:], "")
}

// StatusWord is how a call ended, in words; empty where that goes without saying.
// The words are those of event.ToolResult.
func StatusWord(status string) string {
	if status == "completed" {
		return ""
	}
	return screen.Line(strings.ReplaceAll(status, "_", " "))
}

// StopCalls ends what still runs, after the user stopped the turn.
func (t *Transcript) StopCalls() {
	for id, c := range t.calls {
		c.running, c.live = false, nil
		c.status = "stopped"
		c.cell.changed()
		delete(t.calls, id)
	}
}

func (c *call) text() string {
	return c.name + " " + c.args + "\n" + screen.Clean(c.output) + "\n" + c.diff
}

func (c *call) draw(_ *cell, d drawing) []string {
	rows := c.head(d)
	body := c.body(d)
	for _, ch := range c.changes {
		rows = append(rows, screen.Wrapper{Width: d.width, First: screen.Span{Text: "  "}, Rest: screen.Span{Text: "  "}}.
			Rows([]screen.Span{d.sheet.Span(style.Warn, ch)})...)
	}
	return append(rows, framed(body, d)...)
}

// framed puts a bar beside the output, which is indented by two columns.
func framed(body []string, d drawing) []string {
	if d.opt.FlatTools {
		return body
	}
	bar := d.sheet.Paint(style.Border, d.sheet.Glyphs.Bar) + " "
	for i, r := range body {
		body[i] = bar + strings.TrimPrefix(r, "  ")
	}
	return body
}

// head is the line with the state, the name and the arguments.
func (c *call) head(d drawing) []string {
	s := d.sheet
	glyph, token, word := s.Glyphs.Pointer, style.Tool, ""
	switch {
	case c.running:
	case c.isError:
		glyph, token, word = s.Glyphs.Cross, style.ToolError, "failed"
	default:
		glyph, token = s.Glyphs.Check, style.ToolOK
	}
	if c.status != "" {
		word = c.status
	}
	spans := []screen.Span{s.Span(token, glyph+" "), {Text: c.name, SGR: s.SGR(style.Tool) + s.SGR(style.Strong)}}
	if c.ext != "" {
		spans = append(spans, s.Span(style.Accent, " ["+c.ext+"]"))
	}
	args := c.args
	if !d.unfolded {
		args = firstLines(args, 3, s.Glyphs.Ellipsis)
	}
	if args != "" {
		spans = append(spans, s.Span(style.FG, " "+args))
	}
	if word != "" {
		spans = append(spans, s.Span(token, " ("+word+")"))
	}
	if c.took >= time.Second {
		spans = append(spans, s.Span(style.Muted, " "+c.took.Round(100*time.Millisecond).String()))
	}
	indent := screen.Span{Text: "  "}
	first := screen.Span{}
	if c.parent != "" {
		first, indent = screen.Span{Text: "  "}, screen.Span{Text: "    "}
	}
	return screen.Wrapper{Width: d.width, First: first, Rest: indent}.Rows(spans)
}

func firstLines(s string, n int, more string) string {
	lines := strings.SplitN(s, "\n", n+1)
	if len(lines) <= n {
		return s
	}
	return strings.Join(lines[:n], "\n") + "\n" + more
}

func (c *call) body(d drawing) []string {
	if c.running {
		rows := c.rowsOf(c.live, d)
		if len(rows) > liveRows && !d.unfolded {
			rows = rows[len(rows)-liveRows:]
		}
		return rows
	}
	var rows []string
	if c.diff != "" {
		diff := DiffRows(c.diff, d.width-2, d.sheet)
		if len(diff) > diffRows && !d.unfolded {
			diff = append(diff[:diffRows:diffRows], folded(len(diff)-diffRows, d))
		}
		for _, r := range diff {
			rows = append(rows, "  "+r)
		}
		if !c.isError {
			return rows
		}
	}
	if c.output != "" {
		out := c.rowsOf(strings.Split(c.output, "\n"), d)
		if len(out) > foldedHead+foldedTail+1 && !d.unfolded {
			hidden := len(out) - foldedHead - foldedTail
			short := append(out[:foldedHead:foldedHead], folded(hidden, d))
			out = append(short, out[len(out)-foldedTail:]...)
		}
		rows = append(rows, out...)
	}
	for _, img := range c.images {
		rows = append(rows, "  "+screen.Fit(img.line, d.width-2, ""))
		rows = append(rows, d.pictureRows(img.n)...)
	}
	return rows
}

func folded(n int, d drawing) string {
	return screen.Fit("  "+d.sheet.Paint(style.Muted, fmt.Sprintf("%s %d more rows (ctrl+o)", d.sheet.Glyphs.Ellipsis, n)), d.width, "")
}

// rowsOf draws output of a program: its colours in the theme's, its lines
// wrapped at the edge.
func (c *call) rowsOf(lines []string, d drawing) []string {
	var rows []string
	w := screen.Wrapper{Width: max(d.width-2, 1), Hard: true}
	base := d.sheet.SGR(style.ToolOut)
	if c.isError {
		base = d.sheet.SGR(style.ToolError)
	}
	sgr := ""
	for _, l := range lines {
		var spans []screen.Span
		spans, sgr = screen.Spans(l, sgr)
		for i := range spans {
			spans[i].SGR = base + d.sheet.Program(spans[i].SGR)
		}
		for _, r := range w.Rows(spans) {
			rows = append(rows, "  "+r)
		}
	}
	return rows
}

// argsText shows arguments: the one that says most as it is, others as JSON.
func argsText(raw json.RawMessage) string {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return screen.Clean(string(raw))
	}
	for _, key := range []string{"command", "path", "file_path", "pattern", "query", "url"} {
		if v, ok := m[key].(string); ok && v != "" {
			rest := []string{}
			for k, v := range m {
				if k != key && isShort(v) {
					rest = append(rest, fmt.Sprintf("%s=%v", k, v))
				}
			}
			if len(rest) == 1 {
				v += " " + rest[0]
			}
			return screen.Visible(strings.TrimRight(v, "\n"))
		}
	}
	if len(m) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return screen.Clean(string(raw))
	}
	return screen.Visible(b.String())
}

func isShort(v any) bool {
	switch v := v.(type) {
	case float64, bool:
		return true
	case string:
		return len(v) <= 40 && !strings.Contains(v, "\n")
	}
	return false
}

// partialArgs shows arguments that are still arriving.
func partialArgs(raw string) string {
	if json.Valid([]byte(raw)) {
		return argsText(json.RawMessage(raw))
	}
	return screen.Fit(screen.Line(raw), 200, "")
}

// Package panel draws the panel of an extension and decides which keys reach
// it. The frame, with the extension's name, is the interface's own; the lines
// in it are the extension's and can neither leave it nor look like it.
package panel

import (
	"strings"
	"time"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// What is kept of a frame.
const (
	MaxLines     = 200
	maxLineBytes = 4 << 10
)

// escTwice is how soon a second Esc closes a panel that asked for the first.
const escTwice = time.Second

// A Panel is open until its owner or the user closes it.
type Panel struct {
	Ext, ID string
	Focused bool

	title   string
	lines   []string
	footer  string
	wantEsc bool
	lastEsc time.Time
	scroll  int
	manual  bool // the user scrolled; stop following the selected line
}

// New opens a panel. keys are the ones that it asks for and that the interface
// would keep: only "esc" is known.
func New(ext, id, title string, lines []string, footer string, wanted []string, focused bool) *Panel {
	p := &Panel{Ext: ext, ID: id, Focused: focused}
	for _, k := range wanted {
		p.wantEsc = p.wantEsc || k == "esc"
	}
	p.Render(title, lines, footer)
	return p
}

// Render puts a new frame in place of the last.
func (p *Panel) Render(title string, lines []string, footer string) {
	if title != "" {
		p.title = screen.Line(limit(title))
	}
	p.footer = screen.Line(limit(footer))
	p.lines = p.lines[:0]
	for _, l := range lines {
		for _, part := range strings.Split(limit(l), "\n") {
			if len(p.lines) == MaxLines {
				return
			}
			p.lines = append(p.lines, part)
		}
	}
}

func limit(s string) string {
	if len(s) > maxLineBytes {
		return strings.ToValidUTF8(s[:maxLineBytes], "")
	}
	return s
}

// Action says what to do with a key.
type Action int

// The actions.
const (
	Ignore Action = iota
	Send          // to the extension
	Close         // the panel, and tell the extension
	Moved         // scrolled; nothing to tell
)

// Key decides about a key at the time now. Esc and Ctrl+C always close; a
// panel that asked for Esc gets the first, and a second within a second closes
// it all the same, so that nobody is ever locked in.
func (p *Panel) Key(k keys.Key, now time.Time) Action {
	switch k.Chord {
	case "ctrl+c":
		return Close
	case "esc":
		if p.wantEsc && now.Sub(p.lastEsc) > escTwice {
			p.lastEsc = now
			return Send
		}
		return Close
	case "ctrl+up", "alt+up":
		p.move(-1)
		return Moved
	case "ctrl+down", "alt+down":
		p.move(1)
		return Moved
	case "ctrl+pgup", "alt+pgup":
		p.move(-8)
		return Moved
	case "ctrl+pgdown", "alt+pgdown":
		p.move(8)
		return Moved
	}
	if k.Panel == "" {
		return Ignore
	}
	p.manual = false
	return Send
}

func (p *Panel) move(n int) {
	p.scroll, p.manual = max(p.scroll+n, 0), true
}

// Size is the room for lines that a panel has on a screen of that size.
func Size(width, height int) (w, h int) {
	return max(width-2, 1), max(height-3, 1)
}

// Rows draws the panel in at most height rows.
func (p *Panel) Rows(width, height int, hint string, s *style.Sheet) []string {
	if height <= 0 {
		return nil
	}
	rows := []string{p.bar(width, hint, s)}
	room := height - 1
	footer := p.footer != "" && room >= 4
	if footer {
		room -= 2
	}
	p.keepInView(room)
	for i := p.scroll; i < len(p.lines) && len(rows) <= room; i++ {
		rows = append(rows, p.line(p.lines[i], width, s))
	}
	if footer {
		rows = append(rows, "", screen.Fit(" "+s.Paint(style.Muted, screen.Display(p.footer)), width, s.Glyphs.Ellipsis))
	}
	return rows[:min(len(rows), height)]
}

func (p *Panel) bar(width int, hint string, s *style.Sheet) string {
	name := screen.Line(p.Ext)
	title := s.Glyphs.Rule + " " + name
	if p.title != "" && p.title != name {
		title += ": " + screen.Display(p.title)
	}
	if p.scroll > 0 {
		title += " " + s.Glyphs.Up
	}
	bar := s.Paint(style.PanelTitle, title)
	if hint != "" {
		bar += s.Paint(style.Muted, " "+hint)
	}
	bar = screen.Fit(bar, width, s.Glyphs.Ellipsis)
	if n := width - screen.Width(bar) - 1; n > 0 {
		bar += " " + s.Paint(style.Border, strings.Repeat(s.Glyphs.Rule, n))
	}
	return bar
}

// keepInView scrolls to the selected line, unless the user scrolled away.
func (p *Panel) keepInView(room int) {
	last := max(len(p.lines)-room, 0)
	if !p.manual {
		for i, l := range p.lines {
			if selected(l) {
				if i < p.scroll {
					p.scroll = i
				} else if i >= p.scroll+room {
					p.scroll = i - room + 1
				}
				break
			}
		}
	}
	p.scroll = min(p.scroll, last)
}

// zeroWidth marks a selected line without a visible marker.
const zeroWidth = "\u200b"

func selected(line string) bool {
	t := strings.TrimLeft(line, " ")
	return strings.HasPrefix(t, "▸ ") || strings.HasPrefix(t, "● ") || strings.HasPrefix(t, zeroWidth) ||
		strings.Contains(line, "\x1b[7m")
}

// line draws one line of the extension's: its colours, nothing else of it, and
// never more than the width.
func (p *Panel) line(l string, width int, s *style.Sheet) string {
	sel := selected(l)
	clean := screen.CleanSGR(l)
	spans, _ := screen.Spans(clean, "")
	base := s.SGR(style.FG)
	if sel && !strings.Contains(l, "\x1b[") {
		base = s.SGR(style.Selection)
	}
	for i := range spans {
		spans[i].SGR = base + s.Program(spans[i].SGR)
	}
	row := screen.Fit(" "+screen.Paint(spans), width, s.Glyphs.Ellipsis)
	if s.ASCII {
		row = ascii(row)
	}
	if sel && base == s.SGR(style.Selection) {
		if n := width - screen.Width(row); n > 0 {
			row += base + strings.Repeat(" ", n) + screen.Reset
		}
	}
	return row
}

// ascii replaces what a terminal without UTF-8 would garble.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, s)
}

package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/paint"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// The smallest screen that is drawn on.
const (
	minWidth  = 20
	minHeight = 8
)

// draw makes the frame: conversation, dock, prompt, status line, from top to
// bottom. It has exactly the rows of the screen, none wider than it.
func (m *Model) draw() {
	if m.width < minWidth || m.height < minHeight {
		m.cursor = nil
		m.show([]string{screen.Fit("terminal too small", max(m.width, 1), "")})
		return
	}
	s := m.sheet()
	prompt, x, y := m.composer.Rows(m.width, min(max(m.height/3, 1), 10), s.Glyphs.Prompt+" ", s)
	below := 2 + len(prompt) // rule, prompt, status
	dock, dockX, dockY := m.dock(m.height - below - 1)
	room := m.height - below - len(dock)
	rows := make([]string, 0, m.height)
	rows = append(rows, m.transcript.View(room)...)
	top := len(rows)
	rows = append(rows, dock...)
	rows = append(rows, s.Paint(style.Border, strings.Repeat(s.Glyphs.Rule, m.width)))
	promptAt := len(rows)
	rows = append(rows, prompt...)
	rows = append(rows, m.statusLine(m.width))
	m.runJobs()
	switch {
	case dockY >= 0:
		m.cursor = tea.NewCursor(dockX, top+dockY)
	case m.modal():
		m.cursor = nil
	default:
		m.cursor = tea.NewCursor(x, promptAt+y)
	}
	if m.cursor != nil {
		m.cursor.Blink = false
		m.cursor.Shape = tea.CursorBar
	}
	m.show(m.place(rows))
	m.firstFrame()
}

// modal reports whether keys go elsewhere than to the prompt.
func (m *Model) modal() bool {
	return len(m.asks) > 0 || m.dialog != nil || (m.panel != nil && m.panel.Focused)
}

// show makes rows the frame, and has it painted.
func (m *Model) show(rows []string) {
	m.rows = rows
	if m.screen == nil {
		return
	}
	f := paint.Frame{Rows: rows, Width: m.width, Height: m.height, X: -1}
	if m.cursor != nil {
		f.X, f.Y = m.cursor.X, m.cursor.Y
	}
	m.screen.Show(f)
}

// place checks the rows. Every part keeps to its room and takes out what others
// wrote that could move the cursor; this is the wall behind them: whatever a
// part did, nothing but text and colours reaches the screen, and inside of it.
//
// Most rows are ones of the frame before, there or a few rows off; what was
// checked then is known.
func (m *Model) place(rows []string) []string {
	if len(rows) > m.height {
		rows = rows[len(rows)-m.height:]
	}
	if m.checked.width != m.width || m.checked.ascii != m.look.ascii {
		m.checked = checkedRows{width: m.width, ascii: m.look.ascii}
	}
	out := make([]string, len(rows))
	off := 0
	for i, r := range rows {
		at := m.checked.find(r, i+off)
		if at < 0 {
			out[i] = m.check(r)
			continue
		}
		out[i], off = m.checked.out[at], at-i
	}
	m.checked.in, m.checked.out = rows, out
	return out
}

// checkedRows are the rows of the last frame, before and after the check.
type checkedRows struct {
	width   int
	ascii   bool
	in, out []string
}

// find returns where r was in the last frame, looking at a place first and then
// at those near it; -1 if nowhere.
func (c *checkedRows) find(r string, at int) int {
	const near = 12
	for d := range near {
		if i := at + d; i >= 0 && i < len(c.in) && c.in[i] == r {
			return i
		}
		if i := at - d; i >= 0 && i < len(c.in) && c.in[i] == r {
			return i
		}
	}
	return -1
}

func (m *Model) check(r string) string {
	if !screen.Safe(r) {
		r = strings.ReplaceAll(screen.CleanSGR(r), "\n", " ")
	}
	if screen.Width(r) > m.width {
		r = screen.Fit(r, m.width, "")
	}
	if m.look.ascii {
		r = asciiRow(r)
	}
	return r
}

// asciiRow replaces what a terminal without UTF-8 would garble, by as many
// question marks as it is wide.
func asciiRow(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < utf8.RuneSelf {
			continue
		}
		var b strings.Builder
		for _, r := range s {
			if r < utf8.RuneSelf {
				b.WriteRune(r)
			} else {
				b.WriteString(strings.Repeat("?", screen.Width(string(r))))
			}
		}
		return b.String()
	}
	return s
}

// dock is what stands between the conversation and the prompt: a question, or
// a dialog, or a panel; then the queue and the completions.
func (m *Model) dock(room int) (rows []string, x, y int) {
	x, y = -1, -1
	most := max(min(m.height*6/10, room), 1)
	s := m.sheet()
	switch {
	case len(m.asks) > 0:
		rows, x, y = m.asks[0].Rows(m.width, most, s)
	case m.dialog != nil:
		rows, x, y = m.dialog.Rows(m.width, most, s)
	case m.panel != nil:
		hint := "esc closes"
		if !m.panel.Focused {
			hint = m.keys.First("focus-panel") + " to use it"
		}
		m.sizePanel(most)
		rows = m.panel.Rows(m.width, most, hint, s)
	}
	room -= len(rows)
	if len(m.asks) == 0 && m.dialog == nil {
		rows = append(rows, m.queueRows(min(room, 3))...)
		room = min(room, 8)
		rows = append(rows, m.complete.rows(m.width, max(min(room, m.height/3), 0), s)...)
	}
	return rows, x, y
}

func (m *Model) queueRows(most int) []string {
	if len(m.queue) == 0 || most <= 0 {
		return nil
	}
	s := m.sheet()
	var rows []string
	for i, text := range m.queue {
		if i == most-1 && len(m.queue) > most {
			rows = append(rows, screen.Fit(s.Paint(style.Queue, "queued: ")+s.Paint(style.Muted, "and more"), m.width, ""))
			break
		}
		rows = append(rows, screen.Fit(s.Paint(style.Queue, "queued: ")+s.Paint(style.Muted, screen.Display(screen.Line(text))), m.width, s.Glyphs.Ellipsis))
	}
	return rows
}

// firstFrame tells once that there is something to see.
func (m *Model) firstFrame() {
	if m.drawn {
		return
	}
	m.drawn = true
	if f := m.opt.Ready; f != nil {
		m.do(func() tea.Msg { f(); return nil })
	}
}

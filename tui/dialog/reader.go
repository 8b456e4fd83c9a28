package dialog

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/viewport"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// A Reader shows a longer text. It scrolls, and what is typed leaves the rows
// that have it.
type Reader struct {
	Title string
	// Draw returns the rows for a width.
	Draw func(width int, s *style.Sheet) []string

	view  viewport.Model
	query string
	rows  []string // as drawn for width and sheet
	width int
	sheet *style.Sheet
	stale bool // the view does not show rows and query
}

// Cancel closes it.
func (r *Reader) Cancel() {}

// Paste looks for the text.
func (r *Reader) Paste(text string) { r.find(r.query + screen.Line(text)) }

func (r *Reader) find(query string) {
	r.query, r.stale = query, true
	r.view.GotoTop()
}

// Key scrolls, looks for text, or closes.
func (r *Reader) Key(k keys.Key, _ time.Time) bool {
	switch k.Chord {
	case "esc", "ctrl+c":
		if r.query == "" {
			return true
		}
		r.find("")
	case "enter", "ctrl+m":
		return true
	case "up", "ctrl+p":
		r.view.ScrollUp(1)
	case "down", "ctrl+n":
		r.view.ScrollDown(1)
	case "pgup":
		r.view.PageUp()
	case "pgdown":
		r.view.PageDown()
	case "home":
		r.view.GotoTop()
	case "end":
		r.view.GotoBottom()
	case "backspace", "ctrl+h":
		if q := []rune(r.query); len(q) > 0 {
			r.find(string(q[:len(q)-1]))
		}
	default:
		if k.Text != "" {
			r.find(r.query + k.Text)
		}
	}
	return false
}

// Rows draws the title and the part of the text that is in view.
func (r *Reader) Rows(width, height int, s *style.Sheet) ([]string, int, int) {
	if r.rows == nil || r.width != width || r.sheet != s {
		r.rows, r.width, r.sheet, r.stale = r.Draw(width, s), width, s, true
	}
	if r.stale {
		r.view.SetWidth(width)
		r.view.SetContentLines(r.matching())
		r.stale = false
	}
	r.view.SetHeight(max(min(height-1, r.view.TotalLineCount()), 0))
	at, hint := r.hint()
	rows := []string{bar(r.Title, at, hint, width, s)}
	if r.view.Height() > 0 {
		for _, row := range strings.Split(r.view.View(), "\n") {
			rows = append(rows, strings.TrimRight(row, " "))
		}
	}
	return rows[:min(len(rows), max(height, 0))], -1, -1
}

func (r *Reader) hint() (at, keys string) {
	if r.query != "" {
		return fmt.Sprintf("%d with %q", r.view.TotalLineCount(), r.query), "esc shows all"
	}
	keys = "esc closes, type to find"
	if r.view.TotalLineCount() > r.view.Height() {
		return fmt.Sprintf("%d%%", int(100*r.view.ScrollPercent())), "pgdn scrolls, " + keys
	}
	return "", keys
}

// matching are the rows with the query in them.
func (r *Reader) matching() []string {
	if r.query == "" {
		return append([]string(nil), r.rows...)
	}
	var out []string
	query := strings.ToLower(r.query)
	for _, row := range r.rows {
		if strings.Contains(strings.ToLower(screen.Clean(row)), query) {
			out = append(out, row)
		}
	}
	return out
}

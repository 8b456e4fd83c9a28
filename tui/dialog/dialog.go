// Package dialog holds what is docked above the prompt and takes the keys while
// it is there: a question ([Question]), a list to pick from ([Picker]), a line
// to fill in ([Input]) and a text to read ([Reader]).
//
// A dialog draws rows and takes keys; it starts nothing and reads no clock.
// What it decides, it hands to the function that it was made with.
package dialog

import (
	"strings"
	"time"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// A Dialog is one of these.
type Dialog interface {
	// Rows draws in at most height rows of at most width columns. caret is
	// the column and row of the text caret, or -1, -1.
	Rows(width, height int, s *style.Sheet) (rows []string, x, y int)
	// Key takes a key at the time now and reports whether the dialog is over.
	Key(k keys.Key, now time.Time) (closed bool)
	// Paste takes pasted text.
	Paste(text string)
	// Cancel ends the dialog as Esc does.
	Cancel()
}

// Guard is how long after it opened a dialog takes no answer: a key that was
// meant for the prompt must not approve anything.
const Guard = 250 * time.Millisecond

// bar is the title row: the title, where one is in what there is, what keys do.
func bar(title, at, hint string, width int, s *style.Sheet) string {
	text := s.Paint(style.DialogTitle, s.Glyphs.Rule+" "+screen.Line(title))
	if at != "" {
		text += s.Paint(style.Muted, " "+at)
	}
	if hint != "" {
		text += "  " + hints(hint, width-screen.Width(text)-2, s)
	}
	text = screen.Fit(screen.Display(text), width, s.Glyphs.Ellipsis)
	if n := width - screen.Width(text) - 1; n > 0 {
		text += " " + s.Paint(style.Border, strings.Repeat(s.Glyphs.Rule, n))
	}
	return text
}

// pointed draws one choice of a list: the chosen one is marked by a pointer and
// by its look.
func pointed(text string, chosen bool, width int, s *style.Sheet) string {
	if !chosen {
		return screen.Fit("  "+text, width, s.Glyphs.Ellipsis)
	}
	row := screen.Fit(s.Glyphs.Pointer+" "+screen.Clean(text), width, s.Glyphs.Ellipsis)
	return s.Paint(style.Selection, screen.Pad(row, width))
}

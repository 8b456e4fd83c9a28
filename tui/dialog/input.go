package dialog

import (
	"strings"
	"time"

	"github.com/patriceckhart/zot/tui/composer"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// An Input asks for one line of text.
type Input struct {
	Title string
	Help  string
	// Secret hides what is typed: for keys and passwords.
	Secret bool
	Done   func(text string)
	// Each key that changes the text is told; or nil.
	Changed   func(text string)
	Cancelled func()
	// Extra keys keep the input open.
	Extra map[string]func(text string)

	text composer.Composer
}

// Set fills in text.
func (in *Input) Set(text string) *Input {
	in.text.SetText(text)
	return in
}

// Cancel closes without a text.
func (in *Input) Cancel() {
	if in.Cancelled != nil {
		in.Cancelled()
	}
}

// Paste adds the text, on one line.
func (in *Input) Paste(text string) {
	in.text.Insert(strings.TrimSpace(screen.Line(text)))
	in.changed()
}

func (in *Input) changed() {
	if in.Changed != nil {
		in.Changed(in.text.Text())
	}
}

var inputSteps = map[string]composer.Step{
	"left": composer.Left, "right": composer.Right, "home": composer.LineStart, "end": composer.LineEnd,
	"ctrl+a": composer.LineStart, "ctrl+e": composer.LineEnd, "backspace": composer.Backspace, "ctrl+h": composer.Backspace,
	"delete": composer.Delete, "ctrl+w": composer.KillWord, "ctrl+u": composer.KillToHome, "ctrl+k": composer.KillToEnd,
	"alt+left": composer.WordLeft, "alt+right": composer.WordRight,
}

// Key edits or ends.
func (in *Input) Key(k keys.Key, _ time.Time) bool {
	if f, ok := in.Extra[k.Chord]; ok {
		f(in.text.Text())
		return false
	}
	switch k.Chord {
	case "esc", "ctrl+c":
		in.Cancel()
		return true
	case "enter", "ctrl+m":
		if in.Done != nil {
			in.Done(in.text.Text())
		}
		return true
	}
	if step, ok := inputSteps[k.Chord]; ok {
		in.text.Do(step)
	} else if k.Text != "" {
		in.text.Insert(k.Text)
	}
	in.changed()
	return false
}

// Rows draws the title, the line and the help.
func (in *Input) Rows(width, height int, s *style.Sheet) ([]string, int, int) {
	rows := []string{bar(in.Title, "", "", width, s)}
	line, x, y := in.text.Rows(width, max(min(3, height-1), 1), s.Glyphs.Prompt+" ", s)
	if in.Secret {
		n := min(len([]rune(in.text.Text())), max(width-4, 0))
		line, x, y = []string{s.Paint(style.Accent, s.Glyphs.Prompt+" ") + strings.Repeat("*", n)}, 2+n, 0
	}
	rows = append(rows, line...)
	if in.Help != "" {
		rows = append(rows, screen.Fit("  "+s.Paint(style.Muted, screen.Line(in.Help)), width, s.Glyphs.Ellipsis))
	}
	if len(rows) > height {
		rows = rows[:max(height, 0)]
	}
	return rows, x, min(y+1, len(rows)-1)
}

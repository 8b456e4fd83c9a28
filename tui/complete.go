package tui

import (
	"strings"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// completion is the list above the prompt: commands after a slash, their
// arguments, files after an at sign.
type completion struct {
	items     []choice
	at        int
	moved     bool // the user chose, with the arrows
	replace   int  // characters before the caret that a choice replaces
	kind      byte // '/', ' ' for arguments, '@'; 0 for none
	first     int
	dismissed bool // closed by Esc; until the prompt is empty again

	filesAsked int      // counts requests, so that a late list is dropped
	args       argCache // arguments of commands, fetched once
}

type choice struct {
	text, detail string
	group        string // a divider stands before the first of a group
	more         bool   // arguments may follow
}

func (c *completion) close() {
	c.items, c.kind, c.at, c.first, c.moved = nil, 0, 0, 0, false
}

// open shows the list again after Esc, or takes the marked choice.
func (c *completion) open(m *Model) {
	if c.kind != 0 {
		c.take(m)
		return
	}
	c.dismissed = false
	c.update(m)
	if len(c.items) == 1 {
		c.take(m)
	}
}

// update follows the text of the prompt.
func (c *completion) update(m *Model) {
	if m.composer.Empty() {
		c.dismissed = false
	}
	m.history.Leave()
	before := m.composer.Before()
	c.close()
	if c.dismissed {
		return
	}
	if strings.HasPrefix(before, "/") && !strings.Contains(before, "\n") {
		c.slash(m, before)
		return
	}
	if word, ok := atWord(before); ok {
		c.kind, c.replace = '@', len([]rune(word))+1
		c.askFiles(m, word)
	}
}

func (c *completion) slash(m *Model, before string) {
	head, rest, hasArgs := strings.Cut(before[1:], " ")
	if hasArgs {
		c.arguments(m, head, strings.TrimLeft(rest, " "))
		return
	}
	if strings.Contains(head, "/") {
		return // a path
	}
	if strings.HasPrefix(strings.ToLower(head), skillPrefix) {
		c.skills(m, before)
		return
	}
	c.kind, c.replace = '/', len([]rune(before))
	c.items = matchCommands(m.allCommands(), head)
	if len(c.items) == 0 {
		c.kind = 0
	}
}

// matchCommands puts names that begin with head before those that contain it.
func matchCommands(all []command.Command, head string) []choice {
	head = command.Fold(head)
	var starts, holds []choice
	for _, cmd := range all {
		name := command.Fold(cmd.Name)
		ch := choice{text: "/" + screen.Line(cmd.Name), detail: screen.Line(cmd.Description), more: cmd.Args != ""}
		if cmd.Extension != "" {
			ch.group = "extensions"
			ch.more = true
			if ch.detail == "" {
				ch.detail = "(" + screen.Line(cmd.Extension) + ")"
			}
		}
		switch {
		case strings.HasPrefix(name, head):
			starts = append(starts, ch)
		case strings.Contains(name, head):
			holds = append(holds, ch)
		}
	}
	return append(starts, holds...)
}

// atWord is the file name that is being typed after an at sign.
func atWord(before string) (string, bool) {
	i := strings.LastIndexByte(before, '@')
	if i < 0 || (i > 0 && !strings.ContainsRune(" \n\t(", rune(before[i-1]))) {
		return "", false
	}
	word := before[i+1:]
	return word, !strings.ContainsAny(word, " \n\t") && len(word) < 200
}

// key handles a key while the list is open, and reports whether it did.
func (c *completion) key(m *Model, k keys.Key) bool {
	if c.kind == 0 {
		return false
	}
	switch k.Chord {
	case "esc":
		c.close()
		c.dismissed = true
		return true
	}
	if len(c.items) == 0 {
		return false
	}
	switch k.Chord {
	case "up", "ctrl+p":
		c.at, c.moved = (c.at+len(c.items)-1)%len(c.items), true
	case "down", "ctrl+n":
		c.at, c.moved = (c.at+1)%len(c.items), true
	case "tab":
		c.take(m)
	case "enter":
		return c.enter(m)
	default:
		return false
	}
	return true
}

// enter takes the marked choice and, where it is a whole command, runs it. A
// text that is a command already runs as it is.
func (c *completion) enter(m *Model) bool {
	switch c.kind {
	case '/':
		typed := command.Fold(m.composer.Before())
		if !c.moved {
			for _, it := range c.items {
				if command.Fold(it.text) == typed {
					return false
				}
			}
			if !strings.HasPrefix(command.Fold(c.items[0].text), typed) {
				return false
			}
		}
		more := c.items[c.at].more
		c.take(m)
		if !more {
			m.send()
		}
		return true
	case ' ':
		if !c.moved {
			return false
		}
		c.take(m)
		m.send()
		return true
	}
	c.take(m)
	return true
}

// take puts the marked choice into the prompt.
func (c *completion) take(m *Model) {
	if c.at >= len(c.items) {
		return
	}
	it := c.items[c.at]
	text := it.text
	if c.kind == '@' {
		text = "@" + text
	}
	if !strings.HasSuffix(text, "/") && (c.kind != '/' || it.more) {
		text += " "
	}
	kind := c.kind
	m.composer.ReplaceBefore(c.replace, text)
	c.close()
	if strings.HasSuffix(text, "/") || (kind == '/' && it.more) {
		c.update(m)
	}
}

// rows draws the list in at most height rows.
func (c *completion) rows(width, height int, s *style.Sheet) []string {
	if height <= 0 || len(c.items) == 0 {
		return nil
	}
	if c.at < c.first {
		c.first = c.at
	} else if c.at >= c.first+height {
		c.first = c.at - height + 1
	}
	c.first = max(min(c.first, len(c.items)-height), 0)
	wide := 0
	for _, it := range c.items {
		wide = max(wide, screen.Width(it.text))
	}
	wide = min(wide, max(width/2, 8))
	var rows []string
	for i := c.first; i < len(c.items) && len(rows) < height; i++ {
		rows = append(rows, c.row(i, wide, width, s))
	}
	return rows
}

func (c *completion) row(i, wide, width int, s *style.Sheet) string {
	it := c.items[i]
	text := screen.Pad(screen.FitLeft(it.text, max(wide, 1), s.Glyphs.Ellipsis), wide)
	detail := it.detail
	if it.group != "" {
		detail = strings.TrimSpace(detail + "  [" + it.group + "]")
	}
	if i == c.at {
		return s.Paint(style.Selection, screen.Pad(screen.Fit(s.Glyphs.Pointer+" "+text+"  "+screen.Display(detail), width, s.Glyphs.Ellipsis), width))
	}
	return screen.Fit("  "+s.Paint(style.FG, text)+"  "+s.Paint(style.Muted, screen.Display(detail)), width, s.Glyphs.Ellipsis)
}

// Package composer is the text that the user writes: many lines, edited by
// whole visible characters, with long pastes and pictures as single tokens.
//
// A [Composer] knows nothing of keys: it offers the editing steps by name (see
// [Composer.Do]), and whoever owns the keyboard maps keys to them.
package composer

import (
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
)

// A glyph is one visible character, or a token that behaves like one.
type glyph struct {
	text  string
	token *token
}

// A token stands for a paste or a picture.
type token struct {
	label string
	paste string
	image *message.Image
}

func (g glyph) shown() string {
	if g.token != nil {
		return g.token.label
	}
	if g.text != "" && g.text[0] < 0x20 && g.text != "\n" {
		return screen.Visible(g.text)
	}
	return screen.Display(g.text)
}

// A paste of more lines or bytes than these becomes a token.
const (
	pasteLines = 10
	pasteBytes = 1000
)

// A Composer is used by one goroutine only. The zero value is ready.
type Composer struct {
	buf    []glyph
	caret  int // between glyphs
	goal   int // column that up and down try to keep; -1 for none
	pastes int
	images int

	undo, redo []state
	typing     bool // the last change was typing, which one undo takes back whole

	kills   [][]glyph
	yanked  int // glyphs that the last step yanked; 0 for none
	killing bool

	width int // of the last layout
}

type state struct {
	buf   []glyph
	caret int
}

// Empty reports whether there is nothing to send.
func (c *Composer) Empty() bool { return len(c.buf) == 0 }

// Text is everything, pastes in full and pictures left out.
func (c *Composer) Text() string { return textOf(c.buf, false) }

// Shown is the text as it is on screen, with tokens as their labels.
func (c *Composer) Shown() string { return textOf(c.buf, true) }

func textOf(buf []glyph, labels bool) string {
	var b strings.Builder
	for _, g := range buf {
		switch {
		case g.token == nil:
			b.WriteString(g.text)
		case labels:
			b.WriteString(g.token.label)
		default:
			b.WriteString(g.token.paste)
		}
	}
	return b.String()
}

// Before is the shown text left of the caret.
func (c *Composer) Before() string { return textOf(c.buf[:c.caret], true) }

// Images lists the pictures, in order.
func (c *Composer) Images() []message.Image {
	var out []message.Image
	for _, g := range c.buf {
		if g.token != nil && g.token.image != nil {
			out = append(out, *g.token.image)
		}
	}
	return out
}

// A Draft is the state of a composer, to come back to.
type Draft struct {
	buf   []glyph
	caret int
}

// Draft returns the present state.
func (c *Composer) Draft() Draft { return Draft{append([]glyph(nil), c.buf...), c.caret} }

// Restore brings a draft back; undo leads to what was there before.
func (c *Composer) Restore(d Draft) {
	c.save()
	c.buf, c.caret, c.goal = append([]glyph(nil), d.buf...), d.caret, -1
}

// SetText replaces everything; the caret is at the end.
func (c *Composer) SetText(text string) {
	c.save()
	c.buf = glyphs(text)
	c.caret, c.goal = len(c.buf), -1
}

// Clear empties it. Undo brings the text back.
func (c *Composer) Clear() {
	if len(c.buf) > 0 {
		c.save()
		c.buf, c.caret, c.goal = nil, 0, -1
	}
}

// Insert types text at the caret.
func (c *Composer) Insert(text string) {
	if text == "" {
		return
	}
	if !c.typing || strings.ContainsAny(text, " \n") {
		c.save()
	}
	c.typing = true
	c.insert(glyphs(normal(text)))
	c.join()
}

// Paste inserts pasted text; a long one as a token.
func (c *Composer) Paste(text string) {
	text = normal(text)
	if text == "" {
		return
	}
	c.save()
	lines := strings.Count(text, "\n") + 1
	if strings.HasSuffix(text, "\n") {
		lines--
	}
	if lines <= pasteLines && len(text) <= pasteBytes {
		c.insert(glyphs(text))
		c.join()
		return
	}
	c.pastes++
	label := fmt.Sprintf("[paste #%d +%d lines]", c.pastes, lines)
	if lines <= pasteLines {
		label = fmt.Sprintf("[paste #%d %d characters]", c.pastes, len([]rune(text)))
	}
	c.insert([]glyph{{token: &token{label: label, paste: text}}})
}

// AddImage inserts a picture as a token; about says what it is ("640x480 png").
func (c *Composer) AddImage(img message.Image, about string) {
	c.save()
	c.images++
	c.insert([]glyph{{token: &token{label: fmt.Sprintf("[image %d: %s]", c.images, about), image: &img}}})
}

// normal makes line ends LF and takes out controls that no prompt means; the
// text is otherwise what was put in, to the byte.
func normal(text string) string {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	clean := true
	for i := 0; i < len(text); i++ {
		if b := text[i]; (b < 0x20 && b != '\n' && b != '\t') || b == 0x7f || b >= 0x80 {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	return strings.Map(func(r rune) rune {
		if (r < 0x20 && r != '\n' && r != '\t') || (r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, stripSequences(text))
}

// stripSequences takes out whole escape sequences, so that no "[31m" is left
// of a colour. Tabs and invisible characters stay: they are text.
func stripSequences(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexAny(s, "\x1b\u009b")
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i+sequence(s[i:]):]
	}
	return b.String()
}

// sequence is the length of the escape sequence at the start of s.
func sequence(s string) int {
	i := 1
	switch {
	case strings.HasPrefix(s, "\u009b"):
		i = 2
	case len(s) > 1 && s[1] == '[':
		i = 2
	case len(s) > 1 && strings.IndexByte("]PX^_", s[1]) >= 0:
		if j := strings.IndexAny(s, "\a\n"); j >= 0 && s[j] == '\a' {
			return j + 1
		}
		if j := strings.Index(s, "\x1b\\"); j > 0 {
			return j + 2
		}
		return 2
	default:
		return min(2, len(s))
	}
	for ; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
	}
	return i
}

func glyphs(text string) []glyph {
	out := make([]glyph, 0, len(text))
	for text != "" {
		var c string
		if text[0] == '\n' {
			c, text = text[:1], text[1:]
		} else {
			c, text, _ = screen.Cluster(text)
		}
		out = append(out, glyph{text: c})
	}
	return out
}

func (c *Composer) insert(gs []glyph) {
	buf := make([]glyph, 0, len(c.buf)+len(gs))
	buf = append(append(append(buf, c.buf[:c.caret]...), gs...), c.buf[c.caret:]...)
	c.buf = buf
	c.caret += len(gs)
	c.goal, c.yanked, c.killing = -1, 0, false
}

// join merges the glyph before the caret with its neighbours where they make
// one visible character together: an accent that came after its letter, the
// second half of a flag.
func (c *Composer) join() {
	for at := c.caret; at > 0 && at >= c.caret-1; at-- {
		lo := max(at-2, 0)
		if at-lo < 2 {
			return
		}
		a, b := c.buf[lo], c.buf[lo+1]
		if a.token != nil || b.token != nil || a.text == "\n" || b.text == "\n" {
			continue
		}
		if cl, rest, _ := screen.Cluster(a.text + b.text); rest == "" && cl != "" {
			merged := append(append([]glyph(nil), c.buf[:lo]...), glyph{text: cl})
			c.buf = append(merged, c.buf[lo+2:]...)
			c.caret--
		}
	}
}

// maxUndo bounds how far back undo goes.
const maxUndo = 200

func (c *Composer) save() {
	c.undo = append(c.undo, state{append([]glyph(nil), c.buf...), c.caret})
	if len(c.undo) > maxUndo {
		c.undo = append([]state(nil), c.undo[1:]...)
	}
	c.redo, c.typing = nil, false
}

package runcmd

import (
	"strings"
	"unicode"
)

// clean removes terminal control sequences and control characters from text of
// a model, a tool or an extension; newlines and tabs stay.
func clean(text string) string {
	if !strings.ContainsFunc(text, control) {
		return text
	}
	var c cleaner
	return c.clean(text)
}

func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// A cleaner cleans text that comes in pieces: a sequence may begin in one and
// end in another. A sequence that does not end ends with its line, so that it
// cannot swallow what follows.
type cleaner struct{ state cleanState }

type cleanState int

const (
	ground    cleanState = iota
	escape               // after ESC
	inter                // after ESC and a character that wants one more
	sequence             // in a control sequence: ESC [ …
	str                  // in a string: ESC ] … and its kind
	strEscape            // after an ESC in a string
)

// clean returns what of the next piece may be shown.
func (c *cleaner) clean(text string) string {
	if c.state == ground && !strings.ContainsFunc(text, control) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if c.shows(r) {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// shows takes the next character and says whether it is text.
func (c *cleaner) shows(r rune) bool {
	if r == '\n' {
		c.state = ground
		return true
	}
	switch c.state {
	case ground:
		return c.begin(r)
	case escape, strEscape:
		return c.afterEscape(r)
	case inter:
		return c.within(r, 0x20, 0x2f)
	case sequence:
		return c.within(r, 0x20, 0x3f)
	}
	switch r { // in a string
	case 0x07, 0x9c:
		c.state = ground
	case 0x1b:
		c.state = strEscape
	}
	return false
}

// begin takes a character outside of any sequence.
func (c *cleaner) begin(r rune) bool {
	switch r {
	case 0x1b:
		c.state = escape
	case 0x9b:
		c.state = sequence
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		c.state = str
	default:
		return !control(r)
	}
	return false
}

func (c *cleaner) afterEscape(r rune) bool {
	switch {
	case r == '[':
		c.state = sequence
	case strings.ContainsRune("]PX^_", r):
		c.state = str
	case r >= 0x20 && r <= 0x2f:
		c.state = inter
	case r > 0x7e:
		c.state = ground
		return c.begin(r)
	case r != 0x1b: // the character that ends it, ST's among them
		c.state = ground
	}
	return false
}

// within takes a character of a sequence whose inner ones are from lo to hi.
func (c *cleaner) within(r, lo, hi rune) bool {
	switch {
	case r == 0x1b:
		c.state = escape
	case r >= lo && r <= hi || r < 0x20:
	case r > 0x7e:
		c.state = ground
		return c.begin(r)
	default:
		c.state = ground
	}
	return false
}

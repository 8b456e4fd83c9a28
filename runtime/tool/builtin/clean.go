package builtin

import (
	"bytes"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
)

const (
	// maxHeldLine is how much of an unfinished line is held back in case a
	// carriage return takes it back.
	maxHeldLine = 64 << 10
	// maxSequence is the longest control sequence; longer is no sequence.
	maxSequence = 1 << 20
)

// A cleaner turns what a program prints for a terminal into plain text: no
// control sequence, of a line that was drawn over and over only what it
// showed last, and nothing that is not UTF-8. It works on a stream in bounded
// memory. The zero value is not usable; see newCleaner.
type cleaner struct {
	emit  func([]byte) // takes clean text, mostly whole lines; must not keep it
	line  []byte       // the unfinished line
	back  bool         // a carriage return came: what follows draws over the line
	part  []byte       // the start of a character that a read cut
	esc   *ansi.Parser // in the middle of a sequence if not in its ground state
	inEsc int          // bytes of the sequence so far; 0 outside

	overdrawn int  // lines that were drawn over
	odd       bool // there were bytes that are not UTF-8
}

func newCleaner(emit func([]byte)) *cleaner {
	c := &cleaner{emit: emit, esc: ansi.NewParser()}
	c.esc.SetHandler(ansi.Handler{HandleCsi: func(cmd ansi.Cmd, params ansi.Params) {
		if col, _, _ := params.Param(0, 1); cmd.Final() == 'G' && col <= 1 {
			c.back = true // to the first column, as a carriage return
		}
	}})
	return c
}

// simple are the bytes that mean what they look like.
var simple = func() (t [256]bool) {
	for b := 0x20; b < 0x7f; b++ {
		t[b] = true
	}
	t['\t'], t['\n'] = true, true
	return t
}()

func (c *cleaner) write(p []byte) {
	if len(c.part) > 0 {
		p = append(c.part, p...)
		c.part = nil
	}
	for len(p) > 0 {
		if c.inEsc > 0 {
			p = c.sequence(p)
			continue
		}
		n := 0
		for n < len(p) && simple[p[n]] {
			n++
		}
		if n > 0 {
			c.put(p[:n])
			p = p[n:]
			continue
		}
		p = c.special(p)
	}
}

// put takes simple bytes. Whole lines go out at once.
func (c *cleaner) put(p []byte) {
	if c.back && p[0] != '\n' && len(c.line) > 0 {
		c.line = c.line[:0]
		c.overdrawn++
	}
	c.back = false
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		if len(c.line) > 0 {
			c.emit(c.line)
			c.line = c.line[:0]
		}
		c.emit(p[:i+1])
		p = p[i+1:]
	}
	c.line = append(c.line, p...)
	if len(c.line) > maxHeldLine {
		c.flush()
	}
}

// special takes one character that is not simple.
func (c *cleaner) special(p []byte) []byte {
	switch b := p[0]; {
	case b == '\r':
		c.back = true
	case b == '\b':
		_, n := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-n]
	case b == 0x1b:
		c.inEsc = 1
		c.esc.Reset()
		c.esc.Advance(b)
	case b == 0:
		c.put([]byte("␀")) // it may separate names, so it must show
	case b == '\f' || b == '\v':
		c.put([]byte{'\n'})
	case b < utf8.RuneSelf: // bell and other controls
	default:
		return c.character(p)
	}
	return p[1:]
}

// character takes one character beyond ASCII.
func (c *cleaner) character(p []byte) []byte {
	if !utf8.FullRune(p) {
		c.part = append([]byte(nil), p...)
		return nil
	}
	r, n := utf8.DecodeRune(p)
	switch {
	case r == utf8.RuneError && n == 1:
		c.odd = true
		c.put([]byte("\uFFFD"))
	case r >= 0x80 && r < 0xa0: // controls of eight bits
	default:
		c.put(p[:n])
	}
	return p[n:]
}

// sequence takes bytes of a control sequence up to its end.
func (c *cleaner) sequence(p []byte) []byte {
	for i, b := range p {
		if b == '\n' || c.inEsc > maxSequence { // broken off: no sequence holds a newline
			c.inEsc = 0
			return p[i:]
		}
		c.esc.Advance(b)
		c.inEsc++
		if c.esc.State() == parser.GroundState {
			c.inEsc = 0
			return p[i+1:]
		}
	}
	return nil
}

// flush gives out the unfinished line.
func (c *cleaner) flush() {
	if len(c.line) > 0 {
		c.emit(c.line)
		c.line = c.line[:0]
	}
}

// finish gives out what is left at the end of the stream.
func (c *cleaner) finish() {
	if len(c.part) > 0 {
		c.part, c.odd = nil, true
		c.put([]byte("\uFFFD"))
	}
	c.flush()
}

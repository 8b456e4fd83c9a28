// Package iostreams holds a command's three streams and what is known of each:
// whether a person sits behind it, and whether it may be coloured. Each stream
// is judged by itself.
package iostreams

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// Streams are a command's input, answer and everything else.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	InTerminal, OutTerminal, ErrTerminal bool
	// NoColor says that the user asked for no colour, or TERM cannot show any.
	NoColor bool
}

// System returns the streams of the process.
func System() *Streams {
	return &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal:  isTerminal(os.Stdin),
		OutTerminal: isTerminal(os.Stdout),
		ErrTerminal: isTerminal(os.Stderr),
		NoColor:     os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Test returns streams in memory, none of them a terminal.
func Test(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = &bytes.Buffer{}, &bytes.Buffer{}
	return &Streams{In: bytes.NewBufferString(in), Out: out, Err: err}, out, err
}

// Style returns text in an SGR style ("1" bold, "31" red, …) where w is one of
// the streams and may be coloured, else the text alone.
func (s *Streams) Style(w io.Writer, sgr, text string) string {
	terminal := w == s.Out && s.OutTerminal || w == s.Err && s.ErrTerminal
	if s.NoColor || !terminal || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

package paint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"

	"github.com/patriceckhart/zot/tui/screen"
)

// terminal is a screen with an emulator behind it.
type terminal struct {
	emu     *vt.Emulator
	written int
}

func (t *terminal) Write(p []byte) (int, error) {
	t.written += len(p)
	return t.emu.Write(p)
}

// cells lists what is on screen with its looks.
func (t *terminal) cells(w, h int) string {
	var b strings.Builder
	for y := range h {
		for x := range w {
			c := t.emu.CellAt(x, y)
			if c == nil || (c.Content == " " || c.Content == "") && c.Style.IsZero() {
				b.WriteByte(' ')
				continue
			}
			fmt.Fprintf(&b, "%s%s\x1b[m", c.Style.String(), c.Content)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func newTerminal(t *testing.T, w, h int) (*Screen, *terminal) {
	t.Helper()
	term := &terminal{emu: vt.NewEmulator(w, h)}
	s := New(term, Options{})
	if _, err := s.Write([]byte("\x1b[?1049h")); err != nil {
		t.Fatal(err)
	}
	return s, term
}

func show(s *Screen, rows []string, w, h int) {
	s.Show(Frame{Rows: rows, Width: w, Height: h, X: 1, Y: h - 1})
	s.paint()
}

// A frame that is written as what changed looks as one that is written whole.
func TestChangesLookLikeTheWhole(t *testing.T) {
	const w, h = 24, 10
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "longer", "\x1b[1mbold\x1b[m", "\x1b[31mred \x1b[4mline\x1b[m", "宽", "é", "é́", "…", "", " ", "x", "› ", "\x1b[38;2;1;2;3ma\x1b[38;5;9mb\x1b[m", "\x1b[1;38;2;9;9;9mz\x1b[m\x1b[32mg\x1b[48;5;4mh\x1b[m", "⠋ ", "\x1b[7mrest"}
	line := func() string {
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return screen.Fit(b.String(), w, "")
	}
	s, term := newTerminal(t, w, h)
	rows := make([]string, h)
	for step := range 800 {
		rows = append([]string(nil), rows...)
		switch from := r.IntN(h); r.IntN(5) {
		case 0:
			rows[from] = line()
		case 1:
			if rows[from] += words[r.IntN(len(words))]; screen.Width(rows[from]) > w {
				rows[from] = line()
			}
		case 2: // up, with the last rows as they are
			keep, k := r.IntN(4), 1+r.IntN(4)
			copy(rows[:h-keep], rows[min(k, h-keep):h-keep])
			for y := max(h-keep-k, 0); y < h-keep; y++ {
				rows[y] = line()
			}
		case 3: // down
			copy(rows[1:h-2], rows)
			rows[0] = line()
		case 4:
			if _, err := s.Write([]byte("\x1b[2J")); err != nil {
				t.Fatal(err)
			}
		}
		show(s, rows, w, h)
		fresh, whole := newTerminal(t, w, h)
		show(fresh, rows, w, h)
		if got, want := term.cells(w, h), whole.cells(w, h); got != want {
			t.Fatalf("step %d:\n%q\nwant\n%q", step, got, want)
		}
	}
}

func TestOnlyWhatChangedIsWritten(t *testing.T) {
	const w, h = 80, 24
	s, term := newTerminal(t, w, h)
	rows := make([]string, h)
	for i := range rows {
		rows[i] = fmt.Sprintf("row %d with some words in it", i)
	}
	next := func(most int, change func([]string)) {
		t.Helper()
		rows = append([]string(nil), rows...)
		change(rows)
		before := term.written
		show(s, rows, w, h)
		if n := term.written - before; n > most {
			t.Errorf("%d bytes for it, want at most %d", n, most)
		}
	}
	next(1000, func([]string) {})
	next(0, func([]string) {})
	next(40, func(rows []string) { rows[5] += " more" })
	next(70, func(rows []string) { copy(rows[:20], rows[1:20]); rows[19] = "new" })
}

func TestFramesBelongToTheAlternateScreen(t *testing.T) {
	const w, h = 20, 4
	term := &terminal{emu: vt.NewEmulator(w, h)}
	s := New(term, Options{})
	show(s, []string{"early"}, w, h)
	if term.written > 0 {
		t.Error("a frame was written on the first screen")
	}
	write := func(text string) {
		t.Helper()
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	write("\x1b[?1049h")
	if got := term.emu.String(); !strings.HasPrefix(got, "early") {
		t.Errorf("after it was opened: %q", got)
	}
	write("\x1b[?1049l")
	before := term.written
	show(s, []string{"late"}, w, h)
	if term.written > before {
		t.Error("a frame was written after the end")
	}
	write("\x1b[?1049h")
	if got := term.emu.String(); !strings.HasPrefix(got, "late") {
		t.Errorf("after it was opened again: %q", got)
	}
}

func TestCaret(t *testing.T) {
	const w, h = 20, 4
	s, term := newTerminal(t, w, h)
	at := func(x, y int, hidden bool) {
		t.Helper()
		p := term.emu.CursorPosition()
		if term.emu.CursorHidden() != hidden || !hidden && (p.X != x || p.Y != y) {
			t.Errorf("at %d,%d hidden %v, want %d,%d %v", p.X, p.Y, term.emu.CursorHidden(), x, y, hidden)
		}
	}
	for _, held := range []bool{false, true} {
		s.Synchronized(held)
		for i, f := range []Frame{{X: 2, Y: 1}, {X: 3, Y: 1}, {X: -1}, {X: -1, Rows: []string{"text"}}, {X: 0, Y: 3}, {X: 4, Y: 2, Rows: []string{fmt.Sprint(held)}}} {
			f.Width, f.Height = w, h
			s.Show(f)
			s.paint()
			at(f.X, f.Y, f.X < 0)
			if i == 1 { // what the program writes moves it
				if _, err := s.Write([]byte("\x1b[H")); err != nil {
					t.Fatal(err)
				}
				at(3, 1, false)
			}
		}
	}
}

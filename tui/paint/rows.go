package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/patriceckhart/zot/tui/screen"
)

// picture is what is on screen.
type picture struct {
	rows          []string // nil when nothing is known of it
	width, height int
	x, y          int
	hidden        bool
}

// rows appends what changes the rows on screen to those of f.
func (s *Screen) rows(b []byte, f *Frame) []byte {
	w := &s.was
	if w.rows == nil || w.width != f.Width || w.height != f.Height {
		w.rows = make([]string, f.Height)
		w.width, w.height = f.Width, f.Height
		b = append(b, plain...)
		for y := range w.rows {
			before, strip := s.strip(row(f, y))
			b = w.rewrite(b, f, y, before, strip)
		}
		return b
	}
	first, last := w.differs(f)
	if first > last {
		return b
	}
	if !s.opt.Rewrite {
		b = w.scroll(b, f, first, last)
	}
	for y := first; y <= last; y++ {
		now := row(f, y)
		if now == w.rows[y] {
			continue
		}
		if before, strip := s.strip(now); strip != "" {
			b = w.rewrite(b, f, y, before, strip)
		} else {
			b = w.update(b, f, y)
		}
	}
	return b
}

// rewrite writes all of row y: its text, cleared behind, and the strip that
// stands for the rest of it.
func (w *picture) rewrite(b []byte, f *Frame, y int, text, strip string) []byte {
	w.rows[y] = row(f, y)
	return append(writeRow(moveTo(b, 0, y), text, "", 0, f.Width, true), strip...)
}

// strip cuts off the cells of a picture that something is written instead of,
// and returns that.
func (s *Screen) strip(row string) (before, strip string) {
	if len(s.instead) == 0 {
		return row, ""
	}
	at := strings.IndexRune(row, screen.PictureCell)
	if at < 0 {
		return row, ""
	}
	at = max(strings.LastIndex(row[:at], "\x1b["), 0)
	if strip = s.instead[row[at:]]; strip != "" {
		row = row[:at]
	}
	return row, strip
}

func row(f *Frame, y int) string {
	if y < len(f.Rows) {
		return f.Rows[y]
	}
	return ""
}

// differs is the range of rows that are not as f has them; empty if all are.
func (w *picture) differs(f *Frame) (first, last int) {
	last = -1
	for y, old := range w.rows {
		if row(f, y) != old {
			if last < 0 {
				first = y
			}
			last = y
		}
	}
	return first, last
}

// fewest is how many rows must be found in another place for a move to be worth
// its sequences.
const fewest = 3

// scroll moves rows that f has elsewhere, and takes them as on screen there.
func (w *picture) scroll(b []byte, f *Frame, first, last int) []byte {
	by := w.shift(f, first, last)
	if by == 0 {
		return b
	}
	b = append(b, ansi.SetTopBottomMargins(first+1, last+1)...)
	b = moveTo(b, 0, first)
	part := w.rows[first : last+1]
	if by > 0 {
		b = append(b, ansi.DeleteLine(by)...) // those below move up
		copy(part, part[by:])
		clear(part[len(part)-by:])
	} else {
		b = append(b, ansi.InsertLine(-by)...)
		copy(part[-by:], part)
		clear(part[:-by])
	}
	return append(b, "\x1b[r"...)
}

// shift is by how many rows the part from first to last moved up, or down where
// it is negative; 0 if it did not. Only shifts that put the first row with text
// in its place, or the last, are looked at: all others would be for less.
func (w *picture) shift(f *Frame, first, last int) int {
	top, bottom := first, last
	for top < last && row(f, top) == "" {
		top++
	}
	for bottom > first && row(f, bottom) == "" {
		bottom--
	}
	best, by := fewest-1, 0
	try := func(k int) {
		if n := w.same(f, first, last, k); n > best {
			best, by = n, k
		}
	}
	for y := first; y <= last; y++ {
		if old := w.rows[y]; old != "" {
			if old == row(f, top) && y > top {
				try(y - top)
			}
			if old == row(f, bottom) && y < bottom {
				try(y - bottom)
			}
		}
	}
	return by
}

// same counts the rows that would be right if those from first to last moved up
// by k, less those that are right where they are.
func (w *picture) same(f *Frame, first, last, k int) int {
	n := 0
	for y := first; y <= last; y++ {
		want := row(f, y)
		if want == "" {
			continue
		}
		if y+k >= first && y+k <= last && want == w.rows[y+k] {
			n++
		}
		if want == w.rows[y] {
			n--
		}
	}
	return n
}

// update rewrites row y from where it differs.
func (w *picture) update(b []byte, f *Frame, y int) []byte {
	was, now := w.rows[y], row(f, y)
	w.rows[y] = now
	at, col, sgr := common(was, now)
	b = moveTo(b, col, y)
	shorter := was != "" && col+screen.Width(now[at:]) < screen.Width(was)
	return writeRow(b, now[at:], sgr, col, f.Width, shorter)
}

// writeRow appends text that begins at col in the look sgr, and what clears the
// rest of the row if that is wanted.
func writeRow(b []byte, text, sgr string, col, width int, clear bool) []byte {
	w := writer{b: b, want: sgr}
	w.text(text)
	b = w.end()
	// In the last column the cursor waits on the character itself: clearing
	// from there would take it away.
	if clear && col+screen.Width(text) < width {
		b = append(b, clearRow...)
	}
	return b
}

// common finds how far now begins as was does: the byte and the column from
// which it has to be written, and the look in force there. Terminals disagree
// about the width of many characters, so that only those count of which all are
// sure; the rest of the row is written whole. So is the last character that is
// the same: a mark that joins it may follow.
func common(was, now string) (at, col int, look string) {
	n := 0
	for n < len(was) && n < len(now) && was[n] == now[n] {
		n++
	}
	seen, inForce := 0, ""
	for i := 0; i < n; {
		if now[i] == 0x1b {
			end := strings.IndexByte(now[i:n], 'm') + 1
			if end == 0 {
				break
			}
			if seq := now[i : i+end]; seq == plain {
				inForce = ""
			} else {
				inForce += seq
			}
			i += end
			continue
		}
		size := sure(now[i:n])
		if size == 0 {
			break
		}
		at, col, look = i, seen, inForce
		i += size
		seen++
	}
	return at, col, look
}

// sure is the length of the first character of s if it is surely one column
// wide on every terminal, and 0 if not.
func sure(s string) int {
	if s[0] >= 0x20 && s[0] < 0x7f {
		return 1
	}
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == '›', r >= 0x2800 && r <= 0x28ff: // the prompt's mark, the spinner
		return size
	}
	return 0
}

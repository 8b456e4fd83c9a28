// Package screen turns text that others wrote into rows that are safe and fit.
//
// Three things happen to text on its way to a terminal, in this order:
//
//	Clean, CleanSGR   take out what could move the cursor or lie about order
//	Span              give every piece its look
//	Wrap, Fit         cut to rows that are never wider than asked
//
// Widths are terminal columns. They are summed rune by rune, after [Display]
// has taken the marks out on which terminals disagree (emoji variation
// selectors, skin tones, joined emoji), so that our idea of a row and the
// terminal's stay the same with and without grapheme support.
package screen

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
)

// Reset ends every look that a row began.
const Reset = "\x1b[m"

// Width is the number of columns of s; SGR sequences count nothing.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= 0x20 && b < 0x7f:
			n++
		case b == 0x1b && i+1 < len(s) && s[i+1] == '[':
			j := i + 2
			for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j] == ';') {
				j++
			}
			if j == len(s) || s[j] != 'm' {
				return ansi.StringWidthWc(s)
			}
			i = j
		default:
			return ansi.StringWidthWc(s)
		}
	}
	return n
}

// Cluster cuts the first user-perceived character off s and gives its width.
func Cluster(s string) (cluster, rest string, width int) {
	if s == "" {
		return "", "", 0
	}
	if len(s) == 1 || (s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf && !(s[0] == '\r' && s[1] == '\n')) {
		return s[:1], s[1:], 1
	}
	cluster, rest, _, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	return cluster, rest, Width(Display(cluster))
}

// Display is the form of s that is drawn: without variation selectors and skin
// tones, and joined emoji as their parts. Terminals disagree about how wide
// the full forms are.
func Display(s string) string {
	if !strings.ContainsAny(s, "\ufe0f\ufe0e\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for _, r := range s {
		switch {
		case r == 0xfe0f || r == 0xfe0e || (r >= 0x1f3fb && r <= 0x1f3ff):
			continue
		case r == 0x200d && pictograph(prev):
			continue
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

// pictograph reports whether r is of the blocks that emoji come from; a joiner
// after any other rune belongs to a script and stays.
func pictograph(r rune) bool {
	return (r >= 0x2190 && r <= 0x2bff) || (r >= 0x1f000 && r <= 0x1faff)
}

// Fit cuts row to width columns. A row that is cut ends with tail (which must
// be narrower than width) and, if it holds sequences, a reset.
func Fit(row string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	if Width(row) <= width {
		return row
	}
	if w := Width(tail); w >= width {
		tail = ""
	}
	out := ansi.TruncateWc(row, width, tail)
	if strings.Contains(row, "\x1b") {
		out += Reset
	}
	return out
}

// Pad fills row with spaces up to width; a wider row is returned as it is.
func Pad(row string, width int) string {
	if n := width - Width(row); n > 0 {
		return row + strings.Repeat(" ", n)
	}
	return row
}

// FitLeft keeps the end of s, which must hold no sequences, and marks the cut
// with tail; file names and single-line inputs want their end visible.
func FitLeft(s string, width int, tail string) string {
	if Width(s) <= width {
		return s
	}
	room := width - Width(tail)
	if room <= 0 {
		return Fit(s, width, "")
	}
	for Width(s) > room {
		_, s, _ = Cluster(s)
	}
	return tail + s
}

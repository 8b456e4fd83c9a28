package composer

import (
	"strings"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// span is one row of the layout: glyphs from up to to.
type span struct{ from, to int }

// layout breaks the text into rows of at most width columns, after spaces where
// there are any. There is always at least one row.
func (c *Composer) layout(width int) []span {
	width = max(width, 1)
	var rows []span
	from, col, after := 0, 0, -1 // after: where the row may break
	for i := 0; i < len(c.buf); i++ {
		g := c.buf[i]
		if g.text == "\n" {
			rows = append(rows, span{from, i})
			from, col, after = i+1, 0, -1
			continue
		}
		w := glyphWidth(g, width)
		for col+w > width && i > from {
			at := i
			if after > from && g.text != " " {
				at = after
			}
			rows = append(rows, span{from, at})
			from, after = at, -1
			col = 0
			for _, g := range c.buf[from:i] {
				col += glyphWidth(g, width)
			}
		}
		col += w
		if g.text == " " {
			after = i + 1
		}
	}
	return append(rows, span{from, len(c.buf)})
}

func glyphWidth(g glyph, width int) int {
	if g.text == "\t" {
		return min(screen.TabWidth, width)
	}
	return min(screen.Width(g.shown()), width)
}

// caretRow finds the row and column of the caret. At a soft break the caret is
// at the start of the later row.
func (c *Composer) caretAt(rows []span, width int) (row, col int) {
	for i, r := range rows {
		last := i == len(rows)-1 || rows[i+1].from > r.to // ends with a line feed
		if c.caret < r.to || (c.caret == r.to && last) {
			row = i
			break
		}
	}
	for _, g := range c.buf[rows[row].from:c.caret] {
		col += glyphWidth(g, width)
	}
	return row, col
}

func (c *Composer) vertical(step int) bool {
	width := max(c.width, 1)
	rows := c.layout(width)
	row, col := c.caretAt(rows, width)
	if c.goal < 0 {
		c.goal = col
	}
	row += step
	if row < 0 || row >= len(rows) {
		c.goal = -1
		return false
	}
	at, x := rows[row].from, 0
	soft := row+1 < len(rows) && rows[row+1].from == rows[row].to
	for at < rows[row].to && x+glyphWidth(c.buf[at], width) <= c.goal {
		if soft && at+1 == rows[row].to {
			break
		}
		x += glyphWidth(c.buf[at], width)
		at++
	}
	c.caret = at
	return true
}

// Rows draws the text for a width, at most maxRows rows around the caret, and
// says where the caret is. mark stands before the first row.
func (c *Composer) Rows(width, maxRows int, mark string, s *style.Sheet) (rows []string, x, y int) {
	indent := screen.Width(mark)
	room := max(width-indent-1, 1) // a column for the caret after the last character
	c.width = room
	lay := c.layout(room)
	row, col := c.caretAt(lay, room)
	first := 0
	if maxRows = max(maxRows, 1); len(lay) > maxRows {
		first = min(max(row-maxRows+1, 0), len(lay)-maxRows)
	}
	last := min(first+maxRows, len(lay))
	for i := first; i < last; i++ {
		head := strings.Repeat(" ", indent)
		if i == 0 {
			head = s.Paint(style.Accent, mark)
		} else if i == first {
			head = screen.Pad(s.Paint(style.Muted, s.Glyphs.Up), indent)
		}
		rows = append(rows, head+c.row(lay[i], room, s))
	}
	return rows, indent + col, row - first
}

func (c *Composer) row(r span, width int, s *style.Sheet) string {
	var spans []screen.Span
	for _, g := range c.buf[r.from:r.to] {
		switch {
		case g.token != nil:
			spans = append(spans, s.Span(style.Accent, screen.Fit(g.token.label, width, s.Glyphs.Ellipsis)))
		case g.text == "\t":
			spans = append(spans, screen.Span{Text: strings.Repeat(" ", min(screen.TabWidth, width))})
		default:
			spans = append(spans, s.Span(style.FG, g.shown()))
		}
	}
	return screen.Paint(spans)
}

package markdown

import (
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// minColumn is the narrowest that a column is squeezed to; a table that needs
// less is shown as a list of its rows.
const minColumn = 4

type tableRow struct {
	cells  [][]screen.Span
	header bool
}

func (r *renderer) table(n *extast.Table, p prefix) {
	var rows []tableRow
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		_, header := c.(*extast.TableHeader)
		row := tableRow{header: header}
		for cell := c.FirstChild(); cell != nil; cell = cell.NextSibling() {
			l := look{base: style.Table}
			if header {
				l = l.add(r.o.Sheet, style.Strong)
			}
			row.cells = append(row.cells, oneLine(r.inline(cell, l)))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	p, room := r.fit(p)
	widths := columnWidths(rows, room-3*(len(rows[0].cells)-1))
	if widths == nil {
		r.tableAsList(rows, p)
		return
	}
	for _, row := range rows {
		p = r.tableRow(row, widths, n.Alignments, p)
		if row.header {
			var line []screen.Span
			for i, w := range widths {
				if i > 0 {
					line = append(line, r.o.Sheet.Span(style.Border, r.o.Sheet.Glyphs.Rule+"+"+r.o.Sheet.Glyphs.Rule))
				}
				line = append(line, r.o.Sheet.Span(style.Border, strings.Repeat(r.o.Sheet.Glyphs.Rule, w)))
			}
			r.emit(line, p, true)
		}
	}
}

func oneLine(spans []screen.Span) []screen.Span {
	for i := range spans {
		spans[i].Text = strings.ReplaceAll(spans[i].Text, "\n", " ")
	}
	return spans
}

// columnWidths gives every column what it wants, or takes from the widest
// until they fit; nil where they cannot.
func columnWidths(rows []tableRow, room int) []int {
	widths := make([]int, len(rows[0].cells))
	total := 0
	for _, row := range rows {
		for i, cell := range row.cells {
			if i < len(widths) {
				widths[i] = max(widths[i], width(cell), 1)
			}
		}
	}
	for _, w := range widths {
		total += w
	}
	for total > room {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			return nil
		}
		cutBy := max(min(total-room, widths[widest]/8), 1)
		widths[widest] -= cutBy
		total -= cutBy
	}
	return widths
}

// tableRow draws one row, as many lines high as its highest cell.
func (r *renderer) tableRow(row tableRow, widths []int, align []extast.Alignment, p prefix) prefix {
	lines := make([][]string, len(widths))
	height := 1
	for i, w := range widths {
		var cell []screen.Span
		if i < len(row.cells) {
			cell = row.cells[i]
		}
		lines[i] = screen.Wrapper{Width: w}.Rows(cell)
		height = max(height, len(lines[i]))
	}
	sep := r.o.Sheet.Paint(style.Border, " "+r.o.Sheet.Glyphs.Bar+" ")
	for y := range height {
		line := ""
		for i, w := range widths {
			text := ""
			if y < len(lines[i]) {
				text = lines[i][y]
			}
			if i > 0 {
				line += sep
			}
			line += aligned(text, w, i, align)
		}
		r.rows = append(r.rows, strings.TrimRight(screen.Paint(p.first)+line, " "))
		p = p.next()
	}
	return p
}

func aligned(text string, w, i int, align []extast.Alignment) string {
	gap := max(w-screen.Width(text), 0)
	left := 0
	if i < len(align) {
		switch align[i] {
		case extast.AlignRight:
			left = gap
		case extast.AlignCenter:
			left = gap / 2
		}
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", gap-left)
}

// tableAsList writes "heading: cell" a line, for screens too narrow.
func (r *renderer) tableAsList(rows []tableRow, p prefix) {
	head := rows[0]
	for n, row := range rows[1:] {
		if n > 0 {
			r.blank(p)
		}
		for i, cell := range row.cells {
			var line []screen.Span
			if i < len(head.cells) {
				line = append(append(line, head.cells[i]...), screen.Span{Text: ": ", SGR: r.o.Sheet.SGR(style.Muted)})
			}
			r.emit(append(line, cell...), p, false)
			p = p.next()
		}
	}
}

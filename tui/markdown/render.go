package markdown

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

type renderer struct {
	src  []byte
	o    Options
	rows []string
}

// prefix stands before the rows of a block: quote bars, list markers, indents.
// first is for the next row only.
type prefix struct {
	first, rest []screen.Span
	base        style.Token // look of plain text
}

func (p prefix) with(first, rest screen.Span) prefix {
	q := prefix{base: p.base}
	q.first = append(append(q.first, p.first...), first)
	q.rest = append(append(q.rest, p.rest...), rest)
	return q
}

func (p prefix) next() prefix {
	p.first = p.rest
	return p
}

func width(spans []screen.Span) int {
	n := 0
	for _, s := range spans {
		n += screen.Width(s.Text)
	}
	return n
}

// minText is the room that text keeps however deep it is nested.
const minText = 8

// fit drops a prefix that leaves too little room, and says how much there is.
func (r *renderer) fit(p prefix) (prefix, int) {
	room := r.o.Width - max(width(p.first), width(p.rest))
	if room < minText && len(p.rest) > 0 {
		return prefix{base: p.base}, r.o.Width
	}
	return p, room
}

// blank adds an empty row with the prefix of p.
func (r *renderer) blank(p prefix) {
	p, _ = r.fit(p)
	r.rows = append(r.rows, strings.TrimRight(screen.Paint(p.rest), " "))
}

// emit wraps spans behind p and adds the rows.
func (r *renderer) emit(spans []screen.Span, p prefix, hard bool) {
	p, room := r.fit(p)
	first, rest := p.first, p.rest
	rows := screen.Wrapper{Width: max(room, 1), Hard: hard}.Rows(spans)
	for i, row := range rows {
		pre := rest
		if i == 0 {
			pre = first
		}
		r.rows = append(r.rows, strings.TrimRight(screen.Paint(pre)+row, " "))
	}
}

// blocks renders the children of n, a blank row between them unless the
// parent is a tight list.
func (r *renderer) blocks(n ast.Node, p prefix) {
	tight := false
	if item, ok := n.(*ast.ListItem); ok {
		if list, ok := item.Parent().(*ast.List); ok {
			tight = list.IsTight
		}
	}
	before := len(r.rows)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		start := len(r.rows)
		if start > before && !tight {
			r.blank(p)
		}
		was := len(r.rows)
		r.block(c, p)
		if len(r.rows) == was { // nothing drawn: take the blank row back
			r.rows = r.rows[:start]
			continue
		}
		p = p.next()
	}
}

func (r *renderer) block(n ast.Node, p prefix) {
	s := r.o.Sheet
	switch n := n.(type) {
	case *ast.Heading:
		p.base = style.Token("md.heading." + strconv.Itoa(n.Level))
		r.emit(r.inline(n, look{base: p.base}), p, false)
	case *ast.Paragraph, *ast.TextBlock:
		r.emit(r.inline(n, look{base: p.base}), p, false)
	case *ast.Blockquote:
		bar := s.Span(style.Quote, s.Glyphs.Bar+" ")
		q := p.with(bar, bar)
		q.base = style.Quote
		r.blocks(n, q)
	case *ast.List:
		r.list(n, p)
	case *ast.FencedCodeBlock:
		r.code(n.Lines().Value(r.src), string(n.Language(r.src)), p)
	case *ast.CodeBlock:
		r.code(n.Lines().Value(r.src), "", p)
	case *ast.ThematicBreak:
		r.emit([]screen.Span{s.Span(style.Rule, strings.Repeat(s.Glyphs.Rule, max(min(r.o.Width-width(p.rest), 40), 1)))}, p, true)
	case *ast.HTMLBlock:
		raw := n.Lines().Value(r.src)
		if n.HasClosure() {
			raw = append(raw, n.ClosureLine.Value(r.src)...)
		}
		r.emit([]screen.Span{s.Span(style.Muted, strings.TrimRight(string(raw), "\n"))}, p, true)
	case *extast.Table:
		r.table(n, p)
	case *ast.LinkReferenceDefinition:
	default:
		r.blocks(n, p)
	}
}

func (r *renderer) list(n *ast.List, p prefix) {
	s := r.o.Sheet
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		marker := s.Glyphs.Bullet + " "
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		if c.PreviousSibling() != nil && !n.IsTight {
			r.blank(p)
		}
		q := p.with(s.Span(style.List, marker), screen.Span{Text: strings.Repeat(" ", screen.Width(marker))})
		if c.FirstChild() == nil {
			r.emit(nil, q, false)
		} else {
			r.blocks(c, q)
		}
		p = p.next()
	}
}

// code indents by two columns, so that a block stands out without colours.
func (r *renderer) code(src []byte, lang string, p prefix) {
	q := p.with(screen.Span{Text: "  "}, screen.Span{Text: "  "})
	src = bytes.TrimSuffix(src, []byte("\n"))
	for _, line := range highlight(string(src), lang, r.o) {
		r.emit(line, q, true)
		q = q.next()
	}
}

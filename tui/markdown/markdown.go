// Package markdown renders Markdown as rows for a terminal, and cuts text that
// is still arriving into blocks that need to be rendered only once.
//
//	Render   one piece of finished text to rows
//	Cut      how much of a text is closed whatever comes later
//	Stream   text that arrives in pieces, as closed blocks and an open tail
//
// The text must have been through screen.Clean.
package markdown

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/patriceckhart/zot/tui/style"
)

// newParser knows CommonMark with tables, strikethrough and task lists.
var newParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0))...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

// Refs are link definitions ("[a]: https://…") that hold for a whole message.
type Refs map[string]parser.Reference

func parse(src []byte, refs Refs) (ast.Node, []parser.Reference) {
	ctx := parser.NewContext()
	for _, r := range refs {
		ctx.AddReference(r)
	}
	doc := newParser().Parse(text.NewReader(src), parser.WithContext(ctx))
	return doc, ctx.References()
}

// Cut returns how many bytes of src are closed blocks: whatever text follows,
// they render the same. Only complete lines can close a block; all top-level
// blocks but the last are closed, and the cut is the start of the line where
// the last one begins.
func Cut(src []byte) int {
	n, _, _ := cut(src)
	return n
}

// cut also returns where the closed blocks begin, and the open block's fence
// if that is what it is.
func cut(src []byte) (closed int, starts []int, open *fence) {
	whole := src[:bytes.LastIndexByte(src, '\n')+1]
	if len(whole) == 0 {
		return 0, nil, nil
	}
	doc, _ := parse(whole, nil)
	last := doc.LastChild()
	if last == nil || last.Pos() < 0 {
		return 0, nil, nil
	}
	for n := doc.FirstChild(); n != last; n = n.NextSibling() {
		if n.Pos() >= 0 {
			starts = append(starts, bytes.LastIndexByte(whole[:n.Pos()], '\n')+1)
		}
	}
	closed = bytes.LastIndexByte(whole[:last.Pos()], '\n') + 1
	if last.Kind() == ast.KindFencedCodeBlock {
		open = openFence(whole[closed:])
	}
	return closed, starts, open
}

// A fence is the opening line of a code block.
type fence struct {
	char byte
	n    int
	body int // offset of the first line of code
}

// openFence reads the fence at the start of src, or returns nil where the
// block is closed already.
func openFence(src []byte) *fence {
	line, rest, _ := bytes.Cut(src, []byte("\n"))
	line = bytes.TrimLeft(line, " ")
	if len(line) < 3 || (line[0] != '`' && line[0] != '~') {
		return nil
	}
	f := &fence{char: line[0], body: len(src) - len(rest)}
	for f.n < len(line) && line[f.n] == f.char {
		f.n++
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if f.closes(line) {
			return nil
		}
	}
	return f
}

func (f *fence) closes(line []byte) bool {
	t := bytes.TrimLeft(line, " ")
	if len(line)-len(t) > 3 {
		return false
	}
	n := 0
	for n < len(t) && t[n] == f.char {
		n++
	}
	return n >= f.n && len(bytes.TrimSpace(t[n:])) == 0
}

// Options say how to render.
type Options struct {
	Width int
	Sheet *style.Sheet
	// Plain leaves code without highlighting; a first rendering of a long
	// block uses it and is replaced later, row by row.
	Plain bool
	Refs  Refs
}

// Render returns the rows of src. No row is wider than o.Width; there is no
// blank row at the start or the end.
func Render(src string, o Options) []string {
	doc, _ := parse([]byte(src), o.Refs)
	r := &renderer{src: []byte(src), o: o}
	r.blocks(doc, prefix{})
	return r.rows
}

package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// look is what is in force inside inline text: a base token and what emphasis
// adds to it.
type look struct {
	base  style.Token
	extra string
}

func (l look) add(s *style.Sheet, t style.Token) look {
	l.extra += s.SGR(t)
	return l
}

func (l look) sgr(s *style.Sheet) string {
	base := l.base
	if base == "" {
		base = style.Assistant
	}
	return s.SGR(base) + l.extra
}

// inline flattens the inline children of n.
func (r *renderer) inline(n ast.Node, l look) []screen.Span {
	var out []screen.Span
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, r.inlineNode(c, l)...)
	}
	return out
}

func (r *renderer) inlineNode(n ast.Node, l look) []screen.Span {
	s := r.o.Sheet
	span := func(text string, l look) []screen.Span {
		return []screen.Span{{Text: screen.Clean(text), SGR: l.sgr(s)}}
	}
	switch n := n.(type) {
	case *ast.Text:
		text := unescape(string(n.Segment.Value(r.src)))
		switch {
		case n.HardLineBreak():
			text += "\n"
		case n.SoftLineBreak():
			text += " "
		}
		return span(text, l)
	case *ast.String:
		return span(string(n.Value), l)
	case *ast.CodeSpan:
		return span(rawText(n, r.src), l.add(s, style.Code))
	case *ast.Emphasis:
		if n.Level >= 2 {
			return r.inline(n, l.add(s, style.Strong))
		}
		return r.inline(n, l.add(s, style.Em))
	case *extast.Strikethrough:
		if s.Profile == style.Mono {
			return append(append(span("~~", l), r.inline(n, l)...), span("~~", l)...)
		}
		l.extra += "\x1b[9m"
		return r.inline(n, l)
	case *ast.Link:
		return r.link(r.inline(n, l.add(s, style.Link)), string(n.Destination), l)
	case *ast.AutoLink:
		return span(string(n.Label(r.src)), l.add(s, style.Link))
	case *ast.Image:
		return append(span("[image: ", l), append(r.inline(n, l), span(" "+unescape(string(n.Destination))+"]", l.add(s, style.URL))...)...)
	case *ast.RawHTML:
		return span(string(n.Segments.Value(r.src)), l.add(s, style.Muted))
	case *extast.TaskCheckBox:
		if n.IsChecked {
			return span("[x] ", l)
		}
		return span("[ ] ", l)
	}
	return r.inline(n, l)
}

// link shows where a link goes: text that says one address while leading to
// another is an old trick.
func (r *renderer) link(label []screen.Span, dest string, l look) []screen.Span {
	dest = unescape(dest)
	text := ""
	for _, s := range label {
		text += s.Text
	}
	if dest == "" || text == dest || "mailto:"+text == dest {
		return label
	}
	return append(label, screen.Span{Text: " (" + screen.Line(dest) + ")", SGR: l.add(r.o.Sheet, style.URL).sgr(r.o.Sheet)})
}

// rawText joins the text of a code span, line ends as spaces.
func rawText(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(src))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// unescape resolves backslashes and character references. What they spell may
// be a control character, so the result is cleaned by the caller.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			end := strings.IndexByte(s[i:], ';')
			if end > 1 && end < 34 {
				if text := html.UnescapeString(s[i : i+end+1]); !strings.HasPrefix(text, "&") || text == "&" {
					b.WriteString(text)
					i += end
					continue
				}
			}
			b.WriteByte('&')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

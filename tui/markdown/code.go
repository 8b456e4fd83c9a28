package markdown

import (
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// maxHighlight is the size above which code keeps one colour: a lexer needs
// some hundred milliseconds for a megabyte.
const maxHighlight = 200 << 10

// highlight returns the lines of code as spans.
func highlight(code, lang string, o Options) [][]screen.Span {
	plain := o.Sheet.SGR(style.CodeBlock)
	lexer := lexerOf(lang)
	if o.Plain || lexer == nil || len(code) > maxHighlight || o.Sheet.Profile == style.Mono {
		lines := strings.Split(code, "\n")
		out := make([][]screen.Span, len(lines))
		for i, line := range lines {
			out[i] = []screen.Span{{Text: line, SGR: plain}}
		}
		return out
	}
	it, err := lexer.Tokenise(nil, code)
	if err != nil {
		o.Plain = true
		return highlight(code, lang, o)
	}
	out := [][]screen.Span{nil}
	for tok := it(); tok != chroma.EOF; tok = it() {
		sgr := plain
		if t, ok := tokenFor(tok.Type); ok {
			sgr = o.Sheet.SGR(t)
		}
		for i, part := range strings.Split(tok.Value, "\n") {
			if i > 0 {
				out = append(out, nil)
			}
			if part != "" {
				out[len(out)-1] = append(out[len(out)-1], screen.Span{Text: part, SGR: sgr})
			}
		}
	}
	// Lexers add a final line feed, and a few normalize others: the lines of
	// the source count, so that the rows are the same with and without colours.
	want := strings.Count(code, "\n") + 1
	for len(out) < want {
		out = append(out, nil)
	}
	return out[:want]
}

var lexerCache sync.Map // language → chroma.Lexer or nil

func lexerOf(lang string) chroma.Lexer {
	lang = strings.ToLower(strings.TrimSpace(lang))
	if lang == "" || len(lang) > 40 {
		return nil
	}
	if l, ok := lexerCache.Load(lang); ok {
		lexer, _ := l.(chroma.Lexer)
		return lexer
	}
	lexer := lexers.Get(lang)
	if lexer != nil {
		lexer = chroma.Coalesce(lexer)
		lexerCache.Store(lang, lexer)
	}
	return lexer
}

func tokenFor(t chroma.TokenType) (style.Token, bool) {
	switch {
	case t.InCategory(chroma.Comment):
		return style.SynComment, true
	case t == chroma.KeywordType:
		return style.SynType, true
	case t.InCategory(chroma.Keyword):
		return style.SynKeyword, true
	case t == chroma.NameFunction || t == chroma.NameBuiltin || t == chroma.NameFunctionMagic:
		return style.SynFunc, true
	case t == chroma.NameClass || t == chroma.NameTag || t == chroma.NameNamespace || t == chroma.NameDecorator:
		return style.SynType, true
	case t.InSubCategory(chroma.LiteralString):
		return style.SynString, true
	case t.InSubCategory(chroma.LiteralNumber):
		return style.SynNumber, true
	case t.InCategory(chroma.Operator):
		return style.SynOperator, true
	}
	return "", false
}

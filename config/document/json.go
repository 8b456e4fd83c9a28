package document

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

func parseJSON(f *File, text []byte) (*Node, error) {
	lines := newLines(text)
	if at, ok := tooDeep(text); ok {
		return nil, f.fail(lines.pos(at), "more than "+strconv.Itoa(MaxDepth)+" levels deep")
	}
	if blankJSON(text) {
		return &Node{Kind: Object, Pos: Pos{1, 1}}, nil
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, f.jsonError(err)
	}
	r := jsonReader{lines: lines}
	return r.node(&v), nil
}

// blankJSON tells whether there is nothing but white space and comments.
func blankJSON(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	return hujson.Extra(text).IsValid()
}

type jsonReader struct {
	lines *lines
}

func (r *jsonReader) node(v *hujson.Value) *Node {
	n := &Node{Pos: r.lines.pos(v.StartOffset)}
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.Kind = Object
		n.Members = make([]Member, len(t.Members))
		for i := range t.Members {
			m := &t.Members[i]
			n.Members[i] = Member{
				Name:  m.Name.Value.(hujson.Literal).String(),
				Pos:   r.lines.pos(m.Name.StartOffset),
				Value: r.node(&m.Value),
			}
		}
	case *hujson.Array:
		n.Kind = List
		n.Items = make([]*Node, len(t.Elements))
		for i := range t.Elements {
			n.Items[i] = r.node(&t.Elements[i])
		}
	case hujson.Literal:
		n.Kind, n.Text = literalKind(t), t.String()
		n.Bool = t.Bool()
	}
	return n
}

func literalKind(l hujson.Literal) Kind {
	switch l.Kind() {
	case '"':
		return String
	case '0':
		return Number
	case 't', 'f':
		return Bool
	default:
		return Null
	}
}

var hujsonPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)

// jsonError takes the place out of the parser's message.
func (f *File) jsonError(err error) error {
	m := hujsonPlace.FindStringSubmatch(err.Error())
	if m == nil {
		return f.fail(Pos{}, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2]) // in bytes
	text := f.Text(line)
	column = utf8.RuneCountInString(text[:min(column-1, len(text))]) + 1
	return f.fail(Pos{line, column}, m[3])
}

// tooDeep finds where brackets nest too deeply, before a recursive parser sees
// them.
func tooDeep(text []byte) (int, bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(text, i)
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// skipComment returns the last offset of the comment that starts at i, or i.
func skipComment(text []byte, i int) int {
	end := -1
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = bytes.IndexByte(text[i:], '\n')
	case bytes.HasPrefix(text[i:], []byte("/*")):
		if end = bytes.Index(text[i+2:], []byte("*/")); end >= 0 {
			end += 3
		}
	default:
		return i
	}
	if end < 0 {
		return len(text)
	}
	return i + end
}

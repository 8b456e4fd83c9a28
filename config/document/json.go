package document

import (
	"bytes"
	"fmt"

	"github.com/tailscale/hujson"

	"github.com/patriceckhart/zot/schemas"
)

func parseJSON(f *File, text []byte) (*Node, error) {
	if blankJSON(text) {
		return &Node{Kind: Object, Pos: Pos{1, 1}}, nil
	}
	doc, problems := schemas.Parse(text)
	if doc == nil {
		p := problems[0]
		return nil, f.fail(Pos{p.Line, p.Column}, p.Message, p.Remedy)
	}
	root, _ := doc.Syntax()
	r := jsonReader{file: f, lines: newLines(text)}
	return r.node(&root, 0)
}

// blankJSON tells whether there is nothing but white space and comments.
func blankJSON(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	return hujson.Extra(text).IsValid()
}

type jsonReader struct {
	file  *File
	lines *lines
}

func (r *jsonReader) node(v *hujson.Value, depth int) (*Node, error) {
	n := &Node{Pos: r.lines.pos(v.StartOffset)}
	if depth > MaxDepth {
		return nil, r.file.fail(n.Pos, fmt.Sprintf("more than %d levels deep", MaxDepth), "no setting lies that deep: take some of it out")
	}
	var err error
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.Kind = Object
		n.Members = make([]Member, len(t.Members))
		for i := range t.Members {
			m := &t.Members[i]
			n.Members[i] = Member{
				Name: m.Name.Value.(hujson.Literal).String(),
				Pos:  r.lines.pos(m.Name.StartOffset),
			}
			if n.Members[i].Value, err = r.node(&m.Value, depth+1); err != nil {
				return nil, err
			}
		}
	case *hujson.Array:
		n.Kind = List
		n.Items = make([]*Node, len(t.Elements))
		for i := range t.Elements {
			if n.Items[i], err = r.node(&t.Elements[i], depth+1); err != nil {
				return nil, err
			}
		}
	case hujson.Literal:
		n.Kind, n.Text = literalKind(t), t.String()
		n.Bool = t.Bool()
	}
	return n, nil
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

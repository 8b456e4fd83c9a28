package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func parseYAML(f *File, text []byte) (*Node, error) {
	root, err := decodeYAML(f, text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return &Node{Kind: Object, Pos: Pos{1, 1}}, nil
	}
	r := yamlReader{file: f, budget: MaxNodes}
	n, err := r.node(root, 0)
	if err != nil {
		return nil, err
	}
	if n.Kind == Null { // nothing but comments, or ~
		n.Kind = Object
	}
	return n, nil
}

// decodeYAML returns the value of the only document in text, or nil where there
// is none.
func decodeYAML(f *File, text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, f.yamlError(err)
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, f.fail(Pos{more.Line, more.Column}, "a second document", "a settings file is one document: drop what follows the line ---")
	case !errors.Is(err, io.EOF):
		return nil, f.yamlError(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

type yamlReader struct {
	file   *File
	budget int // values left; aliases can make few bytes many values
}

func (r *yamlReader) node(y *yaml.Node, depth int) (*Node, error) {
	pos := Pos{y.Line, y.Column}
	if r.budget--; r.budget < 0 {
		return nil, r.file.fail(pos, fmt.Sprintf("more than %d values", MaxNodes), "")
	}
	if depth > MaxDepth {
		return nil, r.file.fail(pos, fmt.Sprintf("more than %d levels deep", MaxDepth), "no setting lies that deep: take some of it out")
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.node(y.Alias, depth+1)
	case yaml.MappingNode:
		return r.object(y, pos, depth)
	case yaml.SequenceNode:
		n := &Node{Kind: List, Pos: pos}
		for _, item := range y.Content {
			v, err := r.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, v)
		}
		return n, nil
	default:
		return r.scalar(y, pos)
	}
}

func (r *yamlReader) object(y *yaml.Node, pos Pos, depth int) (*Node, error) {
	n := &Node{Kind: Object, Pos: pos}
	for i := 0; i+1 < len(y.Content); i += 2 {
		name := y.Content[i]
		at := Pos{name.Line, name.Column}
		if name.ShortTag() == "!!merge" {
			return nil, r.file.fail(at, `merge keys ("<<") are not read here`, "write the settings out")
		}
		if name.Kind != yaml.ScalarNode {
			return nil, r.file.fail(at, "a name must be a plain string", "")
		}
		v, err := r.node(y.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{Name: name.Value, Pos: at, Value: v})
	}
	return n, nil
}

func (r *yamlReader) scalar(y *yaml.Node, pos Pos) (*Node, error) {
	n := &Node{Kind: String, Pos: pos, Text: y.Value}
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Text = Null, ""
	case "!!bool":
		n.Kind = Bool
		if err := y.Decode(&n.Bool); err != nil {
			return nil, r.file.fail(pos, fmt.Sprintf("%q is not a boolean", y.Value), "write true or false")
		}
	case "!!int", "!!float":
		n.Kind = Number
		text, err := yamlNumber(y)
		if err != nil {
			return nil, r.file.fail(pos, fmt.Sprintf("%q is not a number", y.Value), "write it in quotes if it is a text")
		}
		n.Text = text
	case "!!str", "!!timestamp":
	default:
		return nil, r.file.fail(pos, fmt.Sprintf("the tag %s is not read here", y.ShortTag()), "write the value without it")
	}
	return n, nil
}

// yamlNumber writes a number as JSON does: YAML has hexadecimal, octal and
// underscores besides.
func yamlNumber(y *yaml.Node) (string, error) {
	var i int64
	if y.ShortTag() == "!!int" && y.Decode(&i) == nil {
		return strconv.FormatInt(i, 10), nil
	}
	var x float64
	if err := y.Decode(&x); err != nil {
		return "", err
	}
	return strconv.FormatFloat(x, 'g', -1, 64), nil
}

var yamlPlace = regexp.MustCompile(`^line (\d+): (.*)$`)

// yamlError takes the line out of the parser's message. It knows no column.
func (f *File) yamlError(err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	m := yamlPlace.FindStringSubmatch(msg)
	if m == nil {
		return f.fail(Pos{}, msg, "")
	}
	line, _ := strconv.Atoi(m[1])
	text := f.Text(line)
	return f.fail(Pos{line, len(text) - len(strings.TrimLeft(text, " \t")) + 1}, m[2], yamlRemedy(m[2], text))
}

// yamlRemedy says what mends the mistakes that are made most.
func yamlRemedy(msg, line string) string {
	switch {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "indent with spaces, not tabs"
	case strings.Contains(msg, "cannot start any token"):
		return "write the value in quotes"
	case strings.Contains(msg, "mapping values are not allowed"), strings.Contains(msg, "did not find expected"):
		return "look at the indentation of this line and the one before, and at quotes and brackets left open"
	}
	return ""
}

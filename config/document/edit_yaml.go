package document

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// setYAML changes the lines of one setting, or within braces the one line that
// they are on. Where a file is laid out in a way that neither sees through
// (anchors, braces over several lines), it is written anew from its nodes, which
// keeps comments and order but not every blank.
func (f *File) setYAML(path []string, value any, expect any) ([]byte, error) {
	lines := func(e *yamlEditor) ([]byte, bool) { return e.set(path, value) }
	return f.editYAML(path, expect, lines, func(n *yaml.Node, path []string) { setNode(n, path, value) })
}

func (f *File) unsetYAML(path []string, expect any) ([]byte, error) {
	return f.editYAML(path, expect, func(e *yamlEditor) ([]byte, bool) { return e.unset(path) }, unsetNode)
}

// editYAML takes the first way whose result means what it should.
func (f *File) editYAML(path []string, expect any, lines func(*yamlEditor) ([]byte, bool), change func(*yaml.Node, []string)) ([]byte, error) {
	inBraces := func(e *yamlEditor) ([]byte, bool) { return f.editBraces(e, path, change) }
	for _, way := range []func(*yamlEditor) ([]byte, bool){lines, inBraces} {
		if out, ok := way(newYAMLEditor(f)); ok {
			if out, err := f.verified(out, nil)(expect); err == nil {
				return out, nil
			}
		}
	}
	return f.verified(f.encodeYAML(func(root *yaml.Node) { change(root, path) }))(expect)
}

// editBraces changes the outermost object on the path that is written in braces
// on one line.
func (f *File) editBraces(e *yamlEditor, path []string, change func(*yaml.Node, []string)) ([]byte, bool) {
	n, after := e.root, len(e.lines)+1
	for i, name := range path[:len(path)-1] {
		m, next := find(n, name, after)
		if m == nil {
			return nil, false
		}
		if !e.braced(m, next) {
			n, after = m.Value, next
			continue
		}
		root, err := decodeYAML(f, trimBOM(f.Data))
		if err != nil {
			return nil, false
		}
		object := nodeAt(root, path[:i+1])
		if object == nil {
			return nil, false
		}
		change(object, path[i+1:])
		object.Style, object.HeadComment, object.LineComment, object.FootComment = yaml.FlowStyle, "", "", ""
		text, err := yaml.Marshal(object)
		inner := strings.TrimSuffix(string(text), "\n")
		if err != nil || strings.Contains(inner, "\n") {
			return nil, false
		}
		return e.replace(m, next, inner)
	}
	return nil, false
}

// braced tells whether a member has a line of its own, and on it all of an
// object in braces.
func (e *yamlEditor) braced(m *Member, after int) bool {
	v := m.Value
	if v.Kind != Object || v.Pos.Line != m.Pos.Line || !e.startsLine(m.Pos) || e.lastLine(m.Pos.Line, after) != m.Pos.Line {
		return false
	}
	text := []rune(e.lines[v.Pos.Line-1])
	return v.Pos.Column <= len(text) && text[v.Pos.Column-1] == '{'
}

// nodeAt follows names from n; nil where there is no such node.
func nodeAt(n *yaml.Node, path []string) *yaml.Node {
	for _, name := range path {
		i := nodeIndex(n, name)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// A yamlEditor cuts and pastes whole lines of a YAML file.
type yamlEditor struct {
	lines []string // without their ends
	eol   string
	bom   bool
	root  *Node
}

func newYAMLEditor(f *File) *yamlEditor {
	text := trimBOM(f.Data)
	e := &yamlEditor{eol: "\n", bom: len(text) != len(f.Data), root: f.Root}
	if bytes.Contains(text, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	if s := strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"); s != "" {
		e.lines = strings.Split(s, "\n")
	}
	return e
}

func (e *yamlEditor) bytes() []byte {
	var b strings.Builder
	if e.bom {
		b.WriteString(bom)
	}
	for _, line := range e.lines {
		b.WriteString(line + e.eol)
	}
	return []byte(b.String())
}

// splice replaces the lines from first up to, not including, end (from 1).
func (e *yamlEditor) splice(first, end int, with ...string) []byte {
	out := append([]string{}, e.lines[:first-1]...)
	out = append(out, with...)
	e.lines = append(out, e.lines[end-1:]...)
	return e.bytes()
}

func (e *yamlEditor) set(path []string, value any) ([]byte, bool) {
	n, after := e.root, len(e.lines)+1
	for i, name := range path {
		m, next := find(n, name, after)
		if m == nil {
			return e.add(n, after, path[i:], value)
		}
		if i == len(path)-1 {
			return e.replace(m, next, yamlInline(value))
		}
		if m.Value.Kind == Null {
			line := m.Pos.Line
			return e.splice(line+1, line+1, block(path[i+1:], value, m.Pos.Column+1)...), true
		}
		n, after = m.Value, next
	}
	return nil, false
}

func (e *yamlEditor) unset(path []string) ([]byte, bool) {
	n, after := e.root, len(e.lines)+1
	for i, name := range path {
		m, next := find(n, name, after)
		if m == nil || !e.startsLine(m.Pos) {
			return nil, false
		}
		if i == len(path)-1 {
			return e.splice(m.Pos.Line, e.lastLine(m.Pos.Line, next)+1), true
		}
		n, after = m.Value, next
	}
	return nil, false
}

// find returns the member and the line of whatever follows it.
func find(n *Node, name string, after int) (*Member, int) {
	for i := range n.Members {
		if n.Members[i].Name != name {
			continue
		}
		if i+1 < len(n.Members) {
			after = n.Members[i+1].Pos.Line
		}
		return &n.Members[i], after
	}
	return nil, after
}

// add appends members to n, whose lines end before the line after.
func (e *yamlEditor) add(n *Node, after int, path []string, value any) ([]byte, bool) {
	if len(n.Members) == 0 {
		if n != e.root || n.Pos.Line > 1 {
			return nil, false
		}
		return e.splice(len(e.lines)+1, len(e.lines)+1, block(path, value, 0)...), true
	}
	first, last := n.Members[0], n.Members[len(n.Members)-1]
	if !e.startsLine(first.Pos) {
		return nil, false
	}
	line := e.lastLine(last.Pos.Line, after) + 1
	return e.splice(line, line, block(path, value, first.Pos.Column-1)...), true
}

// replace writes the value of m anew, on the line of its name. A comment at the
// end of a line stays.
func (e *yamlEditor) replace(m *Member, after int, value string) ([]byte, bool) {
	if !e.startsLine(m.Pos) {
		return nil, false
	}
	line := m.Pos.Line
	last := e.lastLine(line, after)
	text := []rune(e.lines[line-1])
	if m.Value.Pos.Line != line || m.Value.Kind == Null || last != line {
		name := yamlScalar(m.Name)
		indent := string(text[:m.Pos.Column-1])
		return e.splice(line, last+1, indent+name+": "+value), true
	}
	start := m.Value.Pos.Column - 1
	end := scalarEnd(text, start)
	with := string(text[:start]) + value + string(text[end:])
	return e.splice(line, line+1, with), true
}

// startsLine tells whether nothing but white space stands before pos.
func (e *yamlEditor) startsLine(pos Pos) bool {
	if pos.Line < 1 || pos.Line > len(e.lines) {
		return false
	}
	text := []rune(e.lines[pos.Line-1])
	return pos.Column <= len(text)+1 && strings.TrimSpace(string(text[:pos.Column-1])) == ""
}

// lastLine is the last line of a member that starts at first and is followed by
// something at the line after. Comments and blanks before that belong to what
// follows.
func (e *yamlEditor) lastLine(first, after int) int {
	for line := after - 1; line > first; line-- {
		t := strings.TrimSpace(e.lines[line-1])
		if t != "" && t != "..." && !strings.HasPrefix(t, "#") {
			return line
		}
	}
	return first
}

// scalarEnd finds the end of the value that starts at start: before a comment,
// or at the end of the line.
func scalarEnd(text []rune, start int) int {
	quote := rune(0)
	for i := start; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (i == start || strings.ContainsRune(" [{,:", text[i-1])):
			quote = c
		case c == '#' && i > start && (text[i-1] == ' ' || text[i-1] == '\t'):
			return len([]rune(strings.TrimRight(string(text[:i]), " \t")))
		}
	}
	return len([]rune(strings.TrimRight(string(text), " \t")))
}

// block writes nested names, the value behind the last.
func block(path []string, value any, indent int) []string {
	var out []string
	for i, name := range path {
		line := strings.Repeat(" ", indent+2*i) + yamlScalar(name) + ":"
		if i == len(path)-1 {
			line += " " + yamlInline(value)
		}
		out = append(out, line)
	}
	return out
}

func yamlInline(value any) string {
	if s, ok := value.(string); ok {
		return yamlScalar(s)
	}
	return inline(value)
}

// yamlScalar writes a string without quotes where YAML reads it as that string.
func yamlScalar(s string) string {
	b, err := yaml.Marshal(s)
	out := strings.TrimSuffix(string(b), "\n")
	if err != nil || strings.Contains(out, "\n") {
		return string(appendQuoted(nil, s))
	}
	return out
}

// encodeYAML changes the nodes of the file and writes them all.
func (f *File) encodeYAML(change func(root *yaml.Node)) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(trimBOM(f.Data), &doc); err != nil {
		return nil, f.yamlError(err)
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	change(doc.Content[0])
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func setNode(n *yaml.Node, path []string, value any) {
	for len(path) > 0 {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n.Kind != yaml.MappingNode {
			*n = yaml.Node{Kind: yaml.MappingNode}
		}
		i := nodeIndex(n, path[0])
		if i < 0 {
			var name yaml.Node
			name.SetString(path[0])
			n.Content = append(n.Content, &name, &yaml.Node{Kind: yaml.MappingNode})
			i = len(n.Content) - 2
		}
		n, path = n.Content[i+1], path[1:]
	}
	comments := *n
	if err := n.Encode(value); err == nil {
		n.HeadComment, n.LineComment, n.FootComment = comments.HeadComment, comments.LineComment, comments.FootComment
	}
}

func unsetNode(n *yaml.Node, path []string) {
	for _, name := range path[:len(path)-1] {
		i := nodeIndex(n, name)
		if i < 0 {
			return
		}
		n = n.Content[i+1]
	}
	if i := nodeIndex(n, path[len(path)-1]); i >= 0 {
		n.Content = append(n.Content[:i], n.Content[i+2:]...)
	}
}

func nodeIndex(n *yaml.Node, name string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

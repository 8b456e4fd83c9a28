package document

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func (f *File) setJSON(path []string, value any) ([]byte, error) {
	text := trimBOM(f.Data)
	style := jsonStyleOf(text)
	root, err := parseForEdit(text)
	if err != nil {
		return nil, err // it was parsed before
	}
	at, depth := &root, 0
	for depth < len(path) {
		obj, ok := at.Value.(*hujson.Object)
		if !ok { // null, where an object belongs
			break
		}
		next := member(obj, path[depth])
		if next == nil {
			insertMember(obj, path[depth], nest(path[depth+1:], value), depth, style)
			return f.packed(root), nil
		}
		at, depth = next, depth+1
	}
	at.Value = style.value(nest(path[depth:], value), depth)
	return f.packed(root), nil
}

func (f *File) unsetJSON(path []string) ([]byte, error) {
	root, err := parseForEdit(trimBOM(f.Data))
	if err != nil {
		return nil, err // it was parsed before
	}
	parent := &root
	for _, name := range path[:len(path)-1] {
		parent = member(parent.Value.(*hujson.Object), name)
	}
	obj := parent.Value.(*hujson.Object)
	removeMember(obj, path[len(path)-1])
	return f.packed(root), nil
}

// removeMember drops a member with the comment on its line and those right
// above it. What a blank line parts from it stays, as does the comment that
// ends the line before.
func removeMember(obj *hujson.Object, name string) {
	i := slices.IndexFunc(obj.Members, func(m hujson.ObjectMember) bool {
		return m.Name.Value.(hujson.Literal).String() == name
	})
	n := len(obj.Members)
	comma := obj.Members[n-1].Value.AfterExtra != nil // after the last one, too
	after := &obj.AfterExtra
	if i+1 < n {
		after = &obj.Members[i+1].Name.BeforeExtra
	}
	before := keptBefore(string(obj.Members[i].Name.BeforeExtra))
	*after = hujson.Extra(before + string((*after)[firstLine(string(*after)):]))
	obj.Members = slices.Delete(obj.Members, i, i+1)
	if n > 1 && comma && obj.Members[n-2].Value.AfterExtra == nil {
		obj.Members[n-2].Value.AfterExtra = []byte{}
	}
}

// firstLine is the length of the first line's rest, its end not counted; 0 where
// the text has no line break.
func firstLine(text string) int {
	i := strings.IndexByte(text, '\n')
	if i > 0 && text[i-1] == '\r' {
		i--
	}
	return max(i, 0)
}

var blankLine = regexp.MustCompile(`\r?\n[ \t]*\r?\n[ \t]*`)

// keptBefore is what of the text before a member does not belong to it.
func keptBefore(text string) string {
	keep := firstLine(text)
	if at := blankLine.FindAllStringIndex(text, -1); at != nil {
		keep = max(keep, at[len(at)-1][0])
	}
	if strings.TrimSpace(text[:keep]) == "" {
		return ""
	}
	return text[:keep]
}

// parseForEdit reads text, or makes an object around what is only comments.
func parseForEdit(text []byte) (hujson.Value, error) {
	if !blankJSON(text) {
		return hujson.Parse(text)
	}
	v := hujson.Value{Value: &hujson.Object{}, BeforeExtra: bytes.Clone(text), AfterExtra: []byte("\n")}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		v.BeforeExtra = append(v.BeforeExtra, '\n')
	}
	return v, nil
}

func (f *File) packed(v hujson.Value) []byte {
	out := v.Pack()
	if len(trimBOM(f.Data)) != len(f.Data) {
		out = append([]byte(bom), out...)
	}
	return out
}

func member(obj *hujson.Object, name string) *hujson.Value {
	for i := range obj.Members {
		if obj.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &obj.Members[i].Value
		}
	}
	return nil
}

// insertMember adds a member at the end of obj, which is depth objects deep. It
// is laid out like the member before it.
func insertMember(obj *hujson.Object, name string, value any, depth int, style jsonStyle) {
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(name)},
		Value: hujson.Value{Value: style.value(value, depth+1), BeforeExtra: []byte(" ")},
	}
	// What stands before the closing brace: comments, the first of which may be on
	// the last member's line, and the brace's own line.
	head, brace := splitLastLine(obj.AfterExtra)
	lead := style.newline(depth + 1)
	if n := len(obj.Members); n > 0 {
		last := &obj.Members[n-1]
		switch own := ownLine(last.Name.BeforeExtra); {
		case own != "":
			lead = own
		case !bytes.Contains(obj.AfterExtra, []byte("\n")):
			lead = " " // all on one line
		}
		if last.Value.AfterExtra != nil { // a comma after the last one is the style here
			m.Value.AfterExtra = []byte{}
		}
	} else if brace == "" {
		brace = style.newline(depth)
	}
	// Comments on lines of their own stay after it, where they ended the object.
	before := len(head)
	if len(obj.Members) > 0 && strings.Contains(head, "\n") {
		before = firstLine(head)
	}
	m.Name.BeforeExtra = append(hujson.Extra(head[:before]), lead...)
	obj.AfterExtra = hujson.Extra(head[before:] + brace)
	obj.Members = append(obj.Members, m)
}

// splitLastLine cuts text before its last line break; where there is none all of
// it is the last line.
func splitLastLine(text []byte) (head, last string) {
	i := bytes.LastIndexByte(text, '\n')
	if i < 0 {
		return "", string(text)
	}
	if i > 0 && text[i-1] == '\r' {
		i--
	}
	return string(text[:i]), string(text[i:])
}

// ownLine returns the line break and indentation before a member that starts a
// line, or "".
func ownLine(extra []byte) string {
	_, last := splitLastLine(extra)
	if strings.Contains(last, "\n") && strings.TrimSpace(last) == "" {
		return last
	}
	return ""
}

// jsonStyle is how a file is laid out.
type jsonStyle struct{ eol, indent string }

func jsonStyleOf(text []byte) jsonStyle {
	s := jsonStyle{eol: "\n", indent: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.eol = "\r\n"
	}
	if v, err := hujson.Parse(text); err == nil {
		if obj, ok := v.Value.(*hujson.Object); ok && len(obj.Members) > 0 {
			own := ownLine(obj.Members[0].Name.BeforeExtra)
			if i := strings.TrimLeft(own, "\r\n"); i != "" {
				s.indent = i
			}
		}
	}
	return s
}

func (s jsonStyle) newline(depth int) string { return s.eol + strings.Repeat(s.indent, depth) }

// value writes objects over several lines and the rest on one.
func (s jsonStyle) value(value any, depth int) hujson.ValueTrimmed {
	v, err := hujson.Parse([]byte(s.text(value, depth)))
	if err != nil { // it was written right here
		panic(err)
	}
	return v.Value
}

func (s jsonStyle) text(value any, depth int) string {
	m, ok := value.(map[string]any)
	if !ok || len(m) == 0 {
		return inline(value)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range sortedNames(m) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.newline(depth+1) + string(appendQuoted(nil, name)) + ": " + s.text(m[name], depth+1))
	}
	b.WriteString(s.newline(depth) + "}")
	return b.String()
}

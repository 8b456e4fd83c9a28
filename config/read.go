package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/schemas"
)

// separator joins the parts of a path inside koanf. No name can hold it, so
// dots in names are nothing special.
const separator = "\x00"

// A layerData is what one layer sets, checked.
type layerData struct {
	layer  Layer
	source string         // file; "" for variables and flags
	values map[string]any // nested; lists that append have a plus before their name
	places map[string]place
	policy *document.Node
	// policyLost says why the policy section cannot be relied on.
	policyLost error
}

// A place is where a value was set.
type place struct {
	source string
	pos    document.Pos
}

func newLayerData(layer Layer, source string) *layerData {
	return &layerData{layer: layer, source: source, values: map[string]any{}, places: map[string]place{}}
}

func (d *layerData) set(path []string, value any, at place) {
	m := d.values
	for _, name := range path[:len(path)-1] {
		next, ok := m[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
	d.places[strings.Join(path, separator)] = at
}

// A reader walks the tree of one file along the tree of names.
type reader struct {
	data     *layerData
	file     *document.File
	base     base
	problems []Problem
	ignored  int // above zero, what is read does not count
}

func readFile(layer Layer, file *document.File, b base) (*layerData, []Problem) {
	r := &reader{data: newLayerData(layer, file.Name), file: file, base: b}
	r.object(file.Root, root, nil)
	return r.data, r.problems
}

func (r *reader) report(pos document.Pos, path []string, code, remedy, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		Layer: r.data.layer, Source: r.file.Name, Pos: pos, Key: FormatPath(path), Code: code,
		Message: fmt.Sprintf(format, args...), Remedy: remedy, text: r.file.Data,
	})
}

// object reads the members in the order of the file, so that faults come in it,
// too. Of names that come twice neither value counts: which was meant cannot be
// told. What is wrong with either is said all the same.
func (r *reader) object(n *document.Node, at *branch, path []string) {
	count := make(map[string]int, len(n.Members))
	for i := range n.Members {
		count[n.Members[i].Name]++
	}
	first := make(map[string]int, len(n.Members))
	for i := range n.Members {
		m := &n.Members[i]
		if strings.HasPrefix(m.Name, "x-") {
			continue
		}
		if line, seen := first[m.Name]; seen {
			r.twice(m, line, path)
		} else {
			first[m.Name] = m.Pos.Line
		}
		switch {
		case len(path) == 0 && m.Name == "$schema":
		case len(path) == 0 && m.Name == "policy":
			if count[m.Name] == 1 {
				r.data.policy = m.Value
			}
		case count[m.Name] > 1:
			r.ignored++
			r.member(m, at, path)
			r.ignored--
		default:
			r.member(m, at, path)
		}
	}
}

func (r *reader) twice(m *document.Member, line int, path []string) {
	r.report(m.Pos, child(path, m.Name), "", "keep one of the two",
		"%q is set twice, first in line %d; neither counts", m.Name, line)
	if len(path) == 0 && m.Name == "policy" {
		r.losePolicy(m.Pos, "the policy section is there twice")
	}
}

func (r *reader) losePolicy(pos document.Pos, msg string) {
	if r.data.policyLost == nil {
		r.data.policyLost = &document.SyntaxError{File: r.file.Name, Pos: pos, Msg: msg}
	}
}

func (r *reader) member(m *document.Member, at *branch, path []string) {
	name, plus := strings.CutPrefix(m.Name, "+")
	next := at.children[name]
	if next == nil && at.star != nil {
		next, name, plus = at.star, m.Name, false
	}
	path = child(path, name)
	switch {
	case next == nil:
		r.unknown(m, at, path)
	case plus && (next.key == nil || !next.key.Type.isList()):
		r.report(m.Pos, path, "", "drop the plus", "%q does not hold a list, so nothing can be appended", name)
	case next.key != nil:
		r.leaf(m, next.key, path, plus)
	case m.Value.Kind != document.Object:
		r.report(m.Value.Pos, path, "", "write {…} with the settings in it",
			"%q must be an object, and is %s", name, m.Value.Kind)
	default:
		r.object(m.Value, next, path)
	}
}

func (r *reader) leaf(m *document.Member, k *Key, path []string, plus bool) {
	if !k.Layers.Has(r.data.layer) {
		r.report(m.Pos, path, "ZP063", "set it in: "+k.Layers.String(),
			"%q may not be set by the %s layer, and is ignored", FormatPath(path), r.data.layer)
		return
	}
	value, bad := k.fromNode(m.Value, r.base)
	if bad != nil {
		r.report(m.Value.Pos, path, "", bad.remedy, "%s: %s", FormatPath(path), bad.msg)
		return
	}
	// A project adds to where extensions are looked for and to those that are
	// left out; it does not undo what its user said about either.
	plus = plus || r.data.layer.FromProject() && k.Discovery && k.Type.isList()
	if plus {
		path = child(path[:len(path)-1], "+"+path[len(path)-1])
	}
	if r.ignored == 0 {
		r.data.set(path, value, place{r.file.Name, m.Pos})
	}
}

// elsewhere names what people look for here and which lives in another place.
var elsewhere = map[string]string{
	"apiKey":     "keys are kept by zot login, or printed by credentialCommand",
	"api_key":    "keys are kept by zot login, or printed by credentialCommand",
	"mcpServers": "tools come from extensions",
	"yolo":       `write "confirmation": "off"`,
	"no-yolo":    `write "confirmation": "all"`,
}

func (r *reader) unknown(m *document.Member, at *branch, path []string) {
	known := at.names()
	if len(path) == 1 {
		known = append(known, "policy", "$schema")
	}
	name := path[len(path)-1]
	near := schemas.Nearest(name, known)
	remedy := "remove it"
	switch steps, err := ParsePath(name); {
	case elsewhere[name] != "":
		remedy = elsewhere[name]
	case err == nil && len(steps) > 1 && Known(append(path[:len(path)-1:len(path)-1], steps...)):
		remedy = "a dot is no step in a file: write " + nested(steps)
	case near != "" && strings.EqualFold(near, name):
		remedy = fmt.Sprintf("names are case-sensitive: write %q", near)
	case near != "":
		remedy = fmt.Sprintf("did you mean %q?", near)
	case len(known) <= 12 && len(known) > 0:
		remedy = "known here: " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
	}
	r.report(m.Pos, path, "", remedy, "unknown setting %q", FormatPath(path))
	if len(path) == 1 && near == "policy" {
		r.losePolicy(m.Pos, fmt.Sprintf("%q looks like a policy section with its name misspelt", name))
	}
}

// nested writes a name of several steps as the objects of a file.
func nested(steps []string) string {
	if len(steps) == 1 {
		return quoteJSON(steps[0]) + ": …"
	}
	return quoteJSON(steps[0]) + ": {" + nested(steps[1:]) + "}"
}

// child returns path with one more name; it never writes into path's memory.
func child(path []string, name string) []string {
	return append(slices.Clip(path), name)
}

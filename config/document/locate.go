package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/schemas"
)

// Validate checks the file against the schema called name: the same problems in
// JSON and in YAML, in the order of the file.
func (f *File) Validate(name string) []schemas.Problem {
	if !IsYAML(f.Name) {
		return schemas.Validate(name, f.Data)
	}
	problems := append(twice(f.Root, ""), schemas.ValidateValue(name, f.Root.Any(), f.Root.locate)...)
	slices.SortStableFunc(problems, func(a, b schemas.Problem) int {
		return Pos{a.Line, a.Column}.Compare(Pos{b.Line, b.Column})
	})
	return problems
}

// twice reports names that an object has twice.
func twice(n *Node, pointer string) []schemas.Problem {
	var out []schemas.Problem
	first := map[string]int{}
	for _, m := range n.Members {
		at := pointer + schemas.Pointer(m.Name)
		if line, seen := first[m.Name]; seen {
			out = append(out, schemas.Problem{
				Kind: schemas.KindDuplicateKey, Pointer: at, Line: m.Pos.Line, Column: m.Pos.Column,
				Message: fmt.Sprintf("key %q is there twice, first in line %d", m.Name, line), Remedy: "keep one of the two",
			})
		} else {
			first[m.Name] = m.Pos.Line
		}
		out = append(out, twice(m.Value, at)...)
	}
	for i, item := range n.Items {
		out = append(out, twice(item, pointer+"/"+strconv.Itoa(i))...)
	}
	return out
}

// locate finds the place of a value, or of its name, by JSON pointer. It is a
// [schemas.Locator].
func (n *Node) locate(pointer string, key bool) schemas.Position {
	at, pos := n, n.Pos
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next, name := at.step(token)
		if next == nil {
			break
		}
		at, pos = next, next.Pos
		if key && name != (Pos{}) {
			pos = name
		}
	}
	return schemas.Position{Line: pos.Line, Column: pos.Column}
}

// step returns the item or member that a token of a pointer names, and the
// place of the member's name.
func (n *Node) step(token string) (*Node, Pos) {
	if n.Kind == List {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Items) {
			return n.Items[i], Pos{}
		}
	}
	for _, m := range slices.Backward(n.Members) { // of two, the last counts
		if m.Name == token {
			return m.Value, m.Pos
		}
	}
	return nil, Pos{}
}

package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// ErrNoChange is returned by [File.Set] and [File.Unset] where the file already
// says what it should.
var ErrNoChange = errors.New("nothing to change")

// Set returns the bytes of the file with the value at path replaced or added,
// and all else as it was: comments, order, blank lines, unknown names, the byte
// order mark and the form of line ends. Objects on the way are made where they
// are missing. The value is anything that encoding/json can write.
func (f *File) Set(path []string, value any) ([]byte, error) {
	want, err := plainValue(value)
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", strings.Join(path, "."), err)
	}
	if err := f.checkPath(path); err != nil {
		return nil, err
	}
	if at := f.Root.Find(path...); at != nil && reflect.DeepEqual(at.Any(), want) {
		return nil, ErrNoChange
	}
	expect, _ := f.Root.Any().(map[string]any)
	put(expect, path, want)
	if IsYAML(f.Name) {
		return f.setYAML(path, want, expect)
	}
	return f.verified(f.setJSON(path, want))(expect)
}

// Unset returns the bytes of the file without the member at path, and all else
// as it was. Objects that hold nothing any more go with it. Where there is no
// such member it returns ErrNoChange.
func (f *File) Unset(path []string) ([]byte, error) {
	if f.Root.Find(path...) == nil {
		return nil, ErrNoChange
	}
	if err := f.checkPath(path); err != nil {
		return nil, err
	}
	path = f.emptied(path)
	expect, _ := f.Root.Any().(map[string]any)
	drop(expect, path)
	if IsYAML(f.Name) {
		return f.unsetYAML(path, expect)
	}
	return f.verified(f.unsetJSON(path))(expect)
}

// checkPath refuses a path that is ambiguous or leads through a value that is no
// object.
func (f *File) checkPath(path []string) error {
	n := f.Root
	for i, name := range path {
		var seen []Pos
		for _, m := range n.Members {
			if m.Name == name {
				seen = append(seen, m.Pos)
			}
		}
		if len(seen) > 1 {
			return f.fail(seen[1], fmt.Sprintf("%q is already set in line %d", name, seen[0].Line), "remove one of the two first")
		}
		if n = n.Get(name); n == nil {
			return nil
		}
		if i < len(path)-1 && n.Kind != Object && n.Kind != Null {
			return f.fail(n.Pos, fmt.Sprintf("%q is %s, so nothing can be set inside it", name, n.Kind), "write {…} with the settings in it")
		}
	}
	return nil
}

// emptied shortens path to the outermost object that would hold nothing but the
// member that goes.
func (f *File) emptied(path []string) []string {
	for len(path) > 1 {
		parent := f.Root.Find(path[:len(path)-1]...)
		if len(parent.Members) != 1 {
			break
		}
		path = path[:len(path)-1]
	}
	return path
}

// verified returns data only where it reads as what it should mean: an edit
// that would spoil a file is an error instead.
func (f *File) verified(data []byte, err error) func(expect any) ([]byte, error) {
	return func(expect any) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		got, err := Parse(f.Name, data)
		if err != nil {
			return nil, fmt.Errorf("editing %s: the result could not be read: %w", f.Name, err)
		}
		if !reflect.DeepEqual(got.Root.Any(), expect) {
			return nil, fmt.Errorf("editing %s: the edit would have changed other settings; change the file by hand", f.Name)
		}
		return data, nil
	}
}

// plainValue brings a value into the form of [Node.Any].
func plainValue(value any) (any, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	f, err := Parse("value.json", append(append([]byte(`{"v":`), b...), '}'))
	if err != nil {
		return nil, err
	}
	return f.Root.Get("v").Any(), nil
}

func put(m map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, ok := m[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
}

func drop(m map[string]any, path []string) {
	for _, name := range path[:len(path)-1] {
		m, _ = m[name].(map[string]any)
	}
	delete(m, path[len(path)-1])
}

// nest wraps value into one object per name.
func nest(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return value
}

// inline writes a value on one line, as JSON with a space after commas and
// colons, which YAML reads as well.
func inline(value any) string {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = inline(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, name := range sortedNames(v) {
			parts = append(parts, string(appendQuoted(nil, name))+": "+inline(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case string:
		return string(appendQuoted(nil, v))
	default:
		b, _ := json.Marshal(v)
		return string(b)
	}
}

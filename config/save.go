package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/schemas"
)

// FileValue checks a value that was typed on the command line and returns it as
// a settings file holds it. The path may begin its last part with a plus. Lists
// are separated by commas, or a JSON list.
func FileValue(layer Layer, path []string, text string) (any, error) {
	k, err := settable(layer, path)
	if err != nil {
		return nil, err
	}
	b := base{confined: layer.FromProject()}
	fail := func(bad *badValue) error {
		return fmt.Errorf("%s: %w", FormatPath(path), bad)
	}
	if k.Type.isList() && strings.HasPrefix(strings.TrimSpace(text), "[") {
		var items []string
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, fail(bad(`for example ["a", "b"]`, "%s is not a list of strings", text))
		}
		if _, bad := k.checkList(items, b); bad != nil {
			return nil, fail(bad)
		}
		return items, nil
	}
	value, bad := k.fromString(text, b)
	if bad != nil {
		return nil, fail(bad)
	}
	return k.asTyped(text, value), nil
}

// asTyped keeps how somebody wrote a value where that says the same: "2m", not
// 120s, and ~/ without the folder it stands for.
func (k *Key) asTyped(text string, value any) any {
	switch {
	case k.Type.isList():
		return splitList(text)
	case k.Type == Duration || k.Type == Bytes:
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return x
		}
		return text
	case k.takesString():
		return text
	}
	return value
}

// settable finds the key of a path and whether the layer may set it.
func settable(layer Layer, path []string) (*Key, error) {
	plain, plus := withoutPlus(path)
	k, _ := lookup(plain)
	switch {
	case k == nil:
		return nil, &UnknownKeyError{Path: plain}
	case plus && !k.Type.isList():
		return nil, fmt.Errorf("%q does not hold a list, so nothing can be appended", FormatPath(plain))
	case !k.Layers.Has(layer):
		return nil, fmt.Errorf("%q may not be set by the %s layer; set it in: %s", FormatPath(plain), layer, k.Layers)
	}
	return k, nil
}

func withoutPlus(path []string) (plain []string, plus bool) {
	last := path[len(path)-1]
	if k, _ := lookup(path); k != nil {
		return path, false
	}
	if name, ok := strings.CutPrefix(last, "+"); ok {
		return child(path[:len(path)-1], name), true
	}
	return path, false
}

// An UnknownKeyError names a setting that does not exist.
type UnknownKeyError struct{ Path []string }

func (e *UnknownKeyError) Error() string {
	msg := fmt.Sprintf("unknown setting %q", FormatPath(e.Path))
	if e.Path[0] == "policy" {
		return msg + "; the policy is written in the file: zot policy init, zot config edit"
	}
	const quote = "; a name with dots in it is quoted: "
	isLeaf := func(p []string) bool { k, _ := lookup(p); return k != nil }
	if joined := rejoined(e.Path, isLeaf); joined != nil {
		return msg + quote + FormatPath(joined)
	}
	at := root
	for _, name := range e.Path {
		next := at.step(name)
		if next == nil {
			if near := schemas.Nearest(name, at.names()); near != "" {
				return msg + fmt.Sprintf("; did you mean %q?", near)
			}
			if joined := rejoined(e.Path, Known); joined != nil {
				return msg + quote + FormatPath(joined)
			}
			return msg
		}
		at = next
	}
	return msg + "; it holds: " + strings.Join(at.names(), ", ")
}

// rejoined puts a name back together that was cut at its own dots, where that
// makes a path that is known: models."gpt-4.1".name. Else it is nil.
func rejoined(path []string, known func([]string) bool) []string {
	for start := 1; start < len(path); start++ {
		for end := start + 2; end <= len(path); end++ {
			name := strings.Join(path[start:end], ".")
			if joined := slices.Concat(path[:start], []string{name}, path[end:]); known(joined) {
				return joined
			}
		}
	}
	return nil
}

// Set saves one setting in the settings file of a layer, which need not exist,
// and leaves the rest of it as it is. A file that cannot be read is not
// written: the error says where it breaks. Where the file has the setting both
// plain and with a plus, only the one that path names is changed.
//
// Instances of zot that save to one file at the same time wait for each other,
// as long as they share a home.
func Set(h home.Home, file string, path []string, value any) error {
	return edit(h, file, func(f *document.File) ([]byte, error) { return f.Set(path, value) })
}

// Unset removes one setting from a settings file, and tells whether it was
// there. The rest of the file stays as it is.
func Unset(h home.Home, file string, path []string) (bool, error) {
	found := false
	err := edit(h, file, func(f *document.File) ([]byte, error) {
		found = f.Root.Find(path...) != nil
		return f.Unset(path)
	})
	return found, err
}

func edit(h home.Home, file string, change func(*document.File) ([]byte, error)) error {
	return h.Update(file, func(old []byte) ([]byte, error) {
		f, err := document.Parse(file, orNew(file, old))
		if err != nil {
			return nil, fmt.Errorf("%w; the file was left as it is", err)
		}
		out, err := change(f)
		if errors.Is(err, document.ErrNoChange) {
			return old, nil
		}
		return out, err
	})
}

// orNew is what a settings file starts as: with the address of its schema, from
// which editors take completion and help.
func orNew(file string, old []byte) []byte {
	switch {
	case old != nil:
		return old
	case document.IsYAML(file):
		return []byte("# yaml-language-server: $schema=" + schemas.ID("config") + "\n")
	default:
		return []byte("{\n  \"$schema\": " + quoteJSON(schemas.ID("config")) + "\n}\n")
	}
}

// plainJSON turns a value into what encoding/json writes for people.
func plainJSON(value any) any {
	if d, ok := value.(time.Duration); ok {
		return d.String()
	}
	return value
}

// JSON is the value for machines: durations as strings, sizes in bytes.
func (e Entry) JSON() any { return plainJSON(e.Value) }

// Create makes a settings file that sets nothing, unless there is one.
func Create(h home.Home, file string) error {
	return h.Update(file, func(old []byte) ([]byte, error) { return orNew(file, old), nil })
}

// Known tells whether path names a setting, or an object that holds some.
func Known(path []string) bool {
	at := root
	for _, name := range path {
		if at = at.step(name); at == nil {
			return false
		}
	}
	return true
}

package config

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// A Type is the type of a setting's value.
type Type uint8

// The types of settings.
const (
	Bool     Type = iota
	Int           // a whole number
	Number        // any number
	Text          // a string
	Duration      // a number of seconds, or a string such as "250ms"
	Bytes         // a number of bytes, or a string such as "4MiB"
	URL           // an address: http, https or socks5
	Path          // a path; ~/ is expanded, and a relative one starts at the layer's folder
	List          // strings
	PathList      // paths
)

// String names the type as messages do.
func (t Type) String() string {
	return [...]string{
		"true or false", "a whole number", "a number", "a string", "a duration", "a size",
		"a URL", "a path", "a list of strings", "a list of paths",
	}[t]
}

func (t Type) isList() bool { return t == List || t == PathList }

// A Key declares one setting, or with stars in its name a family of them.
type Key struct {
	Name    string
	Type    Type
	Enum    []string // the values allowed; nil: any
	Default any      // nil: none
	// Min and Max bound numbers; in nanoseconds for a Duration.
	Min, Max int64
	// Discovery settings count also while the project is not trusted: they
	// say where to look, and never what may run.
	Discovery bool
	Layers    Layers
	Doc       string

	// bind returns a pointer to the field of c that holds the value; names are
	// what the stars stood for. It is nil for a setting that only [home.Resolve]
	// needs.
	bind func(c *Config, names []string) any
}

// Keys returns the declarations of all settings.
func Keys() []Key { return slices.Clone(table) }

// EnvName is the variable that sets the key, or "" where none can.
func (k Key) EnvName() string {
	if strings.Contains(k.Name, "*") || !k.Layers.Has(Env) {
		return ""
	}
	var b strings.Builder
	b.WriteString("ZOT_")
	runes := []rune(k.Name)
	for i, r := range runes {
		switch {
		case r == '.':
			b.WriteByte('_')
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// A branch is a step in the tree of all names.
type branch struct {
	children map[string]*branch
	star     *branch
	key      *Key // at a leaf
}

var (
	root  = newTree(table)
	byEnv = indexEnv(table)
)

func newTree(keys []Key) *branch {
	root := &branch{children: map[string]*branch{}}
	for i := range keys {
		at := root
		for name := range strings.SplitSeq(keys[i].Name, ".") {
			at = at.grow(name)
		}
		at.key = &keys[i]
	}
	return root
}

func (b *branch) grow(name string) *branch {
	next := b.step(name)
	if name == "*" {
		next = b.star
	}
	if next == nil {
		next = &branch{children: map[string]*branch{}}
		if name == "*" {
			b.star = next
		} else {
			b.children[name] = next
		}
	}
	return next
}

// step returns the branch for a name in a file, or nil.
func (b *branch) step(name string) *branch {
	if next := b.children[name]; next != nil {
		return next
	}
	return b.star
}

func (b *branch) names() []string {
	names := make([]string, 0, len(b.children))
	for name := range b.children {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func indexEnv(keys []Key) map[string]*Key {
	index := map[string]*Key{}
	for i := range keys {
		if name := keys[i].EnvName(); name != "" {
			index[name] = &keys[i]
		}
	}
	return index
}

// lookup finds the declaration for a path, and what its stars stand for.
func lookup(path []string) (k *Key, names []string) {
	at := root
	for _, name := range path {
		next := at.children[name]
		if next == nil {
			if next = at.star; next == nil {
				return nil, nil
			}
			names = append(names, name)
		}
		at = next
	}
	return at.key, names
}

// mapEntry is the bind target for one entry of a map of strings.
func mapEntry(m *map[string]string, name string) any { return stringEntry{m, name} }

type stringEntry struct {
	m    *map[string]string
	name string
}

// assign stores a value that was checked against the key.
func assign(target, value any) {
	switch t := target.(type) {
	case *bool:
		*t = value.(bool)
	case **bool:
		v := value.(bool)
		*t = &v
	case *int:
		*t = int(value.(int64))
	case *Size:
		*t = Size(value.(int64))
	case **float64:
		v := value.(float64)
		*t = &v
	case *string:
		*t = value.(string)
	case *time.Duration:
		*t = value.(time.Duration)
	case *[]string:
		*t = append([]string{}, value.([]string)...)
	case stringEntry:
		if *t.m == nil {
			*t.m = map[string]string{}
		}
		(*t.m)[t.name] = value.(string)
	}
}

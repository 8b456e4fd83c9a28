package theme

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/patriceckhart/zot/schemas"
)

// MaxSize is the size in bytes above which a theme file is refused.
const MaxSize = 64 << 10

// Version is the number of the file format that is read, "schema" in a file.
const Version = 1

// A File is a theme file as it is, without what it inherits.
type File struct {
	Name        string
	Description string
	Path        string
	Inherits    string
	Spinner     Spinner
	SyntaxBase  string

	styles map[Variant]Palette
	has    map[Variant]bool // the file has something for the variant itself
	at     func(pointer string) schemas.Position
}

// Parse reads a theme file: schema 1, and the keys of zot's earlier theme
// files. The file is nil only where the text is no JSON object or too long.
// Problems name the place and the token; their values are left out. A path is
// for messages and may be empty.
func Parse(path string, data []byte) (*File, []schemas.Problem) {
	if len(data) > MaxSize {
		return nil, []schemas.Problem{{Kind: schemas.KindValue, Message: fmt.Sprintf("the theme has %d bytes, and may have %d", len(data), MaxSize)}}
	}
	doc, problems := schemas.Parse(data)
	if doc == nil {
		return nil, problems
	}
	root, ok := doc.Value().(map[string]any)
	if !ok {
		return nil, append(problems, schemas.Problem{Kind: schemas.KindType, Line: 1, Column: 1, Message: "a theme must be an object"})
	}
	r := &reader{root: root, problems: problems, at: doc.Position}
	return r.file(path), r.sorted()
}

// A reader collects a file and what is wrong with it.
type reader struct {
	root     map[string]any
	vars     map[string]any
	problems []schemas.Problem
	at       func(pointer string) schemas.Position
}

func (r *reader) problem(kind schemas.Kind, pointer, remedy, format string, args ...any) {
	p := r.at(pointer)
	r.problems = append(r.problems, schemas.Problem{
		Kind: kind, Pointer: pointer, Line: p.Line, Column: p.Column,
		Message: fmt.Sprintf(format, args...), Remedy: remedy,
	})
}

func (r *reader) sorted() []schemas.Problem {
	slices.SortStableFunc(r.problems, func(a, b schemas.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.problems
}

func (r *reader) file(path string) *File {
	f := &File{
		Path: path, Name: r.text("name"), Description: r.text("description"), Inherits: r.text("inherits"),
		SyntaxBase: r.text("syntax_base_style"),
		styles:     map[Variant]Palette{Dark: {}, Light: {}}, has: map[Variant]bool{}, at: r.at,
	}
	if n, ok := r.root["schema"]; ok && fmt.Sprint(n) != fmt.Sprint(Version) {
		r.problem(schemas.KindValue, "/schema", "", "schema is %v; this zot reads %d and takes what it knows", n, Version)
	}
	r.vars = r.object(r.root, "", "vars")
	r.checkVars()
	r.published(f)
	r.variants(f)
	r.spinner(f)
	r.unknown()
	return f
}

// text reads a string of the file in one line.
func (r *reader) text(key string) string {
	v, ok := r.root[key]
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		r.problem(schemas.KindType, "/"+key, "", "%s must be a string", key)
		return ""
	}
	return plain(s)
}

// plain drops what a terminal would obey.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, s)
}

// object returns the object under key, or nil.
func (r *reader) object(in map[string]any, pointer, key string) map[string]any {
	v, ok := in[key]
	if !ok || v == nil {
		return nil
	}
	o, ok := v.(map[string]any)
	if !ok {
		r.problem(schemas.KindType, pointer+"/"+key, "", "%s must be an object", key)
	}
	return o
}

// variants reads "dark" and "light" of schema 1.
func (r *reader) variants(f *File) {
	for _, v := range []Variant{Dark, Light} {
		block := r.object(r.root, "", string(v))
		for _, key := range slices.Sorted(maps.Keys(block)) {
			pointer := schemas.Pointer(string(v), key)
			token := Token(key)
			if !known(token) {
				r.problem(schemas.KindUnknownKey, pointer, nearestToken(key), "%s: there is no token %q", v, key)
			}
			if s, ok := r.style(block[key], pointer, key); ok {
				f.styles[v][token] = s
				f.has[v] = true
			}
		}
	}
}

func nearestToken(key string) string {
	var names []string
	for _, t := range Tokens {
		names = append(names, string(t))
	}
	if near := schemas.Nearest(key, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// topKeys are the keys of a file besides its colours.
var topKeys = []string{
	"$schema", "schema", "name", "description", "inherits", "vars", "dark", "light", "colors", "color_descriptions",
	"spinner_frames", "spinner_messages", "spinner_interval_ms", "syntax_base_style", "syntax",
}

func (r *reader) unknown() {
	for _, key := range slices.Sorted(maps.Keys(r.root)) {
		if slices.Contains(topKeys, key) || publishedTokens[key] != nil {
			continue
		}
		remedy := ""
		if near := schemas.Nearest(key, append(slices.Collect(maps.Keys(publishedTokens)), topKeys...)); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
		r.problem(schemas.KindUnknownKey, schemas.Pointer(key), remedy, "a theme has no key %q", key)
	}
}

// Bounds of a spinner.
const (
	maxFrames   = 64
	maxFrameLen = 32 // bytes of one frame
	minInterval = 30 * time.Millisecond
)

func (r *reader) spinner(f *File) {
	f.Spinner.Frames = r.texts("spinner_frames", maxFrameLen)
	f.Spinner.Messages = r.texts("spinner_messages", 200)
	f.Spinner.Interval = DefaultInterval
	v, ok := r.root["spinner_interval_ms"]
	if !ok {
		return
	}
	n, ok := v.(json.Number)
	ms, err := n.Float64()
	if !ok || err != nil || ms <= 0 || ms > 10_000 {
		r.problem(schemas.KindValue, "/spinner_interval_ms", "", "spinner_interval_ms must be a number of milliseconds above 0")
		return
	}
	f.Spinner.Interval = max(minInterval, time.Duration(ms*float64(time.Millisecond)))
}

func (r *reader) texts(key string, longest int) []string {
	v, ok := r.root[key]
	if !ok {
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		r.problem(schemas.KindType, "/"+key, "", "%s must be a list of strings", key)
		return nil
	}
	var out []string
	for i, item := range items {
		s, ok := item.(string)
		if !ok || len(s) > longest || i >= maxFrames {
			r.problem(schemas.KindValue, fmt.Sprintf("/%s/%d", key, i), "", "%s holds at most %d strings of at most %d bytes", key, maxFrames, longest)
			return nil
		}
		out = append(out, plain(s))
	}
	return out
}

// Package document reads settings files as trees in which every name and value
// knows its line and column, and changes single values in them without touching
// the rest.
//
// A file is JSON, where comments and trailing commas are allowed, or YAML;
// which one is told by the end of its name. Both give the same [Node]s, so what
// reads them needs to know only one form. Nothing is dropped while reading: a
// name that occurs twice gives two members, for the caller to report.
package document

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds on what is read. Files are written by people, and the bounds are far
// above what a person writes.
const (
	MaxSize  = 1 << 20 // bytes in a file
	MaxDepth = 64      // objects and lists inside each other
	MaxNodes = 100_000 // values, after YAML aliases are followed
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

// String names the kind for messages, with its article.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// A Pos is a place in a file. Both count from 1, columns in characters. The
// zero Pos means that there is no place to name.
type Pos struct{ Line, Column int }

// Compare orders places as they follow each other in a file.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A Node is a value and its place. It is not to be changed.
type Node struct {
	Kind Kind
	Pos  Pos
	// Text is the content of a String and the literal of a Number.
	Text    string
	Bool    bool
	Members []Member // of an Object, in the order of the file
	Items   []*Node  // of a List
}

// A Member is a name in an object, and its value.
type Member struct {
	Name  string
	Pos   Pos // of the name
	Value *Node
}

// Get returns the value of the first member with the given name, or nil. It may
// be called on nil and on any kind.
func (n *Node) Get(name string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// Find follows names from n and returns the value there, or nil.
func (n *Node) Find(path ...string) *Node {
	for _, name := range path {
		n = n.Get(name)
	}
	return n
}

// A File is a settings file that was read.
type File struct {
	Name string // as it was given, for messages
	Data []byte // the bytes, byte order mark included
	Root *Node  // an empty Object where the file is blank
}

// A SyntaxError says where a file stops being JSON or YAML.
type SyntaxError struct {
	File string
	Pos  Pos
	Msg  string
	// Remedy says what to do, or is empty where the message says all.
	Remedy string
}

func (e *SyntaxError) Error() string {
	s := Place(e.File, e.Pos) + ": " + e.Msg
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Place writes a position as compilers do: file:line:column. A Pos of zero
// gives the file alone.
func Place(file string, pos Pos) string {
	if pos.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, pos.Line, pos.Column)
}

// Parse reads data as YAML where name ends in .yaml or .yml, and else as JSON
// with comments and trailing commas. A byte order mark and CR LF are fine. The
// outermost value must be an object. Errors are of type *SyntaxError.
func Parse(name string, data []byte) (*File, error) {
	f := &File{Name: name, Data: data}
	if len(data) > MaxSize {
		return nil, &SyntaxError{File: name, Msg: fmt.Sprintf("holds %d bytes", len(data)),
			Remedy: fmt.Sprintf("a settings file may hold %d", MaxSize)}
	}
	text := trimBOM(data)
	if i := invalidUTF8(text); i >= 0 {
		return nil, f.fail(newLines(text).pos(i), "not UTF-8 text", "save the file as UTF-8")
	}
	var err error
	if IsYAML(name) {
		f.Root, err = parseYAML(f, text)
	} else {
		f.Root, err = parseJSON(f, text)
	}
	if err != nil {
		return nil, err
	}
	if f.Root.Kind != Object {
		return nil, f.fail(f.Root.Pos, fmt.Sprintf("the file must hold an object, and this is %s", f.Root.Kind), f.objectForm())
	}
	return f, nil
}

// IsYAML tells whether a file of that name is read as YAML.
func IsYAML(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, ".yaml") || strings.HasSuffix(lower, ".yml")
}

// Text returns a line of the file without its end, or "".
func (f *File) Text(line int) string {
	if f == nil {
		return ""
	}
	return lineText(trimBOM(f.Data), line)
}

func (f *File) fail(pos Pos, msg, remedy string) *SyntaxError {
	return &SyntaxError{File: f.Name, Pos: pos, Msg: msg, Remedy: remedy}
}

func (f *File) objectForm() string {
	if IsYAML(f.Name) {
		return `write names and values: "model: gpt-4.1"`
	}
	return `write {"name": value, …}`
}

const bom = "\xef\xbb\xbf"

func trimBOM(data []byte) []byte {
	if len(data) >= len(bom) && string(data[:len(bom)]) == bom {
		return data[len(bom):]
	}
	return data
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

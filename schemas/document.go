package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxDepth is how deep objects and lists may be nested. It keeps a hostile
// document from using up the stack; no file of ours comes near it.
const MaxDepth = 256

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	utf16Marks    = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
)

// A Document is a text of JSON, with comments and trailing commas, and the
// places of all that is in it.
type Document struct {
	text []byte // without a byte order mark
	mark int    // length of the byte order mark that was cut off
	root hujson.Value
	val  any
	// first is the document as it would be were the first of keys that come
	// twice the one that counts; nil where no key does.
	first *Document
}

// Parse reads text. A byte order mark at its start and carriage returns before
// newlines are passed over. The document is nil where the text is not JSON;
// there is then exactly one problem. Otherwise the problems are keys that come
// twice: the last one counts for the value.
//
// The document keeps text; the caller must not change it afterwards.
func Parse(text []byte) (*Document, []Problem) {
	d := &Document{text: text}
	if bytes.HasPrefix(text, byteOrderMark) {
		d.mark = len(byteOrderMark)
		d.text = text[d.mark:]
	}
	if problem, bad := d.unreadable(); bad {
		return nil, []Problem{problem}
	}
	root, err := hujson.Parse(d.text)
	if err != nil {
		return nil, []Problem{d.syntaxProblem(err)}
	}
	d.root = root
	var problems []Problem
	d.val = d.convert(root, "", &problems)
	if len(problems) > 0 {
		d.first = &Document{text: d.text, mark: d.mark, root: keepFirst(root)}
		d.first.val = d.first.convert(d.first.root, "", new([]Problem))
	}
	return d, sortProblems(problems)
}

// keepFirst is the syntax without the later ones of keys that come twice.
func keepFirst(v hujson.Value) hujson.Value {
	switch c := v.Value.(type) {
	case *hujson.Object:
		seen := map[string]bool{}
		kept := &hujson.Object{AfterExtra: c.AfterExtra}
		for _, m := range c.Members {
			if key := m.Name.Value.(hujson.Literal).String(); !seen[key] {
				seen[key] = true
				m.Value = keepFirst(m.Value)
				kept.Members = append(kept.Members, m)
			}
		}
		v.Value = kept
	case *hujson.Array:
		kept := &hujson.Array{AfterExtra: c.AfterExtra}
		for _, e := range c.Elements {
			kept.Elements = append(kept.Elements, keepFirst(e))
		}
		v.Value = kept
	}
	return v
}

// unreadable finds what would make parsing pointless or dangerous.
func (d *Document) unreadable() (Problem, bool) {
	for _, mark := range utf16Marks {
		if bytes.HasPrefix(d.text, mark) {
			return Problem{Kind: KindSyntax, Line: 1, Column: 1, Message: "the file is UTF-16", Remedy: "save it as UTF-8"}, true
		}
	}
	if len(bytes.TrimSpace(d.text)) == 0 {
		return Problem{Kind: KindSyntax, Line: 1, Column: 1, Message: "the file is empty", Remedy: "start with {}"}, true
	}
	if at := invalidUTF8(d.text); at >= 0 {
		pos := d.positionAt(at)
		return Problem{Kind: KindSyntax, Line: pos.Line, Column: pos.Column,
			Message: fmt.Sprintf("byte 0x%02x is not UTF-8", d.text[at]), Remedy: "save the file as UTF-8"}, true
	}
	if at := tooDeep(d.text, MaxDepth); at >= 0 {
		pos := d.positionAt(at)
		return Problem{Kind: KindSyntax, Line: pos.Line, Column: pos.Column,
			Message: fmt.Sprintf("nested more than %d deep", MaxDepth), Remedy: "no file needs that: take some of it out"}, true
	}
	return Problem{}, false
}

// Value is the document as any, map[string]any, []any, string, bool, nil and
// json.Number. It is shared: callers must not change it.
func (d *Document) Value() any { return d.val }

// Standard is the document as plain JSON: comments and trailing commas are
// spaces, and every other byte stands where it stood, less the byte order mark.
func (d *Document) Standard() []byte {
	text, err := hujson.Standardize(bytes.Clone(d.text))
	if err != nil { // it was parsed before
		return bytes.Clone(d.text)
	}
	return text
}

// Decode stores the value at pointer in target, as encoding/json does. Names
// of fields are matched in any case there: check the document first.
func (d *Document) Decode(pointer string, target any) error {
	found, ok := lookup(d.val, pointer)
	if !ok {
		return fmt.Errorf("nothing at %q", pointer)
	}
	raw, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, target)
}

// Lookup returns the value at a JSON pointer, and whether there is one.
func (d *Document) Lookup(pointer string) (any, bool) { return lookup(d.val, pointer) }

// Span returns the first byte of the value at pointer and the one after it, as
// offsets into the text given to [Parse]. It is for edits that leave all other
// bytes alone.
func (d *Document) Span(pointer string) (start, end int, ok bool) {
	f := d.find(pointer)
	if !f.exact {
		return 0, 0, false
	}
	return f.value.StartOffset + d.mark, f.value.EndOffset + d.mark, true
}

// Syntax is the tree of the document, with the offsets that [Document.Span]
// shifts by the length of a byte order mark. Callers must not change it.
func (d *Document) Syntax() (root hujson.Value, shift int) { return d.root, d.mark }

// A Position is a place in a text, counted from 1, in characters.
type Position struct{ Line, Column int }

// Position returns the place of the value at pointer, or of the nearest part
// around it where there is no such value.
func (d *Document) Position(pointer string) Position {
	return d.positionAt(d.find(pointer).value.StartOffset)
}

// KeyPosition is [Document.Position] for the key under which the value stands;
// an element of a list has none and gives its own place.
func (d *Document) KeyPosition(pointer string) Position {
	f := d.find(pointer)
	if f.exact && f.key != nil {
		return d.positionAt(f.key.StartOffset)
	}
	return d.positionAt(f.value.StartOffset)
}

// locate is the document as a [Locator].
func (d *Document) locate(pointer string, key bool) Position {
	if key {
		return d.KeyPosition(pointer)
	}
	return d.Position(pointer)
}

func (d *Document) positionAt(offset int) Position {
	before := d.text[:min(offset, len(d.text))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return Position{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(before[lineStart:]),
	}
}

// found is where a pointer led to.
type found struct {
	key   *hujson.Value // nil in lists and at the root
	value *hujson.Value
	exact bool // false: value is the nearest part around it
}

func (d *Document) find(pointer string) found {
	at := found{value: &d.root, exact: true}
	for _, token := range splitPointer(pointer) {
		next, ok := child(at.value, token)
		if !ok {
			at.exact = false
			return at
		}
		at = next
	}
	return at
}

// child steps into one value. Of a key that comes twice the last one counts,
// as it does for the value.
func child(v *hujson.Value, token string) (found, bool) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := len(c.Members) - 1; i >= 0; i-- {
			m := &c.Members[i]
			if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == token {
				return found{key: &m.Name, value: &m.Value, exact: true}, true
			}
		}
	case *hujson.Array:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(c.Elements) {
			return found{value: &c.Elements[i], exact: true}, true
		}
	}
	return found{}, false
}

// convert turns syntax into plain values and reports keys that come twice.
func (d *Document) convert(v hujson.Value, pointer string, problems *[]Problem) any {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return d.convertObject(c, pointer, problems)
	case *hujson.Array:
		list := make([]any, len(c.Elements))
		for i, e := range c.Elements {
			list[i] = d.convert(e, pointer+"/"+strconv.Itoa(i), problems)
		}
		return list
	case hujson.Literal:
		return convertLiteral(c)
	}
	return nil
}

func (d *Document) convertObject(obj *hujson.Object, pointer string, problems *[]Problem) any {
	fields := make(map[string]any, len(obj.Members))
	first := make(map[string]int, len(obj.Members))
	for _, m := range obj.Members {
		key := m.Name.Value.(hujson.Literal).String()
		at := pointer + "/" + escapeToken(key)
		if offset, twice := first[key]; twice {
			pos := d.positionAt(m.Name.StartOffset)
			*problems = append(*problems, Problem{Kind: KindDuplicateKey, Pointer: at, Line: pos.Line, Column: pos.Column,
				Message: fmt.Sprintf("key %q is there twice, first in line %d", key, d.positionAt(offset).Line),
				Remedy:  "keep one of the two"})
		} else {
			first[key] = m.Name.StartOffset
		}
		fields[key] = d.convert(m.Value, at, problems)
	}
	return fields
}

func convertLiteral(l hujson.Literal) any {
	switch l.Kind() {
	case '"':
		return l.String()
	case '0':
		return json.Number(string(l))
	case 't', 'f':
		return l.Bool()
	}
	return nil
}

var hujsonPlace = regexp.MustCompile(`line (\d+), column (\d+): `)

// syntaxProblem rewords an error of the parser, whose columns are bytes.
func (d *Document) syntaxProblem(err error) Problem {
	p := Problem{Kind: KindSyntax, Message: err.Error()}
	if m := hujsonPlace.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		pos := d.positionAt(lineOffset(d.text, line) + column - 1)
		p.Line, p.Column = pos.Line, pos.Column
	}
	if cause := errors.Unwrap(err); cause != nil {
		p.Message = cause.Error()
	}
	p.Message, p.Remedy = rewordSyntax(p.Message)
	return p
}

func rewordSyntax(message string) (string, string) {
	switch {
	case strings.Contains(message, "unexpected EOF"):
		return "the file ends in the middle of a value", "close what is open with } ] or \""
	case strings.Contains(message, "expecting ',' or"):
		return message, "put a comma between the two values"
	case strings.Contains(message, "'\\''"):
		return message, "strings are written in double quotes"
	case strings.Contains(message, "invalid literal"):
		return message, "names and strings are written in double quotes"
	case strings.Contains(message, "after object name"):
		return message, "put a colon between the name and its value"
	}
	return message, ""
}

// lineOffset is where a line starts, counted from 1.
func lineOffset(text []byte, line int) int {
	offset := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(text[offset:], '\n')
		if next < 0 {
			break
		}
		offset += next + 1
	}
	return offset
}

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// tooDeep returns the offset of the bracket that exceeds limit, or -1. It runs
// before the parser, which recurses.
func tooDeep(text []byte, limit int) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '/':
			i = skipComment(text, i)
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

func skipString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

func skipComment(text []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	if n := bytes.Index(text[i+2:], []byte(end)); n >= 0 {
		return i + 2 + n + len(end) - 1
	}
	return len(text)
}

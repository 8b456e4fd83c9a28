package schemas

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Validate checks a text of JSON, with comments and trailing commas, against
// the schema called name. No problems means that the document is good. A text
// that is not JSON has one problem of [KindSyntax]. A name that does not exist
// is a mistake of the caller and panics.
func Validate(name string, text []byte) []Problem {
	doc, problems := Parse(text)
	if doc == nil {
		return problems
	}
	return sortProblems(append(problems, doc.Validate(name)...))
}

// Validate checks the document as [Validate] does, less what [Parse] said. Of
// keys that come twice both values are checked.
func (d *Document) Validate(name string) []Problem {
	problems := ValidateValue(name, d.val, d.locate)
	if d.first != nil {
		problems = sortProblems(append(problems, d.first.Validate(name)...))
	}
	return problems
}

// A Locator finds the place of a value in the text it came from, or of the key
// it stands under. It returns the zero Position where it does not know.
type Locator func(pointer string, key bool) Position

// ValidateValue checks a value made of map[string]any, []any, string, bool, nil
// and json.Number or Go's numbers. locate may be nil.
func ValidateValue(name string, value any, locate Locator) []Problem {
	if locate == nil {
		locate = func(string, bool) Position { return Position{} }
	}
	schema := compiled(name)
	err := schema.Validate(value)
	if err == nil {
		return nil
	}
	failure, ok := err.(*jsonschema.ValidationError)
	if !ok { // a value that no JSON can hold, or a schema that refers to itself
		pos := locate("", false)
		return []Problem{{Kind: KindValue, Line: pos.Line, Column: pos.Column, Message: err.Error()}}
	}
	x := explainer{root: value, locate: locate}
	for _, f := range x.leaves(failure) {
		x.explain(f)
	}
	return sortProblems(x.problems)
}

var compiledSchemas sync.Map // string -> func() *jsonschema.Schema

// compiled compiles a schema once, on first use.
func compiled(name string) *jsonschema.Schema {
	once, ok := compiledSchemas.Load(name)
	if !ok {
		once, _ = compiledSchemas.LoadOrStore(name, sync.OnceValue(func() *jsonschema.Schema { return compile(name) }))
	}
	return once.(func() *jsonschema.Schema)()
}

func compile(name string) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = loadEmbedded
	schema, err := c.Compile(ID(name))
	if err != nil {
		panic(fmt.Sprintf("schemas: %v", err)) // the tests compile every schema
	}
	return schema
}

// loadEmbedded stands in for the library's loader, which would open any file.
func loadEmbedded(url string) (io.ReadCloser, error) {
	name, ok := nameOf(url)
	if !ok {
		return nil, fmt.Errorf("schema %q is not embedded", url)
	}
	text, ok := Get(name)
	if !ok {
		return nil, fmt.Errorf("no schema is called %q", name)
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// A Schema is a compiled schema that did not come from this folder, such as
// the one an extension declares for a tool's arguments.
type Schema struct {
	compiled *jsonschema.Schema
	raw      any
}

// Compile reads a schema given by a stranger. References may lead only into
// the text itself or to the embedded schemas.
func Compile(text []byte) (*Schema, error) {
	doc, problems := Parse(text)
	if doc == nil {
		return nil, &FileError{File: "schema", Text: text, Problems: problems}
	}
	const url = "mem:///schema.json"
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = loadEmbedded
	if err := c.AddResource(url, bytes.NewReader(doc.Standard())); err != nil {
		return nil, err
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled: schema, raw: doc.Value()}, nil
}

// Validate checks a value of the kinds that [ValidateValue] takes.
func (s *Schema) Validate(value any) []Problem {
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	failure, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return []Problem{{Kind: KindValue, Message: err.Error()}}
	}
	x := explainer{root: value, raw: s.raw, locate: func(string, bool) Position { return Position{} }}
	for _, f := range x.leaves(failure) {
		x.explain(f)
	}
	return sortProblems(x.problems)
}

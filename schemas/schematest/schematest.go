// Package schematest compares schemas with the code that reads what they
// describe, so that neither knows a name that the other does not.
package schematest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/schemas"
)

// Properties lists the properties of a schema's object at a JSON pointer, ""
// for the outermost.
func Properties(t testing.TB, name, pointer string) []string {
	t.Helper()
	text, ok := schemas.Get(name)
	if !ok {
		t.Fatalf("no schema is called %q", name)
	}
	doc, problems := schemas.Parse(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	at, _ := doc.Lookup(pointer + "/properties")
	object, ok := at.(map[string]any)
	if !ok {
		t.Fatalf("%s has no properties at %q", name, pointer)
	}
	var names []string
	for property := range object {
		names = append(names, property)
	}
	slices.Sort(names)
	return names
}

// Fields lists the JSON names of a struct's fields, those of embedded structs
// among them.
func Fields(typ reflect.Type) []string {
	var names []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			names = append(names, Fields(inner)...)
		case name != "" && name != "-" && f.IsExported():
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Same fails where the properties of the object at pointer are not the names
// that the code reads.
func Same(t testing.TB, name, pointer string, read []string) {
	t.Helper()
	properties := Properties(t, name, pointer)
	for _, p := range properties {
		if !slices.Contains(read, p) {
			t.Errorf("schema %s%s: nothing reads the property %q", name, pointer, p)
		}
	}
	for _, r := range read {
		if !slices.Contains(properties, r) {
			t.Errorf("schema %s%s has no property %q, which the code reads", name, pointer, r)
		}
	}
}

// Layers is what a schema's property at a pointer says of the layers that may
// set it.
func Layers(t testing.TB, name, pointer string) []string {
	t.Helper()
	text, _ := schemas.Get(name)
	doc, _ := schemas.Parse(text)
	var layers []string
	found, _ := doc.Lookup(pointer + "/x-zot-layers")
	raw, err := json.Marshal(found)
	if err != nil || json.Unmarshal(raw, &layers) != nil {
		t.Fatalf("%s%s: x-zot-layers is %v", name, pointer, found)
	}
	return layers
}

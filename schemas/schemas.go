// Package schemas holds the JSON Schema of every file and frame that zot
// accepts, and the one way in which those are checked.
//
// A schema is a file below this folder; its name is its path without the
// ending: "manifest" is manifest.schema.json, "frames/hello" is
// frames/hello.schema.json. A new file is found by being there.
//
//	problems := schemas.Validate("manifest", text)
//	for _, p := range problems {
//		fmt.Print(schemas.Render(p, "extension.json", text))
//	}
//
// Text is JSON in which comments and trailing commas are allowed. [Parse] gives
// the value together with the place of every part of it, for packages that go
// on to read the value themselves; [ValidateValue] checks a value that came
// from elsewhere (YAML, flags) and asks a [Locator] for its places.
//
// Schemas are compiled when they are first used, each once, and refer only to
// one another: nothing is ever fetched.
package schemas

import (
	"embed"
	"io/fs"
	"sort"
	"strings"
	"sync"
)

//go:embed *.schema.json */*.schema.json
var files embed.FS

const (
	// BaseURL begins the $id of every schema, so that an editor that reads
	// "$schema" in a file finds the same text that zot embeds.
	BaseURL = "https://raw.githubusercontent.com/patriceckhart/zot/main/schemas/"

	suffix = ".schema.json"
)

// ID is the address by which documents and other schemas refer to the schema
// called name.
func ID(name string) string { return BaseURL + name + suffix }

// Get returns the text of the schema called name, and whether there is one.
// The caller owns the slice.
func Get(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + suffix)
	return text, err == nil
}

// Names lists the schemas in alphabetical order.
func Names() []string {
	var names []string
	// Walking an embedded tree cannot fail.
	_ = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, _ error) error {
		if !entry.IsDir() {
			names = append(names, strings.TrimSuffix(path, suffix))
		}
		return nil
	})
	sort.Strings(names)
	return names
}

// nameOf is the inverse of [ID]; a fragment is passed over.
func nameOf(url string) (string, bool) {
	url, _, _ = strings.Cut(url, "#")
	rest, ok := strings.CutPrefix(url, BaseURL)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, suffix)
}

// rawSchemas keeps the decoded text of schemas, by name. Messages are made from
// it: it knows descriptions and remedies, which compiling drops.
var rawSchemas sync.Map // string -> any

func rawSchema(name string) any {
	if raw, ok := rawSchemas.Load(name); ok {
		return raw
	}
	text, ok := Get(name)
	if !ok {
		return nil
	}
	doc, _ := Parse(text)
	if doc == nil {
		return nil
	}
	raw, _ := rawSchemas.LoadOrStore(name, doc.Value())
	return raw
}

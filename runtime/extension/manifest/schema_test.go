package manifest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/schemas/schematest"
)

// Every property of a manifest has a field, and the other way round; a good
// value of each reaches it.
func TestSchemaAndManifestAgree(t *testing.T) {
	var fields []string
	typ := reflect.TypeFor[Manifest]()
	for i := range typ.NumField() {
		if name := typ.Field(i).Name; !slices.Contains([]string{"Dir", "File", "Text", "Theme"}, name) { // where it was found
			fields = append(fields, strings.ToLower(name[:1])+name[1:])
		}
	}
	schematest.Same(t, "manifest", "", append(fields, "$schema"))

	m, warnings, err := Load(folder(t, FileName, `{
		"$schema": "x", "name": "a", "version": "1.0.0", "exec": "./a.wasm", "args": ["-x"], "language": "go", "description": "d", "skills": ["s"],
		"enabled": false, "transport": "wasi", "permissions": {"notify": true}, "contributes": {"panels": [{"id": "p"}]}, "limits": {"memory": "1MiB"},
		"env": {"A": "b"}, "minZot": "0.0.1", "homepage": "https://example.org", "license": "MIT"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if !strings.Contains(w.Message, "is not there") { // the folder has no skill
			t.Error(w)
		}
	}
	v := reflect.ValueOf(*m)
	for i := range typ.NumField() {
		if name := typ.Field(i).Name; v.Field(i).IsZero() && name != "Enabled" && name != "Theme" {
			t.Errorf("%s was not read", name)
		}
	}

	schematest.Same(t, "manifest", "/properties/contributes", schematest.Fields(reflect.TypeFor[Contributes]()))
	for list, item := range map[string]reflect.Type{
		"commands": reflect.TypeFor[DeclaredCommand](), "tools": reflect.TypeFor[DeclaredTool](), "panels": reflect.TypeFor[DeclaredPanel](),
	} {
		schematest.Same(t, "manifest", "/properties/contributes/properties/"+list+"/items", schematest.Fields(item))
	}
}

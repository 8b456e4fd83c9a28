package theme

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed builtin/*.json
var builtinFiles embed.FS

// loadBuiltins reads the themes of the program, which are without fault.
var loadBuiltins = sync.OnceValue(func() map[string]*File {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		panic(err) // an embedded folder can be read
	}
	files := make(map[string]*File, len(entries))
	for _, e := range entries {
		data, err := builtinFiles.ReadFile(path.Join("builtin", e.Name()))
		if err != nil {
			panic(err)
		}
		f, problems := Parse("", data)
		if len(problems) > 0 {
			panic(fmt.Sprintf("built-in theme %s: %v", e.Name(), problems[0]))
		}
		files[strings.TrimSuffix(e.Name(), ".json")] = f
	}
	return files
})

func builtinFile(name string) *File { return loadBuiltins()[name] }

// Builtins lists the names of the built-in themes, the default one first.
func Builtins() []string {
	names := []string{DefaultName}
	for name := range loadBuiltins() {
		if name != DefaultName {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return names
}

// Builtin returns a built-in theme, and whether there is one of that name.
func Builtin(name string) (*Theme, bool) {
	f := builtinFile(strings.ToLower(name))
	if f == nil {
		return nil, false
	}
	t, _ := Resolve(f, nil)
	return t, true
}

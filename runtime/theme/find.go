package theme

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/schemas"
)

// A Source is a theme that can be chosen.
type Source struct {
	// Name is what the choice is called: a built-in's name, or the name of the
	// file without its ending.
	Name        string
	Path        string // empty for a built-in
	Extension   string // the extension that ships it, or empty
	Description string
}

// A Bundle is an extension's folder, which may hold theme.json and
// themes/theme.json.
type Bundle struct{ Extension, Dir string }

// Sources lists the themes: the built-in ones, those in dir (which may be
// empty or not exist), and those of extensions. Files that are no themes are
// in problems.
func Sources(dir string, bundles []Bundle) ([]Source, []error) {
	var out []Source
	var problems []error
	for _, name := range Builtins() {
		out = append(out, Source{Name: name, Description: builtinFile(name).Description})
	}
	add := func(path, extension string) {
		f, _, err := Load(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, err)
		default:
			out = append(out, source(f, path, extension))
		}
	}
	for _, path := range filesIn(dir) {
		add(path, "")
	}
	for _, b := range bundles {
		add(filepath.Join(b.Dir, "theme.json"), b.Extension)
		add(filepath.Join(b.Dir, "themes", "theme.json"), b.Extension)
	}
	return out, problems
}

func source(f *File, path, extension string) Source {
	s := Source{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Path: path, Description: f.Description, Extension: extension}
	if extension != "" {
		if s.Name = f.Name; s.Name == "" {
			s.Name = extension
		}
		s.Description = strings.TrimSuffix("from extension "+extension+" — "+f.Description, " — ")
	}
	return s
}

func filesIn(dir string) []string {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(filepath.Ext(e.Name()), ".json") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out
}

// Load reads a theme file. The problems are those that leave the file usable;
// the error is a *schemas.FileError where it is not.
func Load(path string) (*File, []schemas.Problem, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading theme %q: %w", path, err)
	}
	f, problems := Parse(path, data)
	if f == nil {
		return nil, nil, &schemas.FileError{File: path, Text: data, Problems: problems}
	}
	if f.Name == "" {
		f.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return f, problems, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

// Open returns the theme that a setting names: a built-in, a file in dir by its
// name, one of the extensions' by its name, or a path.
func Open(name, dir string, bundles []Bundle) (*Theme, []schemas.Problem, error) {
	sources, _ := Sources(dir, bundles)
	lookup := func(wanted string) (*File, bool) {
		for _, s := range slices.Backward(sources) { // the user's before the built-in of that name
			if s.Path != "" && strings.EqualFold(s.Name, wanted) {
				f, _, err := Load(s.Path)
				return f, err == nil
			}
		}
		return nil, false
	}
	if filepath.IsAbs(name) {
		return open(name, lookup)
	}
	for _, s := range sources {
		if s.Path != "" && strings.EqualFold(s.Name, name) {
			return open(s.Path, lookup)
		}
	}
	if t, ok := Builtin(name); ok {
		return t, nil, nil
	}
	known := sourceNames(sources)
	if near := schemas.Nearest(name, append([]string{"auto", string(Dark), string(Light)}, known...)); near != "" {
		return nil, nil, fmt.Errorf("there is no theme %q; did you mean %q?", name, near)
	}
	return nil, nil, fmt.Errorf("there is no theme %q; there are: %s", name, strings.Join(known, ", "))
}

func open(path string, lookup func(string) (*File, bool)) (*Theme, []schemas.Problem, error) {
	f, problems, err := Load(path)
	if err != nil {
		return nil, nil, err
	}
	t, more := Resolve(f, lookup)
	return t, append(problems, more...), nil
}

func sourceNames(sources []Source) []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	return names
}

// Package manifest reads extension.json, the file that makes a folder an
// extension.
//
// [Load] reads and checks one folder. It is strict about types and values,
// gentle about keys it does not know (those are warnings), and names file,
// line, column and remedy for each fault. [Manifest.ExecPath] finds the program
// and the true reason why it could not start. Nothing here runs anything.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/schemas"
)

const (
	// FileName is the name of the manifest in an extension's folder.
	FileName = "extension.json"
	// MaxSize bounds the manifest, in bytes.
	MaxSize = 1 << 20
)

// Transport says how an extension runs.
type Transport string

const (
	Subprocess Transport = "subprocess"
	WASI       Transport = "wasi"
)

// Kind says what a folder brings.
type Kind string

const (
	Protocol  Kind = "protocol"   // a program that speaks the protocol, and perhaps a theme and skills
	ThemeOnly Kind = "theme-only" // a theme, perhaps with skills; never started
	SkillOnly Kind = "skill-only" // skills; never started
)

// A Manifest is what extension.json says, checked.
type Manifest struct {
	Dir  string // the folder, as it was given to Load
	File string // the manifest in it
	Text []byte // the bytes of the file

	Name        string
	Version     string
	Exec        string // empty where nothing is started
	Args        []string
	Language    string
	Description string
	Skills      []string // folders and files below Dir, as written
	Enabled     bool
	Transport   Transport // empty where nothing is started
	Env         map[string]string
	MinZot      string
	Homepage    string
	License     string
	Contributes Contributes

	// Permissions and Limits are objects of schemas/shared, or nil. Keys that
	// are not known were warned of and are still in here.
	Permissions json.RawMessage
	Limits      json.RawMessage

	// Theme is the theme's file below Dir, theme.json or themes/theme.json, or
	// empty.
	Theme string
}

// Contributes is what an extension says it will register.
type Contributes struct {
	Commands []DeclaredCommand `json:"commands,omitempty"`
	Tools    []DeclaredTool    `json:"tools,omitempty"`
	Panels   []DeclaredPanel   `json:"panels,omitempty"`
	// Declared tells an empty section from an absent one.
	Declared bool `json:"-"`
}

// DeclaredCommand is a slash command of [Contributes].
type DeclaredCommand struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// DeclaredTool is a tool of [Contributes].
type DeclaredTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Deferred     bool            `json:"deferred,omitempty"`
	Interactive  bool            `json:"interactive,omitempty"`
}

// DeclaredPanel is a panel of [Contributes].
type DeclaredPanel struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// Kind says what the folder brings.
func (m *Manifest) Kind() Kind {
	switch {
	case m.Exec != "":
		return Protocol
	case m.Theme != "":
		return ThemeOnly
	}
	return SkillOnly
}

// Load reads the manifest in dir. The warnings are unknown keys and paths that
// lead nowhere; the manifest can be used all the same. The error wraps
// fs.ErrNotExist where there is no manifest, and is a *[schemas.FileError]
// where there is one with faults.
func Load(dir string) (*Manifest, []schemas.Problem, error) {
	file := filepath.Join(dir, FileName)
	text, err := read(dir, file)
	if err != nil {
		return nil, nil, err
	}
	m, warnings, err := parse(dir, text)
	return m, warnings, err
}

// read returns the bytes of the manifest.
func read(dir, file string) ([]byte, error) {
	text, err := home.ReadFile(file, MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil, missing(dir, file)
	case err != nil:
		return nil, fmt.Errorf("reading manifest: %w", err)
	case len(text) > MaxSize:
		return nil, fmt.Errorf("reading manifest: %s is larger than %d bytes", file, MaxSize)
	}
	return text, nil
}

func missing(dir, file string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // the path is said already
		}
		return fmt.Errorf("no extension at %s: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder; name the folder that holds %s: %w", dir, FileName, fs.ErrNotExist)
	}
	return fmt.Errorf("no manifest: %s is not there; an extension's folder holds a %s: %w", file, FileName, fs.ErrNotExist)
}

// parse checks text and fills in the manifest of dir.
func parse(dir string, text []byte) (*Manifest, []schemas.Problem, error) {
	file := filepath.Join(dir, FileName)
	doc, problems := schemas.Parse(text)
	if doc == nil {
		return nil, nil, &schemas.FileError{File: file, Text: text, Problems: problems}
	}
	faults, warnings := split(append(problems, doc.Validate("manifest")...))
	nameInWords(faults, doc)
	if len(faults) > 0 {
		return nil, warnings, &schemas.FileError{File: file, Text: text, Problems: faults}
	}
	m := &Manifest{Dir: dir, File: file, Text: text}
	if err := m.decode(doc); err != nil {
		return nil, warnings, fmt.Errorf("reading manifest %s: %w", file, err)
	}
	m.Theme = findTheme(dir)
	c := checker{m: m, doc: doc, warnings: warnings}
	c.check()
	if len(c.faults) > 0 {
		return nil, c.warnings, &schemas.FileError{File: file, Text: text, Problems: c.faults}
	}
	return m, c.warnings, nil
}

func split(problems []schemas.Problem) (faults, warnings []schemas.Problem) {
	for _, p := range problems {
		if p.Kind == schemas.KindUnknownKey {
			warnings = append(warnings, p)
		} else {
			faults = append(faults, p)
		}
	}
	return faults, warnings
}

// nameInWords says which rule a name breaks, where the schema only has the
// pattern.
func nameInWords(faults []schemas.Problem, doc *schemas.Document) {
	for i, p := range faults {
		if p.Pointer != "/name" || p.Kind != schemas.KindValue {
			continue
		}
		value, _ := doc.Lookup("/name")
		name, _ := value.(string)
		if err := CheckName(name); err != nil {
			faults[i].Message = err.Error()
		}
	}
}

// decode copies what the schema has let through. Keys are taken by their exact
// name; encoding/json alone would also take "Exec" for exec.
func (m *Manifest) decode(doc *schemas.Document) error {
	str := func(key string) string {
		v, _ := doc.Lookup(schemas.Pointer(key))
		s, _ := v.(string)
		return s
	}
	m.Name, m.Version = str("name"), str("version")
	m.Exec, m.Language, m.Description = strings.TrimSpace(str("exec")), str("language"), str("description")
	m.MinZot, m.Homepage, m.License = str("minZot"), str("homepage"), str("license")
	m.Transport = Transport(str("transport"))
	m.Enabled = true
	if on, ok := doc.Lookup("/enabled"); ok && on == false {
		m.Enabled = false
	}
	for key, target := range map[string]any{
		"args": &m.Args, "skills": &m.Skills, "env": &m.Env, "contributes": &m.Contributes,
		"permissions": &m.Permissions, "limits": &m.Limits,
	} {
		if _, ok := doc.Lookup("/" + key); !ok {
			continue
		}
		if err := doc.Decode("/"+key, target); err != nil {
			return err
		}
	}
	_, m.Contributes.Declared = doc.Lookup("/contributes")
	if m.Exec != "" && m.Transport == "" {
		m.Transport = defaultTransport(m.Exec)
	}
	return nil
}

func defaultTransport(exec string) Transport {
	if strings.EqualFold(filepath.Ext(exec), ".wasm") {
		return WASI
	}
	return Subprocess
}

func findTheme(dir string) string {
	for _, name := range []string{"theme.json", filepath.Join("themes", "theme.json")} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

package skill

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Options says where to look. An empty folder is not searched.
type Options struct {
	Cwd      string // the project's folder
	Home     string // $ZOT_HOME
	UserHome string // the user's home folder
	// Dirs are further folders of skills, which rank below all others.
	Dirs []string
	// Bundles are the skills of extensions, in the extensions' order of rank.
	Bundles []Bundle
	// Admit, if not nil, is asked about each file of a skill in a folder: one that
	// is not admitted is left out as if it were not there. Nobody asks about
	// bundles, nor about built-ins.
	Admit func(path string, from Source) bool
	// SkipBuiltin leaves out the skills of the program.
	SkipBuiltin bool
}

// A Bundle is what an extension's manifest says of its skills.
type Bundle struct {
	Extension string
	Dir       string   // the extension's folder
	Entries   []string // folders, or SKILL.md files, relative to Dir
	// Explicit bundles were asked for by --ext and rank above all folders;
	// others rank below them.
	Explicit bool
}

// Bounds of a search below one folder.
const (
	maxDepth   = 8
	maxFolders = 4000
)

// Discover finds all skills. It never fails: what could not be used is in the
// set's Problems.
func Discover(o Options) *Set {
	b := &builder{set: &Set{}, byName: map[string]int{}, admit: o.Admit}
	b.bundles(o.Bundles, true)
	for _, l := range o.locations() {
		b.folder(l.dir, l.source)
	}
	for _, dir := range o.Dirs {
		b.folder(dir, Extra)
	}
	b.bundles(o.Bundles, false)
	if !o.SkipBuiltin {
		b.builtins()
	}
	return b.set
}

type location struct {
	dir    string
	source Source
}

func (o Options) locations() []location {
	all := []location{
		{under(o.Cwd, ".zot", "skills"), Project},
		{under(o.Home, "skills"), Home},
		{under(o.Cwd, ".claude", "skills"), ProjectClaude},
		{under(o.UserHome, ".claude", "skills"), UserClaude},
		{under(o.Cwd, ".agents", "skills"), ProjectAgents},
		{under(o.UserHome, ".agents", "skills"), UserAgents},
	}
	return slices.DeleteFunc(all, func(l location) bool { return l.dir == "" })
}

func under(base string, parts ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// A builder collects a set. Files are taken once, however often they are met:
// a project in the home folder has the same .claude as the user.
type builder struct {
	set    *Set
	byName map[string]int // index into set.Skills
	seen   []os.FileInfo  // files that are in the set
	admit  func(path string, from Source) bool
}

// folder adds the skills below dir, which need not exist.
func (b *builder) folder(dir string, source Source) {
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return
	}
	w := &walk{root: dir, onProblem: b.problem, onFile: func(path, rel string) {
		if b.admit == nil || b.admit(path, source) {
			b.file(path, Skill{Name: nameOf(rel), Source: source})
		}
	}}
	w.run()
}

// file reads path and adds its skill; s holds what is known from the outside,
// its name the one that it has if the file says none.
func (b *builder) file(path string, s Skill) {
	data, err := readFile(path)
	if err != nil {
		b.problem(Problem{Path: path, Reason: reason(err)})
		return
	}
	if info, err := os.Stat(path); err == nil {
		if slices.ContainsFunc(b.seen, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
			return
		}
		b.seen = append(b.seen, info)
	}
	s.Path = path
	b.add(data, s)
}

func (b *builder) add(data []byte, s Skill) {
	doc, err := parse(data)
	if err != nil {
		p := Problem{Path: cmp.Or(s.Path, s.entry), Reason: err.Error()}
		if fault := (*lineError)(nil); errors.As(err, &fault) {
			p.Line, p.Reason = fault.line, fault.reason
		}
		b.problem(p)
		return
	}
	s.Name = prefix(s.Extension) + cmp.Or(oneWord(doc.name), s.Name)
	s.Description = oneLine(doc.description)
	s.AllowedTools, s.Permissions, s.DisableModelInvocation = doc.allowedTools, doc.permissions, doc.userOnly
	key := strings.ToLower(s.Name)
	if i, taken := b.byName[key]; taken {
		b.set.Shadowed = append(b.set.Shadowed, Shadow{Skill: s, By: b.set.Skills[i]})
		return
	}
	b.byName[key] = len(b.set.Skills)
	b.set.Skills = append(b.set.Skills, s)
}

func (b *builder) problem(p Problem) { b.set.Problems = append(b.set.Problems, p) }

// prefix keeps the skills of extensions apart: "weather:".
func prefix(extension string) string {
	if extension == "" {
		return ""
	}
	return kebab(extension) + ":"
}

// nameOf makes a name from the folders between the searched place and the file.
func nameOf(rel string) string {
	if name := kebab(filepath.ToSlash(rel)); name != "" {
		return name
	}
	return "skill"
}

// kebab lower-cases s and puts one hyphen for each run of what is neither a
// letter nor a digit.
func kebab(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_'
	})
	return strings.Trim(strings.Join(words, "-"), ".")
}

// oneWord makes a name that can be typed after a slash.
func oneWord(name string) string { return strings.Join(strings.Fields(name), "-") }

// oneLine flattens a description and drops its control characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// reason is the cause of err without the path, which the problem names itself.
func reason(err error) string {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return fmt.Sprintf("cannot be read: %v", pe.Err)
	}
	return err.Error()
}

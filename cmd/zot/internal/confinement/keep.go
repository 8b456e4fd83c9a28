package confinement

import (
	"path/filepath"
	"slices"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/transports/confine"
)

// Keep says what no grant on a project or on all files reaches for writing: zot's
// own folders, of the project and of the user, in which only an extension's own
// state is its own; the skills that lie beside them; and the project's repository,
// whose hooks and settings name programs that run. Whoever names a repository's
// folder in its grant has it.
type Keep struct {
	Project string // its folder; or empty
	Home    home.Home
	Data    string // the extension's own folder for state
}

// repository is the folder of a repository in its work tree, or a file.
const repository = ".git"

// names are the folders that are kept wherever they stand in a project.
func names() []string { return append([]string{repository}, paths.Decides...) }

// fixed are the folders that a grant which names them does not open either.
func (k Keep) fixed() []string {
	out := []string{k.Home.Dir()}
	if k.Project != "" {
		out = append(out, home.ProjectConfigDir(k.Project))
	}
	return out
}

// inside lists what a grant of dir does not reach: those of zot's own folders that
// lie in it, and names that are kept at any depth of a project.
func (k Keep) inside(dir string) []string {
	out := slices.DeleteFunc(below(dir, k.fixed()), func(p string) bool { return p == "." })
	if k.Project != "" && !home.Inside(dir, k.Data) && (home.Inside(dir, k.Project) || home.Inside(k.Project, dir)) {
		for _, name := range names() {
			out = append(out, "**/"+name)
		}
	}
	return out
}

// fixes tells whether a folder lies in one of zot's own, and is not the
// extension's.
func (k Keep) fixes(dir string) bool {
	if home.Inside(dir, k.Data) {
		return false
	}
	for _, f := range k.fixed() {
		if home.Inside(dir, f) {
			return true
		}
	}
	return false
}

// shield keeps a process from zot's own folders, and from those that its grant
// closes; nil where the system cannot.
func (k Keep) shield(g *policies.Grant) *confine.Shield {
	if len(g.FSWrite)+len(g.FSDeny) == 0 || confine.ShieldMissing() != "" {
		return nil
	}
	keep, but := k.fixed(), []string{k.Data}
	if k.Project != "" {
		for _, name := range names() {
			keep = append(keep, filepath.Join(k.Project, filepath.FromSlash(name)))
		}
		for _, dir := range g.FSWrite { // a repository that was granted by its name
			switch git := filepath.Join(k.Project, repository); {
			case home.Real(dir) == home.Real(git):
				keep = slices.DeleteFunc(keep, func(p string) bool { return p == git })
			case home.Inside(dir, git):
				but = append(but, dir)
			}
		}
	}
	return &confine.Shield{Keep: existing(keep), But: existing(but), Hide: existing(g.FSDeny)}
}

// below lists the paths that lie in dir, relative to it and with slashes. One
// that dir lies in is ".": it concerns all of dir.
func below(dir string, paths []string) []string {
	var out []string
	for _, p := range paths {
		switch {
		case home.Inside(dir, p):
			out = append(out, ".")
		case home.Inside(p, dir):
			if rel, err := filepath.Rel(home.Real(dir), home.Real(p)); err == nil {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return out
}

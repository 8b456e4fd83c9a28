package confinement

import (
	"path/filepath"
	"slices"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/transports/confine"
)

// Keep says what no grant on files reaches for writing: zot's own folders, of the
// project and of the user, in which only an extension's own state is its own.
type Keep struct {
	Project string // its folder; or empty
	Home    home.Home
	Data    string // the extension's own folder for state
}

func (k Keep) fixed() []string {
	out := []string{k.Home.Dir()}
	if k.Project != "" {
		out = append(out, home.ProjectConfigDir(k.Project))
	}
	return out
}

// inside lists those of zot's own folders that lie in dir, relative to it.
func (k Keep) inside(dir string) []string {
	return slices.DeleteFunc(below(dir, k.fixed()), func(p string) bool { return p == "." })
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
	return &confine.Shield{Keep: existing(k.fixed()), But: existing([]string{k.Data}), Hide: existing(g.FSDeny)}
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

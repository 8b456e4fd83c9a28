package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// An AmbiguousError says that a name fits several extensions.
type AmbiguousError struct {
	Name       string
	Candidates []*discovery.Candidate
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q fits %d extensions; say which with --scope, or give the path of its folder:", e.Name, len(e.Candidates))
	for _, c := range e.Candidates {
		fmt.Fprintf(&b, "\n  %s (%s, folder %s) in %s", c.Name, c.Scope, c.Folder, c.Dir)
	}
	return b.String()
}

// A NotFoundError says that no extension goes by a name.
type NotFoundError struct {
	Name string
	Near string // a name that is close, or empty
}

func (e *NotFoundError) Error() string {
	if e.Near != "" {
		return fmt.Sprintf("no extension is called %q; did you mean %q?", e.Name, e.Near)
	}
	return fmt.Sprintf("no extension is called %q; see zot ext list", e.Name)
}

// Pick returns the one extension that goes by name: by its manifest's name or
// its folder's, in any case, or by the absolute path of the folder. An empty
// scope means any. The error is an *AmbiguousError or a *NotFoundError.
func Pick(p discovery.Plan, name string, scope discovery.Scope) (*discovery.Candidate, error) {
	var within discovery.Plan
	var names []string
	for _, c := range p.Candidates {
		if scope == "" || c.Scope == scope {
			within.Candidates = append(within.Candidates, c)
			names = append(names, c.Name)
		}
	}
	found := within.Lookup(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &NotFoundError{Name: name, Near: schemas.Nearest(name, names)}
	}
	return nil, &AmbiguousError{Name: name, Candidates: found}
}

// Remove deletes an extension's folder with everything in it, or the link where
// the folder is one. Only what lies directly in the extensions folder of zot's
// home or of a project is ever removed.
func Remove(zotHome string, c *discovery.Candidate) error {
	h := home.Home(zotHome)
	if err := removable(h, c); err != nil {
		return err
	}
	if c.Scope == discovery.ScopeProject {
		return removeBeside(c)
	}
	if c.Link != "" {
		if err := os.Remove(c.Dir); err != nil {
			return fmt.Errorf("removing %s: %w", c.Name, err)
		}
		return Tidy(zotHome)
	}
	work, err := stage(h)
	if err != nil {
		return fmt.Errorf("preparing to remove: %w", err)
	}
	defer work.clear()
	unlock, err := h.Lock(h.ExtensionsDir())
	if err != nil {
		return err
	}
	defer unlock()
	if err := step("remove"); err != nil {
		return err
	}
	if err := os.Rename(c.Dir, work.path(oldDir)); err != nil {
		return fmt.Errorf("removing %s: %w", c.Name, err)
	}
	if err := step("forget"); err != nil {
		return nil // it is gone; the record goes with the next operation
	}
	return writeRecord(recordPath(h, c.Folder), record{})
}

// removable makes sure that what is deleted is an entry of a folder that holds
// extensions and nothing else.
func removable(h home.Home, c *discovery.Candidate) error {
	root := filepath.Dir(c.Dir)
	good := false
	switch c.Scope {
	case discovery.ScopeGlobal:
		good = root == filepath.Clean(h.ExtensionsDir())
	case discovery.ScopeProject:
		good = root == home.ProjectExtensionsDir(filepath.Dir(filepath.Dir(root)))
	}
	base := filepath.Base(c.Dir)
	if !good || base == "." || base == ".." || strings.HasPrefix(base, ".") || strings.ContainsAny(base, `/\`) {
		return fmt.Errorf("extension %q in %s was not installed by zot and is not removed by it", c.Name, c.Dir)
	}
	return nil
}

// removeBeside hides a project's extension from discovery before deleting it,
// so that an interruption does not leave half of it to be loaded.
func removeBeside(c *discovery.Candidate) error {
	if c.Link != "" {
		return os.Remove(c.Dir)
	}
	hidden, err := os.MkdirTemp(filepath.Dir(c.Dir), ".removing-")
	if err != nil {
		return fmt.Errorf("removing %s: %w", c.Name, err)
	}
	if err := os.Rename(c.Dir, filepath.Join(hidden, c.Folder)); err != nil {
		return errors.Join(fmt.Errorf("removing %s: %w", c.Name, err), os.Remove(hidden))
	}
	return os.RemoveAll(hidden)
}

// SetEnabled switches an extension on or off. That of the user's own is written
// into its manifest, whose other bytes stay as they are, unless it was switched
// by [Switch] before; that of a project's as Switch does. It reports whether
// anything had to be written.
func SetEnabled(zotHome, projectDir string, c *discovery.Candidate, enabled bool) (changed bool, err error) {
	if c.Manifest == nil {
		return false, fmt.Errorf("extension %q cannot be switched: %w", c.Name, c.Err)
	}
	switches, err := discovery.ReadSwitches(zotHome, projectDir)
	if err != nil {
		return false, err
	}
	if _, set := switches.Of(c.Scope, c.Name); set || c.Scope == discovery.ScopeProject {
		return Switch(zotHome, projectDir, c, enabled)
	}
	unlock, err := home.Home(zotHome).Lock(c.Manifest.File)
	if err != nil {
		return false, err
	}
	defer unlock()
	return setEnabled(filepath.Join(c.Dir, manifest.FileName), enabled)
}

// Switch switches an extension on or off and leaves its files as they are, as
// they must be where their bytes are pinned, or where they are a project's. It
// reports whether anything had to be written.
func Switch(zotHome, projectDir string, c *discovery.Candidate, enabled bool) (changed bool, err error) {
	if c.Manifest == nil {
		return false, fmt.Errorf("extension %q cannot be switched: %w", c.Name, c.Err)
	}
	switches, err := discovery.ReadSwitches(zotHome, projectDir)
	if err != nil {
		return false, err
	}
	now, set := switches.Of(c.Scope, c.Name)
	if !set {
		now = c.Manifest.Enabled
	}
	if now == enabled {
		return false, nil
	}
	if c.Scope != discovery.ScopeProject {
		projectDir = ""
	}
	return true, discovery.SetSwitch(zotHome, projectDir, c.Name, enabled)
}

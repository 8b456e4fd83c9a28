// Package discovery finds every extension there is and says which of them
// would load. Start, list and doctor all ask [Find], so that they cannot
// disagree.
//
// The order is the rank, and the rank is the load order: folders named by
// --ext in the order of the command line, then the project's, then the user's,
// then further folders from the settings; inside one place by the manifest's
// name. Of several extensions with one name the first that can load wins; one
// that is disabled, broken or held back hides nothing.
package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// Scope says where an extension was found.
type Scope string

const (
	ScopeFlag    Scope = "flag"    // named by --ext
	ScopeProject Scope = "project" // in .zot/extensions of the project
	ScopeGlobal  Scope = "global"  // in extensions of zot's home
	ScopeExtra   Scope = "extra"   // in a further folder of the settings
)

// State says what becomes of an extension at start.
type State string

const (
	Load     State = "load"     // it loads
	Disabled State = "disabled" // switched off, in its manifest or by the user for this project
	Shadowed State = "shadowed" // one of the same name comes before it
	Invalid  State = "invalid"  // it cannot load; Err says why
	Held     State = "held"     // something outside it forbids loading; Reason says what
)

// Options say where to look. The zero value finds nothing.
type Options struct {
	// Explicit are the folders named by --ext, in that order; the path of a
	// manifest stands for its folder. A relative one starts at CWD.
	Explicit []string
	CWD      string
	// ProjectDir is the folder that holds .zot, or empty.
	ProjectDir string
	// Home is zot's home, or empty.
	Home string
	// Pinned are extensions of the project that only its lock names: their
	// code is in a store. They rank with the project's folders, after one of the
	// same name.
	Pinned []Pinned
	// ExtraDirs are further folders full of extensions. They rank last.
	ExtraDirs []string
	// NoDiscovery leaves only Explicit.
	NoDiscovery bool
	// NoLinks holds back extensions whose folder is a symbolic link.
	NoLinks bool
	// Switches are the user's own choices for extensions of this project, and
	// for pinned ones; see [ReadSwitches].
	Switches Switches
	// ZotVersion is compared to minZot of the manifests.
	ZotVersion string
	// Hold gives the reason why a candidate that would load may not, or "".
	// It is asked in rank order. Nil holds nothing back.
	Hold func(*Candidate) string
}

// A Pinned is an extension that is known by the digest of its files.
type Pinned struct {
	Name   string
	Digest string
	Dir    string // where the files are, or would be
	// Absent says why they are not there; or is empty.
	Absent string
}

// A Candidate is one folder that is, or was meant to be, an extension.
type Candidate struct {
	Scope  Scope
	Folder string // last element of Dir
	Dir    string // absolute
	Link   string // where Dir leads, if it is a symbolic link
	Pin    string // digest by which a lock names it; empty for a folder of its own
	// Name is the manifest's, or Folder where there is no good manifest.
	Name     string
	Manifest *manifest.Manifest // nil where it could not be read
	Warnings []schemas.Problem  // of the manifest
	State    State
	Reason   string     // why it does not load, in a few words; empty for Load
	Err      error      // for Invalid
	By       *Candidate // for Shadowed: who has the name
}

// A Plan is all that was found, in rank order.
type Plan struct {
	Candidates []*Candidate
	// Problems are places that could not be searched.
	Problems []error
	// Bare are the folders in those places that hold no manifest. They may be
	// what an extension left behind, or an extension that somebody puts together.
	Bare []string
}

// Find looks for extensions. It reads folders and manifests, and runs nothing.
func Find(o Options) Plan {
	var p Plan
	for _, path := range o.Explicit {
		p.Candidates = append(p.Candidates, explicit(o, path))
	}
	if !o.NoDiscovery {
		for _, place := range places(o) {
			found, bare, err := scan(place)
			if err != nil {
				p.Problems = append(p.Problems, err)
			}
			p.Bare = append(p.Bare, bare...)
			if place.scope == ScopeProject {
				found = append(found, pinned(o.Pinned)...)
				sortByName(found)
			}
			p.Candidates = append(p.Candidates, found...)
		}
	}
	p.Settle(o)
	return p
}

// Settle decides again what becomes of what was found, for whoever can say what
// is held back, and whether links are followed, only once it knows what there
// is.
func (p Plan) Settle(o Options) { settle(o, p.Candidates) }

// pinned makes candidates of what a lock names. The manifest's name must be the
// lock's: it is what was approved.
func pinned(all []Pinned) []*Candidate {
	var found []*Candidate
	for _, pin := range all {
		c := &Candidate{Scope: ScopeProject, Dir: pin.Dir, Folder: pin.Name, Name: pin.Name}
		if pin.Absent != "" {
			c.State, c.Reason = Held, pin.Absent
		} else {
			c = candidate(ScopeProject, pin.Dir)
			c.Folder = pin.Name
			if c.Manifest != nil && manifest.Fold(c.Name) != manifest.Fold(pin.Name) {
				c.Err = fmt.Errorf("the lock calls it %q, and its manifest %q", pin.Name, c.Name)
				c.Manifest, c.Name, c.State, c.Reason = nil, pin.Name, Invalid, "its manifest has another name"
			}
		}
		c.Pin = pin.Digest
		found = append(found, c)
	}
	return found
}

// Loading returns the extensions that load, in rank order.
func (p Plan) Loading() []*Candidate {
	var loading []*Candidate
	for _, c := range p.Candidates {
		if c.State == Load {
			loading = append(loading, c)
		}
	}
	return loading
}

// Lookup returns the candidates that go by name, in rank order: a manifest's
// name or a folder's, in any case, or the path of the folder.
func (p Plan) Lookup(name string) []*Candidate {
	var found []*Candidate
	for _, c := range p.Candidates {
		if manifest.Fold(c.Name) == manifest.Fold(name) || manifest.Fold(c.Folder) == manifest.Fold(name) || c.Dir == filepath.Clean(name) {
			found = append(found, c)
		}
	}
	return found
}

// A place is a folder whose folders are extensions.
type place struct {
	dir   string
	scope Scope
}

func places(o Options) []place {
	var all []place
	if o.ProjectDir != "" {
		all = append(all, place{home.ProjectExtensionsDir(o.ProjectDir), ScopeProject})
	}
	if o.Home != "" {
		all = append(all, place{home.Home(o.Home).ExtensionsDir(), ScopeGlobal})
	}
	for _, dir := range o.ExtraDirs {
		all = append(all, place{dir, ScopeExtra})
	}
	return all
}

// scan reads one place. Names that begin with a dot are zot's own, and a link
// that leads nowhere is no extension.
func scan(p place) (found []*Candidate, bare []string, err error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		dir := filepath.Join(p.dir, e.Name())
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		c := candidate(p.scope, dir)
		if c.Manifest == nil && errors.Is(c.Err, fs.ErrNotExist) {
			bare = append(bare, dir)
			continue
		}
		found = append(found, c)
	}
	sortByName(found)
	if err != nil {
		err = fmt.Errorf("looking for extensions: %w", err)
	}
	return found, bare, err
}

func sortByName(found []*Candidate) {
	sort.SliceStable(found, func(i, j int) bool {
		a, b := manifest.Fold(found[i].Name), manifest.Fold(found[j].Name)
		if a != b {
			return a < b
		}
		return found[i].Folder < found[j].Folder
	})
}

func explicit(o Options, path string) *Candidate {
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.CWD, path)
	}
	if filepath.Base(path) == manifest.FileName {
		path = filepath.Dir(path)
	}
	return candidate(ScopeFlag, filepath.Clean(path))
}

// candidate reads the manifest in dir. The state is settled later.
func candidate(scope Scope, dir string) *Candidate {
	c := &Candidate{Scope: scope, Dir: dir, Folder: filepath.Base(dir), Name: filepath.Base(dir)}
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		c.Link, _ = filepath.EvalSymlinks(dir)
	}
	m, warnings, err := manifest.Load(dir)
	c.Warnings = warnings
	if err != nil {
		c.State, c.Err, c.Reason = Invalid, err, "its manifest has a fault (ZP083)"
		if errors.Is(err, fs.ErrNotExist) {
			c.Reason = "it has no manifest"
		}
		return c
	}
	c.Manifest, c.Name = m, m.Name
	return c
}

// settle decides what becomes of each candidate, in rank order.
func settle(o Options, all []*Candidate) {
	owners := map[string]*Candidate{}
	for _, c := range all {
		if c.Manifest == nil { // it is settled that it cannot load
			continue
		}
		judge(o, c)
		if c.State != Load {
			continue
		}
		name := manifest.Fold(c.Name)
		if owner, taken := owners[name]; taken {
			c.State, c.By = Shadowed, owner
			c.Reason = fmt.Sprintf("%s in %s comes first", owner.Name, owner.Dir)
			continue
		}
		if reason := hold(o, c); reason != "" {
			c.State, c.Reason = Held, reason
			continue
		}
		owners[name] = c
	}
}

// judge settles what a candidate's own folder and the user's switches say.
func judge(o Options, c *Candidate) {
	c.State, c.Reason, c.Err, c.By = Load, "", nil, nil
	if err := c.Manifest.CheckZot(o.ZotVersion); err != nil {
		c.State, c.Err, c.Reason = Invalid, err, "it needs a newer zot"
		return
	}
	enabled, reason := c.Manifest.Enabled, "disabled in "+manifest.FileName
	if on, set := o.Switches.Of(c.Scope, c.Name); set {
		enabled, reason = on, "disabled by you"
		if c.Scope == ScopeProject {
			reason += " for this project"
		}
	}
	if !enabled {
		c.State, c.Reason = Disabled, reason
	}
}

func hold(o Options, c *Candidate) string {
	if o.NoLinks && c.Link != "" {
		return "its folder is a link, and links are followed only in mode open"
	}
	if o.Hold != nil {
		return o.Hold(c)
	}
	return ""
}

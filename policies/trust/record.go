package trust

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
)

// A Record is what the user approved of a project.
type Record struct {
	Root       string               `json:"root"` // where it was when it was approved
	Digest     string               `json:"digest"`
	Approved   time.Time            `json:"approved"`
	Extensions map[string]Extension `json:"extensions"`
	Settings   []string             `json:"settings,omitempty"`
	// Policy is what the project's policy was, by layer. It goes on narrowing
	// until its user has agreed to another: see [Record.Held].
	Policy map[string]json.RawMessage `json:"policy,omitempty"`

	sums map[string]string         // of the files, by path
	held map[string]*document.Node // Policy, with its places in the store
}

// NewRecord approves a bundle as it is.
func NewRecord(id Identity, b *Bundle, now time.Time) *Record {
	r := &Record{
		Root: id.Root, Digest: b.Digest, Approved: now.UTC().Truncate(time.Second),
		Extensions: maps.Clone(b.Extensions), Settings: b.Settings, sums: maps.Clone(b.sums()), held: b.Policy,
	}
	for layer, n := range b.Policy {
		if r.Policy == nil {
			r.Policy = map[string]json.RawMessage{}
		}
		r.Policy[layer] = n.JSON()
	}
	return r
}

// Keep has a record go on approving what another did of files at which its
// bundle did not look: what is in view depends on the folder that one works in.
// A nil one adds nothing.
func (r *Record) Keep(older *Record, b *Bundle) {
	if older == nil {
		return
	}
	for p, sum := range older.sums {
		if _, ok := r.sums[p]; !ok && !b.lookedAt(p) {
			r.sums[p] = sum
		}
	}
}

// lookedAt tells whether a file is of a place that was searched.
func (b *Bundle) lookedAt(p string) bool {
	return slices.ContainsFunc(b.looked, func(place string) bool {
		return p == place || strings.HasPrefix(p, path.Clean(place)+"/") || strings.HasPrefix(p, place+" -> ")
	})
}

// Vouches tells whether a file of the bundle is approved as it is, and all that
// lies in folder besides; an empty folder stands for none.
func (r *Record) Vouches(b *Bundle, file, folder string) bool {
	if r == nil || b == nil {
		return false
	}
	if !b.Has(file) || r.sums[file] != b.sums()[file] {
		return false
	}
	return folder == "" || len(r.changedFiles(b, folder, func(string) bool { return false })) == 0
}

// A Change is what has to be asked, since it goes beyond what was approved.
type Change struct {
	// Files were not approved as they are: changed, new, or taken from an
	// extension that is still there.
	Files []string `json:"files,omitempty"`
	// Rights lists, by extension, rights that were not approved.
	Rights map[string][]policies.Atom `json:"rights,omitempty"`
	// Started lists extensions that are new or would be started in another way.
	Started []string `json:"started,omitempty"`
	// Settings lists preferences that were not approved.
	Settings []string `json:"settings,omitempty"`
	// Policy lists what the project's policy no longer says, or newly allows.
	Policy []string `json:"policy,omitempty"`
}

// None tells whether there is nothing to ask.
func (c Change) None() bool {
	return len(c.Files) == 0 && len(c.Rights) == 0 && len(c.Started) == 0 && len(c.Settings) == 0 && len(c.Policy) == 0
}

// Compare finds what of the bundle goes beyond the record. A nil record approves
// nothing. What only takes rights, settings or whole extensions away is no
// change.
func (r *Record) Compare(b *Bundle) Change {
	var c Change
	if r == nil {
		r = &Record{}
	}
	if r.Digest != "" && r.Digest == b.Digest {
		return c
	}
	c.Files = r.changedFiles(b, "", func(p string) bool { return interpreted(p) || manifestOf(b, p) })
	for name, ext := range b.Extensions {
		was, ok := r.Extensions[name]
		if !ok || was.Start != ext.Start || was.Dir != ext.Dir {
			c.Started = append(c.Started, name)
		}
		if missing := ext.Permissions.Missing(was.Permissions); len(missing) > 0 {
			if c.Rights == nil {
				c.Rights = map[string][]policies.Atom{}
			}
			c.Rights[name] = missing
		}
	}
	sort.Strings(c.Started)
	c.Settings = r.NewSettings(b.Settings)
	c.Policy = r.loosened(b)
	return c
}

// manifestOf tells whether p is the manifest of one of the extensions.
func manifestOf(b *Bundle, p string) bool {
	if path.Base(p) != "extension.json" {
		return false
	}
	for _, ext := range b.Extensions {
		if ext.Dir == path.Dir(p) {
			return true
		}
	}
	return false
}

// changedFiles lists files below dir that are not as approved, and those that
// are gone although their folder is not.
func (r *Record) changedFiles(b *Bundle, dir string, skip func(string) bool) []string {
	var out []string
	now := b.sums()
	below := func(p string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") }
	for p, sum := range now {
		if below(p) && !skip(p) && r.sums[p] != sum {
			out = append(out, p)
		}
	}
	for p := range r.sums {
		if _, ok := now[p]; !ok && below(p) && !skip(p) && b.stillHas(p) {
			out = append(out, p)
		}
	}
	sort.Strings(out)
	return out
}

// stillHas tells whether a file that is gone belonged to an extension that is
// not.
func (b *Bundle) stillHas(p string) bool {
	for _, ext := range b.Extensions {
		if strings.HasPrefix(p, ext.Dir+"/") {
			return true
		}
	}
	return false
}

// Approval is what of the approval holds for an extension of the bundle: its
// rights, where its files and the way it starts are those that were approved,
// and else nil together with the files that are not.
func (r *Record) Approval(name string, b *Bundle) (rights *policies.Grant, changed []string) {
	ext, ok := b.Extensions[name]
	if r == nil || !ok {
		return nil, nil
	}
	was, ok := r.Extensions[name]
	if !ok {
		return nil, nil
	}
	changed = r.changedFiles(b, ext.Dir, func(p string) bool { return manifestOf(b, p) })
	if was.Start != ext.Start || was.Dir != ext.Dir {
		changed = append(changed, path.Join(ext.Dir, "extension.json"))
	}
	if len(changed) > 0 {
		return nil, changed
	}
	return was.Permissions, nil
}

// NewSettings lists the preferences that were not approved.
func (r *Record) NewSettings(settings []string) []string {
	var out []string
	for _, s := range settings {
		if r == nil || !slices.Contains(r.Settings, s) {
			out = append(out, s)
		}
	}
	sort.Strings(out)
	return out
}

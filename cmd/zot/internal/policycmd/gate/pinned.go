package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// Copies is the store that a project carries: the extensions that its lock
// pins and that lie nowhere else in it, so that a clone needs no network.
func Copies(projectRoot string) lock.Store {
	return lock.Store{Dir: filepath.Join(home.ProjectConfigDir(projectRoot), "store"), Copies: true}
}

// FromElsewhere tells whether the code of a lock's entry lies in no folder of
// the project's extensions.
func FromElsewhere(e lock.Entry) bool { return !strings.HasPrefix(e.Source, "vendored:") }

func (g *Gate) store() lock.Store { return lock.Store{Dir: g.opts.Home.StoreDir()} }

// Pinned lists the extensions of the project that only its lock names, each
// where its files are. Files count that have the digest which the lock names,
// whoever put them there; nothing is fetched.
func (g *Gate) Pinned() []discovery.Pinned {
	if g.ProjectLock == nil {
		return nil
	}
	var out []discovery.Pinned
	for _, name := range slices.Sorted(maps.Keys(g.ProjectLock.Extensions)) {
		entry := g.ProjectLock.Extensions[name]
		if !FromElsewhere(entry) {
			continue
		}
		p := discovery.Pinned{Name: name, Digest: entry.DigestFor(Platform)}
		d := g.locate(&p, entry)
		if d.Code != "" {
			g.absent[manifest.Fold(name)] = d
			p.Absent = Sentence(d)
		}
		out = append(out, p)
	}
	return out
}

// locate finds the files of a pinned extension, or says why there are none.
func (g *Gate) locate(p *discovery.Pinned, entry lock.Entry) policies.Decision {
	d := policies.Decision{
		Verdict: policies.Deny, By: policies.Origin{Layer: policies.Project, File: home.ProjectLockFile(g.opts.ProjectRoot)},
		Remedy: "run zot ext sync, which fetches it from " + entry.Source,
	}
	if p.Digest == "" {
		p.Dir = g.store().Dir // that nothing is looked for in
		p.Digest = "none"
		d.Code, d.Reason, d.Remedy = policies.CodePlatformMissing, "the lock has no digest of it for "+Platform, "run zot ext lock on this platform"
		return d
	}
	changed := ""
	for _, store := range []lock.Store{Copies(g.opts.ProjectRoot), g.store()} {
		p.Dir, _ = store.Path(p.Digest) // the lock's digests have their form
		dir, err := store.Open(p.Digest)
		if err == nil {
			p.Dir = dir
			return policies.Decision{}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			changed = fmt.Sprintf("; what is in %s is something else", p.Dir)
		}
	}
	d.Code, d.Reason = policies.CodeContentDrift, "its files are neither in the project nor in your store"+changed
	return d
}

package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
)

// scopeOf is the policy's word for where a candidate was found. A further
// folder counts as the project's where [OfProject] says so.
func scopeOf(c *discovery.Candidate, projectRoot string) policies.Scope {
	switch {
	case c.Scope == discovery.ScopeFlag:
		return policies.ScopeFlag
	case c.Scope == discovery.ScopeProject, projectRoot != "" && OfProject(projectRoot, c.Dir):
		return policies.ScopeProject
	}
	return policies.ScopeUser
}

// OfProject tells whether a path is a project's: it lies below its root, or is
// only written so. A link there is the project's word for what it leads to.
func OfProject(root, path string) bool {
	return paths.Contains(root, path) || home.Inside(path, root)
}

// subject puts together all that is known of a candidate.
func (g *Gate) subject(c *discovery.Candidate) policies.Subject {
	m, claimed := c.Manifest, g.Claimed(c)
	s := policies.Subject{
		Name: m.Name, Version: m.Version, Transport: string(m.Transport), Scope: scopeOf(c, g.opts.ProjectRoot),
		Launcher: policies.FetchingLauncher(m.Exec, m.Args), Source: g.source(c, claimed), Claimed: claimed,
	}
	permissions, err := policies.ParsePermissions(m.Permissions)
	if err != nil {
		permissions = &policies.Grant{} // discovery has reported the manifest
	}
	s.Requests = permissions
	s.Limits, _ = policies.ParseLimits(m.Limits) // likewise
	file := g.lockOf(s.Scope)
	if g.needsDigest(s, file) {
		s.Digest = g.digest(c)
	}
	if mark := g.opts.Agreed[c.Dir]; mark != "" {
		s.Agreed = mark == g.Mark(c)
	}
	s.Lock = file.Facts(lock.Found{Name: m.Name, Source: s.Claimed, Digest: s.Digest, Descriptors: Descriptors(c), Platform: Platform})
	s.Approval, s.Untrusted = nil, s.Scope == policies.ScopeProject && !g.Trusted
	s.WhyUntrusted, s.UntrustedRemedy = g.whyUntrusted()
	if s.Scope == policies.ScopeProject && g.Trusted {
		var changed []string
		s.Approval, changed = g.approval(c)
		s.Lock.Changed = append(s.Lock.Changed, changed...)
	}
	s.Roots = policies.Roots{Project: g.opts.ProjectRoot, Data: g.DataDir(c), Extension: c.Dir, Tmp: os.TempDir()}
	return s
}

// DataDir is where a candidate keeps its state where that is not its own folder.
// What comes with a project and is approved by its bytes must not change them,
// so its state is not in its folder; it is its own for each project.
func (g *Gate) DataDir(c *discovery.Candidate) string {
	if !g.strict() && g.ofProject(c) {
		return filepath.Join(g.opts.Home.ProjectDir(discovery.ProjectID(g.opts.ProjectRoot)), "data", c.Name)
	}
	return g.opts.Home.DataDir(c.Name)
}

// InOwnFolder tells whether a candidate runs, and keeps its state, where it lies.
func (g *Gate) InOwnFolder(c *discovery.Candidate) bool { return !g.strict() && !g.ofProject(c) }

// FromStore tells whether a candidate's code runs from the store alone.
func (g *Gate) FromStore(c *discovery.Candidate) bool { return g.strict() || c.Pin != "" }

// strict tells whether a mode beyond open holds.
func (g *Gate) strict() bool {
	mode, _ := g.Set.Mode()
	return mode > policies.Open
}

// Platform is how the lock names this system.
const Platform = runtime.GOOS + "/" + runtime.GOARCH

func (g *Gate) lockOf(scope policies.Scope) *lock.File {
	if scope == policies.ScopeProject {
		return g.ProjectLock
	}
	return g.UserLock
}

// needsDigest tells whether an extension's files have to be read: hashing is
// for those that a lock or a rule speaks of.
func (g *Gate) needsDigest(s policies.Subject, file *lock.File) bool {
	if g.strict() || g.Set.UsesDigests() {
		return true
	}
	if file == nil {
		return false
	}
	_, locked := file.Lookup(s.Name)
	return locked
}

// hashCache saves reading files that have not changed since; in the strict modes
// every byte is read again.
func (g *Gate) hashCache() *tree.Cache {
	if g.strict() {
		return nil
	}
	return g.cache
}

// DigestOf is the digest of a candidate's files, for people; empty where they
// cannot be hashed.
func (g *Gate) DigestOf(c *discovery.Candidate) string {
	if b := g.Bound(c); b != nil && b.Subject().Digest != "" {
		return b.Subject().Digest
	}
	return g.digest(c)
}

// Mark stands for a candidate's bytes under the policy as it is: what was agreed to
// of them holds for no others. It is empty where they cannot be hashed.
func (g *Gate) Mark(c *discovery.Candidate) string {
	digest := g.digest(c)
	if digest == "" {
		return ""
	}
	return digest + " " + g.PolicyDigest()
}

// digest hashes a candidate's folder.
func (g *Gate) digest(c *discovery.Candidate) string {
	t, err := tree.Hash(c.Dir, tree.Options{Cache: g.hashCache()})
	if err != nil {
		return "" // not known, which counts against it
	}
	return t.Digest()
}

// source is where a candidate comes from; empty where that is not
// known. What a lock claims is known where this machine fetched it from there.
func (g *Gate) source(c *discovery.Candidate, claimed string) string {
	if c.Pin != "" && !g.store().CameFrom(c.Pin, claimed) {
		return ""
	}
	return claimed
}

// Claimed is where a candidate is said to come from, as policies.SourceAddress
// writes it; or empty.
func (g *Gate) Claimed(c *discovery.Candidate) string {
	raw := "path:" + filepath.ToSlash(c.Dir)
	switch scope := scopeOf(c, g.opts.ProjectRoot); {
	case c.Pin != "":
		entry, _ := g.ProjectLock.Lookup(c.Name)
		raw = entry.Source
	case scope == policies.ScopeProject:
		rel, err := filepath.Rel(g.opts.ProjectRoot, c.Dir)
		if err != nil {
			return ""
		}
		raw = "vendored:" + filepath.ToSlash(rel)
	case scope == policies.ScopeFlag:
	default:
		if o, ok, err := install.OriginOf(g.opts.Home.Dir(), c.Folder); err == nil && ok {
			raw = OriginSource(o)
		}
	}
	norm, err := policies.SourceAddress(raw)
	if err != nil {
		return ""
	}
	return norm
}

// OriginSource writes the origin of an installed extension as a source.
func OriginSource(o install.Origin) string {
	address := o.URL
	if address == "" {
		address = "path:" + filepath.ToSlash(o.Path)
	}
	if o.Subdir != "" && !strings.HasPrefix(address, "path:") {
		address += "//" + o.Subdir
	}
	return address
}

// Descriptors is the digest of what a candidate's manifest contributes.
func Descriptors(c *discovery.Candidate) string {
	if !c.Manifest.Contributes.Declared {
		return ""
	}
	raw, err := json.Marshal(c.Manifest.Contributes)
	if err != nil {
		return ""
	}
	d, err := lock.Descriptors(raw)
	if err != nil {
		return ""
	}
	return d
}

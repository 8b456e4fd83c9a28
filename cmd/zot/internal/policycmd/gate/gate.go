// Package gate brings the policy to the extensions that were found: it reads
// what settings, the lock and the trust store say, and answers for each
// candidate whether it may load and what it may do. Start, "ext list" and
// "policy explain" all ask it, so that they cannot disagree.
//
// Nothing of a project is run or written here, and git is not called.
package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
)

// Options say what to look at.
type Options struct {
	Home        home.Home
	ProjectRoot string // empty: no project
	UserHome    string
	Settings    *config.Settings
	// Candidates are all extensions that were found, held back or not.
	Candidates []*discovery.Candidate
	Environ    []string
	// Mode is the value of a flag that narrows; or empty.
	Mode string
	// Headless says that nobody can be asked.
	Headless bool
	// Trust says that the project is trusted for this run.
	Trust bool
	// Unenforced lists what this system cannot hold a candidate to; nil: all is
	// enforced.
	Unenforced func(*discovery.Candidate) []string
}

// A Gate knows the policy for every candidate.
type Gate struct {
	Set      *policies.Set
	Identity trust.Identity
	// Bundle is what zot would act on of the project; nil with BundleErr where
	// it cannot be pinned, and then nothing of it is trusted.
	Bundle    *trust.Bundle
	BundleErr error
	// Approved is what the user approved; nil: nothing.
	Approved    *trust.Record
	ApprovedErr error
	// Trusted says that the project's extensions may be considered at all, and
	// TrustedBy why: "record", "flag" or "digest".
	Trusted   bool
	TrustedBy string

	ProjectLock, UserLock *lock.File // nil: none
	LockErrs              []error

	// LogErr says why the log of decisions cannot be written.
	LogErr error

	log   *audit.Log
	opts  Options
	cache *tree.Cache
	bound map[string]*policies.Bound // by folder
}

// DigestVariable is the variable that trusts exactly one bundle.
const DigestVariable = "ZOT_TRUST_DIGEST"

// New reads what there is. It never fails: what cannot be read is said in the
// fields that end in Err, and closes what depends on it.
func New(o Options) *Gate {
	g := &Gate{opts: o, cache: tree.OpenCache(o.Home), bound: map[string]*policies.Bound{}}
	g.Set = policies.Load(Sections(o))
	g.Set.Headless = o.Headless
	g.openLog()
	g.UserLock = g.readLock(o.Home.LockFile())
	if o.ProjectRoot != "" {
		g.project()
	}
	for _, c := range o.Candidates {
		if c.Manifest != nil {
			g.bound[c.Dir] = g.Set.Bind(g.subject(c))
		}
	}
	_ = g.cache.Save(o.Home) // without it the next start only takes longer
	return g
}

// Sections collects the policy of all layers.
func Sections(o Options) []policies.Section {
	var out []policies.Section
	for _, s := range o.Settings.Policy {
		if section, ok := policies.SectionOf(s); ok {
			out = append(out, section)
		}
	}
	if s, ok := policies.EnvSection(o.Environ); ok {
		out = append(out, s)
	}
	if o.Mode != "" {
		s, _ := policies.EnvSection([]string{"ZOT_POLICY_MODE=" + o.Mode})
		s.Layer, s.File = policies.Flags, "--policy-mode"
		out = append(out, s)
	}
	return out
}

func (g *Gate) readLock(path string) *lock.File {
	f, err := lock.Load(path)
	switch {
	case errors.Is(err, lock.ErrNone):
		return nil
	case err != nil:
		g.LockErrs = append(g.LockErrs, err)
		return &lock.File{} // it is kept, and holds nothing
	}
	return f
}

// project finds out what of the project is trusted.
func (g *Gate) project() {
	o := g.opts
	g.Identity = trust.Identify(o.ProjectRoot, o.UserHome)
	g.ProjectLock = g.readLock(home.ProjectLockFile(o.ProjectRoot))
	g.Bundle, g.BundleErr = trust.Scan(o.ProjectRoot, g.furtherDirs(), g.cache)
	if g.BundleErr == nil {
		g.fillBundle()
	}
	g.Approved, g.ApprovedErr = trust.Store{Home: o.Home}.Lookup(g.Identity)
	digest := variable(o.Environ, DigestVariable)
	switch {
	case g.BundleErr != nil:
	case o.Trust:
		g.Trusted, g.TrustedBy = true, "flag"
	case digest != "" && digest == g.Bundle.Digest:
		g.Trusted, g.TrustedBy = true, "digest"
	case g.Approved != nil:
		g.Trusted, g.TrustedBy = true, "record"
	}
}

// furtherDirs are folders of extensions and skills that the project names
// outside .zot, relative to it.
func (g *Gate) furtherDirs() []string {
	var out []string
	for _, layer := range []config.Layer{config.Project, config.Local} {
		for _, e := range g.opts.Settings.SetBy(layer) {
			if key := config.FormatPath(e.Path); key != "extensions.dirs" && key != "skills.dirs" {
				continue
			}
			for _, dir := range e.Value.([]string) {
				if rel, err := filepath.Rel(g.opts.ProjectRoot, dir); err == nil {
					out = append(out, filepath.ToSlash(rel))
				}
			}
		}
	}
	return out
}

// fillBundle says what the project's extensions ask for and what its settings
// would change.
func (g *Gate) fillBundle() {
	for _, c := range g.opts.Candidates {
		if c.Manifest == nil || !g.ofProject(c) {
			continue
		}
		if _, taken := g.Bundle.Extensions[c.Manifest.Name]; taken {
			continue // a second folder of that name, which stays unapproved
		}
		rel, err := filepath.Rel(g.opts.ProjectRoot, c.Dir)
		permissions, permErr := policies.ParsePermissions(c.Manifest.Permissions)
		if err != nil || permErr != nil {
			continue // it stays unapproved
		}
		m := c.Manifest
		g.Bundle.Extensions[m.Name] = trust.Extension{
			Dir:         filepath.ToSlash(rel),
			Start:       trust.Start(string(m.Transport), m.Exec, m.Args, m.Env, m.Skills),
			Permissions: policies.AskedFor(permissions, string(m.Transport)),
		}
	}
	for _, layer := range []config.Layer{config.Project, config.Local} {
		for _, e := range g.opts.Settings.SetBy(layer) {
			if !e.Key.Discovery {
				g.Bundle.Settings = append(g.Bundle.Settings, config.FormatPath(e.Path)+" = "+e.Literal())
			}
		}
	}
}

// ofProject tells whether a candidate comes with the project.
func (g *Gate) ofProject(c *discovery.Candidate) bool {
	return scopeOf(c, g.opts.ProjectRoot) == policies.ScopeProject
}

// scopeOf is the policy's word for where a candidate was found. A further
// folder counts as the project's where it lies inside it.
func scopeOf(c *discovery.Candidate, projectRoot string) policies.Scope {
	switch {
	case c.Scope == discovery.ScopeFlag:
		return policies.ScopeFlag
	case c.Scope == discovery.ScopeProject, projectRoot != "" && home.Inside(c.Dir, projectRoot):
		return policies.ScopeProject
	}
	return policies.ScopeUser
}

// SettingsTrusted tells whether the project's preferences may hold: it is
// trusted, and no preference is there that was not approved.
func (g *Gate) SettingsTrusted() bool {
	if !g.Trusted {
		return false
	}
	return g.TrustedBy != "record" || len(g.Approved.NewSettings(g.Bundle.Settings)) == 0
}

// Change is what of the project has not been approved yet.
func (g *Gate) Change() trust.Change {
	if g.Bundle == nil || g.Trusted && g.TrustedBy != "record" {
		return trust.Change{}
	}
	return g.Approved.Compare(g.Bundle)
}

// Approve remembers the project as it is now.
func (g *Gate) Approve(r *trust.Record) error {
	return trust.Store{Home: g.opts.Home}.Approve(g.Identity, r)
}

// subject puts together all that is known of a candidate.
func (g *Gate) subject(c *discovery.Candidate) policies.Subject {
	m := c.Manifest
	s := policies.Subject{
		Name: m.Name, Version: m.Version, Transport: string(m.Transport), Scope: scopeOf(c, g.opts.ProjectRoot),
		Launcher: policies.FetchingLauncher(m.Exec, m.Args), Source: g.Source(c),
	}
	permissions, err := policies.ParsePermissions(m.Permissions)
	if err != nil {
		permissions = &policies.Grant{} // discovery has reported the manifest
	}
	s.Requests = permissions
	if g.opts.Unenforced != nil {
		s.Unenforced = g.opts.Unenforced(c)
	}
	file := g.lockOf(s.Scope)
	if g.needsDigest(s, file) {
		s.Digest = g.digest(c)
	}
	s.Lock = file.Facts(lock.Found{Name: m.Name, Source: s.Source, Digest: s.Digest, Descriptors: Descriptors(c), Platform: Platform})
	s.Approval, s.Untrusted = nil, s.Scope == policies.ScopeProject && !g.Trusted
	if s.Scope == policies.ScopeProject && g.Trusted {
		var changed []string
		s.Approval, changed = g.approval(c)
		s.Lock.Changed = append(s.Lock.Changed, changed...)
	}
	s.Roots = policies.Roots{Project: g.opts.ProjectRoot, Data: g.opts.Home.DataDir(m.Name), Extension: c.Dir, Tmp: os.TempDir()}
	return s
}

// Platform is how the lock names this system.
const Platform = runtime.GOOS + "/" + runtime.GOARCH

// approval is what holds for a candidate of the trusted project. What was
// approved is a folder, and not whatever else goes by its name.
func (g *Gate) approval(c *discovery.Candidate) (*policies.Grant, []string) {
	name := c.Manifest.Name
	ext, ok := g.Bundle.Extensions[name]
	rel, err := filepath.Rel(g.opts.ProjectRoot, c.Dir)
	if !ok || err != nil || filepath.ToSlash(rel) != ext.Dir {
		return nil, nil
	}
	if g.TrustedBy != "record" {
		return ext.Permissions, nil
	}
	return g.Approved.Approval(name, g.Bundle)
}

func (g *Gate) lockOf(scope policies.Scope) *lock.File {
	if scope == policies.ScopeProject {
		return g.ProjectLock
	}
	return g.UserLock
}

// needsDigest tells whether an extension's files have to be read: hashing is
// for those that a lock or a rule speaks of.
func (g *Gate) needsDigest(s policies.Subject, file *lock.File) bool {
	mode, _ := g.Set.Mode()
	if mode > policies.Open || g.Set.UsesDigests() {
		return true
	}
	if file == nil {
		return false
	}
	_, locked := file.Lookup(s.Name)
	return locked
}

// digest hashes a candidate's folder. In the strict modes every byte is read
// again; else what has not changed is taken as it was.
func (g *Gate) digest(c *discovery.Candidate) string {
	o := tree.Options{Cache: g.cache}
	if mode, _ := g.Set.Mode(); mode > policies.Open {
		o.Cache = nil
	}
	t, err := tree.Hash(c.Dir, o)
	if err != nil {
		return "" // not known, which counts against it
	}
	return t.Digest()
}

// Source is where a candidate comes from, normalized; empty where that is not
// known.
func (g *Gate) Source(c *discovery.Candidate) string {
	raw := ""
	switch scopeOf(c, g.opts.ProjectRoot) {
	case policies.ScopeProject:
		if rel, err := filepath.Rel(g.opts.ProjectRoot, c.Dir); err == nil {
			raw = "vendored:" + filepath.ToSlash(rel)
		}
	case policies.ScopeFlag:
		raw = "path:" + filepath.ToSlash(c.Dir)
	default:
		raw = "path:" + filepath.ToSlash(c.Dir)
		if o, ok, err := install.OriginOf(g.opts.Home.Dir(), c.Folder); err == nil && ok {
			raw = OriginSource(o)
		}
	}
	norm, err := policies.NormalizeSource(raw)
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

// Bound is the policy for a candidate, or nil where its manifest is broken.
func (g *Gate) Bound(c *discovery.Candidate) *policies.Bound { return g.bound[c.Dir] }

// Hold is the reason why a candidate may not load, or "". It has the form that
// discovery asks for.
func (g *Gate) Hold(c *discovery.Candidate) string {
	d, ok := g.Load(c)
	if !ok || d.Allowed() {
		return "" // without a good manifest, discovery knows what is wrong
	}
	return Sentence(d)
}

// Sentence puts a refusal on one line: what, why, who and what would change it.
func Sentence(d policies.Decision) string {
	what := "held back"
	if d.Verdict == policies.Deny {
		what = "denied"
	}
	return fmt.Sprintf("%s, %s: %s (%s); %s", d.Code, what, d.Reason, d.By, d.Remedy)
}

func variable(environ []string, name string) string {
	for _, pair := range environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			return v
		}
	}
	return ""
}

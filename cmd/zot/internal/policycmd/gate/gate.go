// Package gate brings the policy to the extensions that were found: it reads
// what settings, the lock and the trust store say, and answers for each
// candidate whether it may load and what it may do. Start, "ext list" and
// "policy explain" all ask it, so that they cannot disagree.
//
// Nothing of a project is run or written here, and git is not called.
package gate

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// Options say what to look at.
type Options struct {
	Home        home.Home
	ProjectRoot string // empty: no project
	CWD         string // in the project; skills are looked for from there
	UserHome    string
	Settings    *config.Settings
	Environ     []string
	// Mode is the value of a flag that narrows; or empty.
	Mode string
	// Headless says that nobody can be asked.
	Headless bool
	// Trust says that the project is trusted as it is now, and Session what was
	// agreed to for this run.
	Trust   bool
	Session *trust.Record
	// Agreed are the extensions that load for this run, since their user was asked
	// and said yes: what [Gate.Mark] gave for each, by folder.
	Agreed map[string]string
	// Unenforced lists what this system cannot hold a candidate to that has these
	// rights; nil: all is enforced.
	Unenforced func(*discovery.Candidate, *policies.Grant) []string
	// Enforced lists what it holds such a candidate to, for the log; or is nil.
	Enforced func(*discovery.Candidate, *policies.Grant) []string
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
	asItIs    bool // all that is there now, and not what a record says

	ProjectLock, UserLock *lock.File // nil: none
	LockErrs              []error

	// LogErr says why the log of decisions cannot be written.
	LogErr error

	logging sync.Mutex // guards log, and LogErr once there is a session
	log     *audit.Log

	opts       Options
	candidates []*discovery.Candidate // that were judged
	cache      *tree.Cache
	bound      map[found]*policies.Bound
	absent     map[string]policies.Decision // what the lock names and nobody has, by folded name
}

// A found is a candidate by where it was found: one folder may be found twice.
type found struct {
	scope discovery.Scope
	dir   string
}

func keyOf(c *discovery.Candidate) found { return found{c.Scope, c.Dir} }

// DigestVariable is the variable that trusts exactly one bundle.
const DigestVariable = "ZOT_TRUST_DIGEST"

// Open reads what there is. It never fails: what cannot be read is said in the
// fields that end in Err, and closes what depends on it.
func Open(o Options) *Gate {
	g := &Gate{opts: o, cache: tree.OpenCache(o.Home), bound: map[found]*policies.Bound{}, absent: map[string]policies.Decision{}}
	sections := Sections(o)
	g.Set = policies.Load(sections)
	g.UserLock = g.readLock(o.Home.LockFile())
	if o.ProjectRoot != "" {
		g.project()
		if held := g.heldSections(); len(held) > 0 {
			g.Set = policies.Load(append(sections, held...))
		}
	}
	g.Set.Headless = o.Headless
	g.openLog()
	return g
}

// Reread takes settings that were read again of the same files: the project's
// preferences count now.
func (g *Gate) Reread(s *config.Settings) { g.opts.Settings = s }

// Judge brings the policy to all extensions that were found, held back or not.
func (g *Gate) Judge(candidates []*discovery.Candidate) {
	g.candidates = candidates
	if g.Bundle != nil {
		g.fillBundle()
	}
	for _, c := range candidates {
		if c.Manifest != nil {
			g.bound[keyOf(c)] = g.bind(c)
		}
	}
	_ = g.cache.Save(g.opts.Home) // without it the next start only takes longer
}

// bind binds the policy to a candidate, and then once more with what this
// system cannot hold it to: that depends on what it may do.
func (g *Gate) bind(c *discovery.Candidate) *policies.Bound {
	s := g.subject(c)
	b := g.Set.Bind(s)
	if g.opts.Unenforced == nil {
		return b
	}
	rights := b.Asked()
	if b.Load().Allowed() {
		rights = b.Reach()
	}
	s.Unenforced = append(g.opts.Unenforced(c, rights), unheld(c, b.NamedLimits(), rights)...)
	if len(s.Unenforced) > 0 {
		b = g.Set.Bind(s)
	}
	return b
}

// unheld lists the limits that somebody names for a process and that no system
// holds it to. What nobody names is not worth a word.
func unheld(c *discovery.Candidate, named policies.Limits, rights *policies.Grant) []string {
	if c.Manifest.Transport != manifest.Subprocess || c.Manifest.Exec == "" {
		return nil
	}
	var out []string
	add := func(is bool, name, why string) {
		if is {
			out = append(out, "limits."+name+": "+why)
		}
	}
	add(named.DataDir > 0, "dataDir", "the folder of a process is not measured")
	add(named.CPUPerCall > 0, "cpuPerCall", "what a process computes is not measured")
	add(named.Processes > 0, "processes", "a process is not kept from starting others by their number")
	add(named.Memory > 0 && rights.All, "memory", "a process with all rights of its user is not bounded by the system")
	add(named.OpenFiles > 0 && rights.All, "openFiles", "a process with all rights of its user is not bounded by the system")
	return out
}

// Sections collects the policy of all layers.
func Sections(o Options) []policies.Section {
	var out []policies.Section
	for _, s := range o.Settings.Policy {
		if section, ok := policies.SectionOf(s); ok {
			out = append(out, section)
		}
	}
	out = append(out, policies.EnvSections(o.Environ)...)
	if o.Mode != "" {
		for _, s := range policies.EnvSections([]string{"ZOT_POLICY_MODE=" + o.Mode}) {
			s.Layer, s.File = policies.Flags, "--policy-mode"
			out = append(out, s)
		}
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

// Bound is the policy for a candidate, or nil where its manifest is broken.
func (g *Gate) Bound(c *discovery.Candidate) *policies.Bound { return g.bound[keyOf(c)] }

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

package gate

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/tree"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// project finds out what of the project is trusted.
func (g *Gate) project() {
	o := g.opts
	g.Identity = trust.Identify(o.ProjectRoot, o.UserHome)
	g.ProjectLock = g.readLock(home.ProjectLockFile(o.ProjectRoot))
	g.Bundle, g.BundleErr = trust.Scan(o.ProjectRoot, g.sources(), g.hashCache())
	if g.BundleErr == nil {
		g.Bundle.Settings = g.projectSettings()
		g.Bundle.Policy = g.projectPolicy()
	}
	g.Approved, g.ApprovedErr = trust.Store{Home: o.Home}.Lookup(g.Identity)
	digest := variable(o.Environ, DigestVariable)
	switch {
	case g.BundleErr != nil:
	case o.Session != nil:
		g.Trusted, g.TrustedBy, g.Approved = true, "flag", o.Session
	case o.Trust:
		g.Trusted, g.TrustedBy, g.asItIs = true, "flag", true
	case digest != "" && digest == g.Bundle.Digest:
		g.Trusted, g.TrustedBy, g.asItIs = true, "digest", true
	case g.Approved != nil:
		g.Trusted, g.TrustedBy = true, "record"
	}
}

// whyUntrusted says more of why the project is not trusted: that its files cannot
// be pinned, with what helps then, or that a digest was named which is that of
// other files.
func (g *Gate) whyUntrusted() (why, remedy string) {
	var fault *tree.Error
	switch named := variable(g.opts.Environ, DigestVariable); {
	case errors.As(g.BundleErr, &fault):
		return "nobody can agree to its files, as " + fault.What(), fault.Remedy
	case g.BundleErr != nil:
		return "nobody can agree to its files: " + g.BundleErr.Error(), "make them readable"
	case named != "" && !g.Trusted && g.Bundle != nil:
		return DigestVariable + " stands for other files than these, whose digest is " + g.Bundle.Digest, ""
	}
	return "", ""
}

// Unapproved is the decision about what of the project, besides its extensions,
// has not been approved; [Gate.Change] lists that.
func (g *Gate) Unapproved() policies.Decision {
	why, remedy := g.whyUntrusted()
	d := policies.Untrusted(why, remedy, g.Set.Headless)
	if g.Trusted {
		d.Code, d.Reason = policies.CodeWidened, "it is not what was approved of the project"
	}
	return d
}

// AsItIs is the approval of a project that is trusted as it is now, for this run:
// what becomes of it later is compared with that. It is nil where the project is
// trusted otherwise, or not. The extensions have to be judged before.
func (g *Gate) AsItIs() *trust.Record {
	if !g.asItIs {
		return nil
	}
	return g.Agreed(time.Now())
}

// Agreed is the approval of the project as it is now. What was approved of it
// before, at places that are not in view from here, stays so.
func (g *Gate) Agreed(now time.Time) *trust.Record {
	r := trust.NewRecord(g.Identity, g.Bundle, now)
	r.Keep(g.Approved, g.Bundle)
	return r
}

// fillBundle says what the project's extensions ask for.
func (g *Gate) fillBundle() {
	for _, c := range g.candidates {
		if c.Manifest == nil || !g.ofProject(c) {
			continue
		}
		if _, taken := g.Bundle.Extensions[c.Manifest.Name]; taken {
			continue // a second folder of that name, which stays unapproved
		}
		place, ok := g.placeOf(c)
		permissions, err := policies.ParsePermissions(c.Manifest.Permissions)
		if !ok || err != nil {
			continue // it stays unapproved
		}
		m := c.Manifest
		g.Bundle.Extensions[m.Name] = trust.Extension{
			Dir:         place,
			Start:       trust.Start(string(m.Transport), m.Exec, m.Args, m.Env, m.Skills),
			Permissions: policies.AskedFor(permissions, string(m.Transport)),
		}
	}
}

// placeOf is what an approval knows a candidate by: its folder inside the
// project, or the digest by which the lock names it.
func (g *Gate) placeOf(c *discovery.Candidate) (string, bool) {
	if c.Pin != "" {
		return c.Pin, true
	}
	rel, err := filepath.Rel(g.opts.ProjectRoot, c.Dir)
	return filepath.ToSlash(rel), err == nil
}

// projectSettings says what the project's settings would change.
func (g *Gate) projectSettings() []string {
	var out []string
	for _, layer := range []config.Layer{config.Project, config.Local} {
		for _, e := range g.opts.Settings.SetBy(layer) {
			if !e.Key.Discovery {
				out = append(out, config.FormatPath(e.Path)+" = "+e.Literal())
			}
		}
	}
	return out
}

// projectPolicy is what the project's policy says, by layer.
func (g *Gate) projectPolicy() map[string]*document.Node {
	out := map[string]*document.Node{}
	for _, s := range g.opts.Settings.Policy {
		if s.Layer.FromProject() && s.Node != nil {
			out[s.Layer.String()] = s.Node
		}
	}
	return out
}

// heldSections are the policies of the project that its user approved and that
// it says otherwise now. They hold besides those of today.
func (g *Gate) heldSections() []policies.Section {
	if g.asItIs {
		return nil // as it is now, somebody said
	}
	var out []policies.Section
	held := g.Approved.Held(g.Bundle)
	for _, layer := range slices.Sorted(maps.Keys(held)) { // the first of two that deny is named
		if l, ok := policies.ParseLayer(layer); ok {
			out = append(out, policies.Section{Layer: l, File: g.opts.Home.TrustFile(), Node: held[layer]})
		}
	}
	return out
}

// projectExtensions are the names of the extensions that come with the project.
func (g *Gate) projectExtensions() []string {
	var out []string
	for _, c := range g.candidates {
		if c.Manifest != nil && g.ofProject(c) {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ofProject tells whether a candidate comes with the project.
func (g *Gate) ofProject(c *discovery.Candidate) bool {
	return scopeOf(c, g.opts.ProjectRoot) == policies.ScopeProject
}

// approval is what holds for a candidate of the trusted project. What was
// approved is a folder, and not whatever else goes by its name.
func (g *Gate) approval(c *discovery.Candidate) (*policies.Grant, []string) {
	name := c.Manifest.Name
	ext, ok := g.Bundle.Extensions[name]
	if place, known := g.placeOf(c); !ok || !known || place != ext.Dir {
		return nil, nil
	}
	if g.asItIs {
		return ext.Permissions, nil
	}
	return g.Approved.Approval(name, g.Bundle)
}

// SettingsTrusted tells whether the project's preferences may hold: it is
// trusted, and no preference is there that was not approved.
func (g *Gate) SettingsTrusted() bool {
	if !g.Trusted {
		return false
	}
	return g.asItIs || len(g.Approved.NewSettings(g.Bundle.Settings)) == 0
}

// Change is what of the project has not been approved yet. Where its files cannot
// be pinned, that is whatever else it brings.
func (g *Gate) Change() trust.Change {
	switch {
	case g.BundleErr != nil:
		return trust.Change{Started: g.projectExtensions(), Settings: g.projectSettings()}
	case g.Bundle == nil || g.asItIs:
		return trust.Change{}
	}
	c := g.Approved.Compare(g.Bundle)
	if g.opts.Settings.Config.ContextFiles.Untrusted != "ask" {
		c.Files = slices.DeleteFunc(c.Files, IsInstructions) // its user has said what becomes of them
	}
	return c
}

// Approve remembers what was agreed to.
func (g *Gate) Approve(r *trust.Record) error {
	return trust.Store{Home: g.opts.Home}.Approve(g.Identity, r)
}

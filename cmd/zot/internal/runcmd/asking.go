package runcmd

import (
	"context"
	"fmt"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
)

// settleLoads asks about each extension that a rule or the mode wants asked about,
// and reports whether one may load that might not before. A yes holds for these
// bytes, under this policy, until zot ends.
func (d *desk) settleLoads(ctx context.Context, w *workspace.Workspace) bool {
	found, g, err := w.Judge(d.run.flags.Ext, d.run.flags.NoExt, version.Number)
	if err != nil {
		return false
	}
	more := false
	for _, c := range found.Candidates {
		why, asked := g.Load(c)
		if c.State != discovery.Held || !asked || !toAsk(why) || !approved(g.Bound(c).Subject()) {
			continue
		}
		mark := g.Mark(c)
		if mark != "" && d.question(ctx, loadAsk(w.ProjectRoot, c, g, why)) == loadOnce {
			d.run.w.AgreeToLoad(c.Dir, mark)
			more = true
		}
	}
	return more
}

// approved tells whether it does not come with a project, or with one whose user
// has agreed to it: what is not trusted does not load, whatever is said here.
func approved(s policies.Subject) bool {
	return s.Scope != policies.ScopeProject || !s.Untrusted && s.Approval != nil
}

// toAsk tells whether a decision is a question about one extension. That about
// its project is another.
func toAsk(d policies.Decision) bool {
	return d.Verdict == policies.Ask && !d.AboutTrust()
}

// The answers to the question about an extension, in the order shown.
const (
	loadNot = iota
	loadOnce
)

// loadAsk is the question about one extension: why it is asked, and all that a yes
// allows.
func loadAsk(root string, c *discovery.Candidate, g *gate.Gate, why policies.Decision) tui.Ask {
	asks := g.Bound(c).Asked()
	all := trust.Change{Started: []string{c.Name}, Rights: map[string][]policies.Atom{c.Name: asks.Atoms()}}
	body := []string{fmt.Sprintf("%s: %s (%s)", why.Code, why.Reason, why.By)}
	body = append(body, extensionLines(c, trust.Extension{Permissions: asks}, all, g)...)
	return tui.Ask{
		Kind: dialog.Trust, Title: "may the extension " + schemas.Printable(c.Name) + " load?", Cwd: root, Body: printable(body),
		Options: []dialog.Option{
			{Label: "no, leave it out"},
			{Label: "yes, this time", Detail: "until zot ends, or the files or the policy change"},
		},
		Default: loadNot, Cancel: loadNot,
	}
}

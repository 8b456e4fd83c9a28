package runcmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
	"github.com/patriceckhart/zot/transports/wasi"
)

// A Rehearsal starts the extensions the way a session does, and nothing else of
// a session: there is no model, no conversation and nobody who calls.
type Rehearsal struct {
	*extension.Manager
	planner *planner
	notices []string
}

// Rehearse prepares a start of what a session with these folders given to --ext
// would load. Nothing runs before Start; Stop ends it.
func Rehearse(w *workspace.Workspace, explicit []string) *Rehearsal {
	r := &Rehearsal{}
	r.planner = &planner{
		w: w, explicit: explicit, version: version.Number, withhold: secretNames(&w.Settings.Config), report: r.report,
	}
	o := managerOptions(w)
	o.Plan = r.planner.plan
	o.Host = func() extension.HostInfo { return extension.HostInfo{ZotVersion: version.Number, CWD: w.CWD} }
	o.Interactive = true
	o.BuiltinCommand = builtinCommand
	o.BuiltinTool = builtinTool(w)
	o.Request = newServices(r.planner).serve
	o.Audit = r.planner.audit
	o.CallTool = func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, errors.New("no tools run while extensions are only being looked at")
	}
	r.Manager = extension.New(o)
	return r
}

// builtinTool reports whether a name is that of a tool of zot's own.
func builtinTool(w *workspace.Workspace) func(name string) bool {
	names := []string{skill.ToolName}
	for _, t := range builtin.New(builtin.Options{CWD: w.CWD, Home: w.UserHome}) {
		names = append(names, t.Spec().Name)
	}
	return func(name string) bool {
		return slices.ContainsFunc(names, func(own string) bool { return strings.EqualFold(own, name) })
	}
}

// report keeps what concerns the whole of a start; what is held back is asked
// for by Held.
func (r *Rehearsal) report(e event.Event) {
	if n, ok := e.(event.Notice); ok {
		r.notices = append(r.notices, n.Text)
	}
}

// Notices are the lines for the user that the start itself gave cause for.
func (r *Rehearsal) Notices() []string { return r.notices }

// Refused lists what was refused to a candidate, in this run and before, and
// would be today.
func (r *Rehearsal) Refused(c *discovery.Candidate) ([]gate.Refusal, error) {
	g, _ := r.planner.decisions()
	if g == nil {
		return nil, nil
	}
	all, err := g.Refused(c)
	return all[c.Name], err
}

// Found is all that the start looked at, in rank order, with what became of it.
func (r *Rehearsal) Found() discovery.Plan {
	r.planner.mu.Lock()
	defer r.planner.mu.Unlock()
	return r.planner.found
}

// Held is the decision of the policy that holds a candidate back. It is false
// for one that the policy lets load.
func (r *Rehearsal) Held(c *discovery.Candidate) (policies.Decision, bool) {
	g, _ := r.planner.decisions()
	d, ok := g.Load(c)
	return d, ok && !d.Allowed()
}

// Isolation is where modules run, and ModuleCache the folder of what they were
// compiled to.
func (r *Rehearsal) Isolation() wasi.Isolation {
	return wasi.Isolation(r.planner.w.Settings.Config.Extensions.Isolation)
}

// ModuleCache is described at Isolation.
func (r *Rehearsal) ModuleCache() string { return r.planner.w.Home.ModuleCache() }

// Policy is what the start judged by.
func (r *Rehearsal) Policy() *gate.Gate {
	g, _ := r.planner.decisions()
	return g
}

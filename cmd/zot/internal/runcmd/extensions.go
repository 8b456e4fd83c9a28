package runcmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// A planner turns what discovery finds, and the policy lets load, into what the
// manager runs. It looks anew each time, so that a reload sees what changed on
// disk and in the settings.
type planner struct {
	w        *workspace.Workspace // as it was at the start
	explicit []string
	noExt    bool
	version  string
	withhold []string // names of variables that hold credentials
	report   func(event.Event)
	manager  func() *extension.Manager // of the session; nil where nothing is narrowed

	mu    sync.Mutex
	now   *workspace.Workspace // as the latest plan found it; nil before the first
	found discovery.Plan       // what the latest plan was made of
	gate  *gate.Gate           // of the latest plan
	held  []policies.Decision
	told  map[string]bool // warnings that were said
	// asking says that its user is being asked, so that what is held back is not
	// yet known; unsaid is what would be.
	asking bool
	unsaid *event.PolicyStatus
	// bounds is the policy for each extension of the latest plan, by name, and
	// granted what it was started with.
	bounds  map[string]*policies.Bound
	granted map[string]*policies.Grant

	watch watch
	tools map[*gate.Gate]*gate.Tools
}

// workspace is the place as it was read last.
func (p *planner) workspace() *workspace.Workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return p.w
	}
	return p.now
}

// renew reads the place again; the first plan is made of what was read at the
// start.
func (p *planner) renew() error {
	p.mu.Lock()
	first := p.now == nil
	p.mu.Unlock()
	fresh, err := p.w, error(nil)
	if !first {
		if fresh, err = p.w.Again(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.now = fresh
	p.mu.Unlock()
	p.watch.seen(fresh.Stamp())
	return nil
}

func (p *planner) plan() extension.Plan {
	var plan extension.Plan
	if err := p.renew(); err != nil {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "settings", Err: err})
	}
	found, g, err := p.workspace().Judge(p.explicit, p.noExt, p.version)
	if err != nil {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "extensions", Err: err})
	}
	for _, err := range found.Problems {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "extensions", Err: err})
	}
	if err := g.Log(""); err != nil && p.report != nil {
		p.report(event.Notice{Level: "warn", Text: "the log of policy decisions cannot be written: " + err.Error()})
	}
	bounds, granted := map[string]*policies.Bound{}, map[string]*policies.Grant{}
	for _, c := range found.Candidates {
		switch c.State {
		case discovery.Load:
			bounds[c.Name] = g.Bound(c)
			entry, rights := p.entry(c, g)
			plan.Entries, granted[c.Name] = append(plan.Entries, entry), rights
		case discovery.Invalid:
			plan.Failures = append(plan.Failures, extension.Failure{Name: c.Name, Err: p.fault(c)})
		}
	}
	p.mu.Lock()
	p.bounds, p.granted, p.found = bounds, granted, found
	p.watch.started = g
	p.mu.Unlock()
	p.tellHeld(found, g)
	p.tellWarnings(found, g)
	return plan
}

// tellWarnings says, once in a run, what is wrong with extensions that load all
// the same: that they are given less than they ask for, that this system cannot
// hold them to something, and the like.
func (p *planner) tellWarnings(found discovery.Plan, g *gate.Gate) {
	if p.report == nil {
		return
	}
	for _, err := range g.LockErrs { // a lock that cannot be read pins nothing
		if p.firstTime(err.Error()) {
			p.report(event.Notice{Level: "warn", Text: err.Error()})
		}
	}
	for _, c := range found.Loading() {
		d, _ := g.Load(c)
		for _, w := range d.Warnings {
			text := fmt.Sprintf("extension %s: %s: %s", c.Name, w.Code, w.Message)
			if w.Code == policies.CodeApprovalNeeded || w.Code == policies.CodeAuditSink || !p.firstTime(text) {
				continue // what its user typed, and what is settled already
			}
			p.report(event.Notice{Level: "warn", Text: text})
		}
	}
}

// namedExtensions says which folders of --ext hold no extension. They were named
// for this run, so it does not go on without: one may be the guard that the
// prompt relies on.
func (a *run) namedExtensions() error {
	if len(a.flags.Ext) == 0 {
		return nil
	}
	found, _, _ := a.w.Judge(a.flags.Ext, a.flags.NoExt, version.Number) // what cannot be searched, the plan says
	var faults []error
	for _, c := range found.Candidates {
		if c.Scope == discovery.ScopeFlag && c.State == discovery.Invalid {
			faults = append(faults, fmt.Errorf("--ext %s: %w", c.Dir, a.planner.fault(c)))
		}
	}
	return errors.Join(faults...)
}

// firstTime tells whether a warning has not been said yet.
func (p *planner) firstTime(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[text] {
		return false
	}
	if p.told == nil {
		p.told = map[string]bool{}
	}
	p.told[text] = true
	return true
}

// tellHeld keeps and reports what is held back, and by whom.
func (p *planner) tellHeld(found discovery.Plan, g *gate.Gate) {
	status, decisions := heldBack(found, g)
	p.mu.Lock()
	p.gate, p.held = g, decisions
	p.unsaid = nil
	if p.asking {
		p.unsaid = &status
	}
	asking := p.asking
	p.mu.Unlock()
	if len(status.Held) > 0 && p.report != nil && !asking {
		p.report(status)
	}
}

// ask says that its user is going to be asked, and answered that it is over: with
// no, what is held back stays so and is reported; with yes, by the plan to come.
func (p *planner) ask() {
	p.mu.Lock()
	p.asking = true
	p.mu.Unlock()
}

func (p *planner) answered(yes bool) {
	p.mu.Lock()
	unsaid := p.unsaid
	p.asking, p.unsaid = false, nil
	p.mu.Unlock()
	if unsaid != nil && len(unsaid.Held) > 0 && p.report != nil && !yes {
		p.report(*unsaid)
	}
}

// heldBack lists what is held back, and the decisions that do so.
func heldBack(found discovery.Plan, g *gate.Gate) (event.PolicyStatus, []policies.Decision) {
	mode, _ := g.Set.Mode()
	status := event.PolicyStatus{Mode: mode.String()}
	var decisions []policies.Decision
	for _, c := range found.Candidates {
		if c.State != discovery.Held {
			continue
		}
		held := event.PolicyHeld{What: "extension " + c.Name, Reason: c.Reason}
		if d, ok := g.Load(c); ok && !d.Allowed() {
			decisions = append(decisions, d)
			held.Code, held.Reason, held.Remedy = string(d.Code), d.Reason+" ("+d.By.String()+")", d.Remedy
		}
		status.Held = append(status.Held, held)
	}
	for _, s := range g.Change().Settings {
		d := g.Unapproved()
		decisions = append(decisions, d)
		status.Held = append(status.Held, event.PolicyHeld{What: "setting " + s, Code: string(d.Code), Reason: d.Reason + " (" + d.By.String() + ")", Remedy: d.Remedy})
	}
	for _, d := range missing(found, g) {
		decisions = append(decisions, d)
		status.Held = append(status.Held, event.PolicyHeld{
			What: "what " + d.By.String() + " requires", Code: string(d.Code), Reason: d.Reason, Remedy: d.Remedy,
		})
	}
	return status, decisions
}

// missing are the decisions about extensions that must run and are not there.
func missing(found discovery.Plan, g *gate.Gate) []policies.Decision {
	var loaded []policies.Subject
	for _, c := range found.Loading() {
		if b := g.Bound(c); b != nil {
			loaded = append(loaded, b.Subject())
		}
	}
	var out []policies.Decision
	for _, r := range g.Set.Missing(loaded) {
		out = append(out, policies.Decision{
			Verdict: policies.Deny, Code: policies.CodeRequiredMissing, By: r.At,
			Reason: "extension " + r.Name() + " is required, and does not load", Remedy: findRequired(found, r.Name()),
		})
	}
	return out
}

// findRequired says what helps where an extension that must run does not.
func findRequired(found discovery.Plan, name string) string {
	switch there := found.Lookup(name); {
	case len(there) == 0:
		return "install it with zot ext install; zot ext list says what settings leave out, and --no-ext leaves out all"
	case there[0].State == discovery.Disabled:
		return "switch it on with zot ext enable " + there[0].Name
	default:
		return "zot policy explain " + there[0].Name + " says why"
	}
}

// audit writes what an extension was refused to the log of decisions.
func (p *planner) audit(name string, c policies.Capability, value string, d policies.Decision) {
	if g, _ := p.decisions(); g != nil {
		_ = g.Record(name, c, value, d) // a log that must be kept was checked before anything loaded
	}
}

// decisions are those that hold something back in the latest plan.
func (p *planner) decisions() (*gate.Gate, []policies.Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gate, p.held
}

// fault says what is wrong with a manifest, with the line it is on.
func (p *planner) fault(c *discovery.Candidate) error {
	var file *schemas.FileError
	if errors.As(c.Err, &file) {
		return errors.New(file.Render())
	}
	return c.Err
}

// entry is what the manager runs, and the rights on the system that it is
// started with.
func (p *planner) entry(c *discovery.Candidate, g *gate.Gate) (extension.Entry, *policies.Grant) {
	m := c.Manifest
	e := extension.Entry{
		Name: m.Name, Version: m.Version, Scope: string(c.Scope), Dir: c.Dir, DataDir: c.Dir, Exec: m.Exec,
	}
	if m.Kind() != manifest.Protocol {
		return e, nil
	}
	e.Contributes = contributes(m)
	l := p.launcher(c, g)
	l.prepare(&e, g.InOwnFolder(c))
	e.Launch = l.launch
	return e, l.reach
}

// contributes is what a manifest declares, in the words of the manager.
func contributes(m *manifest.Manifest) *extension.Contributes {
	if !m.Contributes.Declared {
		return nil
	}
	c := &extension.Contributes{}
	for _, d := range m.Contributes.Commands {
		c.Commands = append(c.Commands, extproto.RegisterCommand{Name: d.Name, Description: d.Description})
	}
	for _, d := range m.Contributes.Tools {
		c.Tools = append(c.Tools, extproto.RegisterTool{
			Name: d.Name, Description: d.Description, Schema: d.Schema, OutputSchema: d.OutputSchema,
			Deferred: d.Deferred, Interactive: d.Interactive,
		})
	}
	c.Panels = []string{} // those that are declared, and no others
	for _, d := range m.Contributes.Panels {
		c.Panels = append(c.Panels, d.ID)
	}
	return c
}

// managerOptions are the settings of the extension manager.
func managerOptions(w *workspace.Workspace) extension.Options {
	t, l := w.Settings.Config.Timeouts, w.Settings.Config.Limits
	return extension.Options{
		LogDir: filepath.Clean(w.Home.LogsDir()),
		Timeouts: extension.Timeouts{
			Hello: t.Hello, Ready: orNone(t.Ready), AutoReady: orNone(t.AutoReady), Command: t.Command, Tool: t.Tool,
			Intercept: t.Intercept, Write: t.Write, Exit: orNone(t.Shutdown), Term: orNone(t.Term), CallTool: t.Tool,
		},
		Limits: extension.Limits{
			QueueFrames: l.QueueFrames, QueueBytes: int(l.QueueBytes), LogBytes: int64(l.Log), LogFiles: orNone(l.LogFiles),
		},
	}
}

// orNone writes a count or time of zero as the options of packages do, to whom
// zero means the default.
func orNone[N int | time.Duration](n N) N {
	if n == 0 {
		return -1
	}
	return n
}

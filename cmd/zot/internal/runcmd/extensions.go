package runcmd

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
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
	w        *workspace.Workspace
	explicit []string
	noExt    bool
	version  string
	withhold []string // names of variables that hold credentials
	report   func(event.Event)

	mu    sync.Mutex
	found discovery.Plan // what the latest plan was made of
	gate  *gate.Gate     // of the latest plan
	held  []policies.Decision
	// bounds is the policy for each extension of the latest plan, by name.
	bounds map[string]*policies.Bound

	tools   *gate.Tools // of toolsOf
	toolsOf *gate.Gate
}

func (p *planner) plan() extension.Plan {
	found, g, err := p.w.Judge(p.explicit, p.noExt, p.version)
	var plan extension.Plan
	if err != nil {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "extensions", Err: err})
	}
	for _, err := range found.Problems {
		plan.Failures = append(plan.Failures, extension.Failure{Name: "extensions", Err: err})
	}
	if err := g.Log(""); err != nil && p.report != nil {
		p.report(event.Notice{Level: "warn", Text: "the log of policy decisions cannot be written: " + err.Error()})
	}
	bounds := map[string]*policies.Bound{}
	for _, c := range found.Candidates {
		switch c.State {
		case discovery.Load:
			bounds[c.Name] = g.Bound(c)
			plan.Entries = append(plan.Entries, p.entry(c, g))
		case discovery.Invalid:
			plan.Failures = append(plan.Failures, extension.Failure{Name: c.Name, Err: p.fault(c)})
		}
	}
	p.mu.Lock()
	p.bounds, p.found = bounds, found
	p.mu.Unlock()
	p.tellHeld(found, g)
	return plan
}

// tellHeld keeps and reports what is held back, and by whom.
func (p *planner) tellHeld(found discovery.Plan, g *gate.Gate) {
	status, decisions := heldBack(found, g)
	p.mu.Lock()
	p.gate, p.held = g, decisions
	p.mu.Unlock()
	if len(status.Held) > 0 && p.report != nil {
		p.report(status)
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
	return status, decisions
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

func (p *planner) entry(c *discovery.Candidate, g *gate.Gate) extension.Entry {
	m := c.Manifest
	e := extension.Entry{
		Name: m.Name, Version: m.Version, Scope: string(c.Scope), Dir: c.Dir, DataDir: c.Dir, Exec: m.Exec,
	}
	if m.Kind() == manifest.Protocol {
		e.Contributes = contributes(m)
		l := &launcher{p: p, m: m, dir: c.Dir, bound: g.Bound(c), gate: g}
		l.prepare(&e)
		e.Launch = l.launch
	}
	return e
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

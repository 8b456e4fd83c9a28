package runcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
)

// toolPolicy judges tool calls: what the policy says of tools and commands,
// and the user's own wish to be asked.
type toolPolicy struct {
	planner *planner
	skills  *skillUse
	askAll  bool
	asker   guard.Asker // or nil
}

// Decide implements guard.Policy.
func (p toolPolicy) Decide(_ context.Context, call tool.Call, _ tool.Tool) guard.Decision {
	p.planner.refresh()
	d, err := p.judge(call)
	if d.Verdict == policies.Ask && !guard.CanAsk(p.asker) {
		d.Verdict, d.Code = policies.Deny, policies.CodeApprovalNeeded
	}
	switch {
	case err != nil:
		// A policy that cannot be read denies what it would have judged.
		return guard.Decision{Effect: guard.Deny, Reason: err.Error()}
	case d.Verdict == policies.Deny:
		p.record(call, d)
		return guard.Decision{Effect: guard.Deny, Reason: gate.Sentence(d)}
	case d.Verdict == policies.Ask:
		p.record(call, d)
		return guard.Decision{Effect: guard.Ask, Reason: gate.Sentence(d), Remember: p.remember(call)}
	case p.askAll:
		return guard.Decision{Effect: guard.Ask, Soft: true}
	}
	return guard.Decision{Effect: guard.Allow, Source: "yolo"}
}

// remember names what a lasting yes is for: the one rule that asks, or the very
// command where several do or none speaks of it.
func (p toolPolicy) remember(call tool.Call) string {
	var rules []string
	for _, g := range p.planner.gates() {
		if tools, err := p.planner.toolRules(g); err == nil {
			rules = append(rules, tools.Asking(call.Name, call.Args)...)
		}
		if p.skills.judge(g.Set, call).Verdict == policies.Ask {
			rules = append(rules, gate.AnyCommand)
		}
	}
	slices.Sort(rules)
	rules = slices.Compact(rules)
	if len(rules) == 1 && rules[0] != gate.AnyCommand {
		return "rule " + rules[0]
	}
	if call.Name == "bash" {
		if line, err := builtin.CommandLine(call.Args); err == nil {
			return "the command " + line
		}
	}
	return call.Name
}

// judge asks the policy as it is, and as it was when the extensions were
// started: what changed since may narrow, and widens with a reload only.
func (p toolPolicy) judge(call tool.Call) (policies.Decision, error) {
	d := policies.Decision{Verdict: policies.Allow}
	for _, g := range p.planner.gates() {
		tools, err := p.planner.toolRules(g)
		if err != nil {
			return policies.Decision{}, err
		}
		for _, by := range []policies.Decision{tools.Decide(call.Name, call.Args), p.skills.judge(g.Set, call)} {
			if by.Verdict < d.Verdict {
				d = by
			}
		}
	}
	return d, nil
}

// record writes what a tool was refused, or had to be asked about, to the log of
// decisions.
func (p toolPolicy) record(call tool.Call, d policies.Decision) {
	if g, _ := p.planner.decisions(); g != nil {
		_ = g.Record("", policies.Tools, call.Name, d) // a log that must be kept was checked before anything loaded
	}
}

// gates are those of the start and of now.
func (p *planner) gates() []*gate.Gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.gate == nil:
		return nil
	case p.watch.started == nil || p.watch.started == p.gate:
		return []*gate.Gate{p.gate}
	}
	return []*gate.Gate{p.watch.started, p.gate}
}

// toolRules are the policy's rules for tools, read once for each gate.
func (p *planner) toolRules(g *gate.Gate) (*gate.Tools, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if tools := p.tools[g]; tools != nil {
		return tools, nil
	}
	tools, err := gate.NewTools(g.Set)
	if err != nil {
		return nil, err
	}
	tools.Shell = builtin.ShellPath(p.w.Settings.Config.Bash.Shell)
	if p.tools == nil || len(p.tools) > 8 {
		p.tools = map[*gate.Gate]*gate.Tools{}
	}
	p.tools[g] = tools
	return tools, nil
}

// protect keeps the file tools from writing what decides about trust, and what
// the next session would load: zot's own home, every .zot, and the skills of other
// programs' folders. Skipping confirmations does not lift it.
func (a *run) protect(op paths.Op, real string) error {
	if op != paths.Write {
		return nil
	}
	for _, dir := range []string{home.ProjectConfigDir(a.w.ProjectRoot), a.w.Home.Dir()} {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if paths.ContainsFold(dir, real) {
			return protectedError(real)
		}
	}
	if paths.InDeciding(real) {
		return protectedError(real)
	}
	return nil
}

func protectedError(real string) error {
	return fmt.Errorf("%s is protected: settings, policy, trust, extensions and skills are changed by their user alone, with `zot config`, `zot policy` and `zot ext`; put the files elsewhere and say so", real)
}

// requireTrusted ends the run where something of the project is held back, for
// --require-trusted.
func (a *run) requireTrusted() error {
	if !a.flags.RequireTrusted {
		return nil
	}
	found, g, err := a.w.Judge(a.flags.Ext, a.flags.NoExt, version.Number)
	if err != nil {
		return err
	}
	status, held := heldBack(found, g)
	if len(held) == 0 && g.Change().None() {
		return nil
	}
	for _, h := range status.Held {
		fmt.Fprintln(a.streams.Err, "zot: "+clean(heldLine(h)))
	}
	d := g.Unapproved() // nothing of it runs, but the model would read it, say
	if len(held) > 0 {
		d = gravest(held)
	} else {
		d.Reason += "; zot trust lists what is not approved"
	}
	return &exit.Error{Code: exitOf(d.Code), Err: errors.New("--require-trusted: " + gate.Sentence(d))}
}

// gravest is the first of the decisions with the exit status that says most: a
// policy that cannot be read is behind much else, and that something is held back
// is true of all.
func gravest(held []policies.Decision) policies.Decision {
	for _, status := range []int{policies.ExitPolicyInvalid, policies.ExitRequiredMissing, policies.ExitDigestMismatch, policies.ExitCannotEnforce, policies.ExitApprovalNeeded} {
		for _, d := range held {
			if exitOf(d.Code) == status {
				return d
			}
		}
	}
	return held[0]
}

// exitOf is the exit status that stands for what holds something back.
func exitOf(code policies.Code) int {
	switch code {
	case policies.CodeManagedInvalid, policies.CodeUserInvalid, policies.CodeProjectInvalid, policies.CodeInsecureOwner:
		return policies.ExitPolicyInvalid
	case policies.CodeRequiredMissing:
		return policies.ExitRequiredMissing
	case policies.CodeDigest, policies.CodeContentDrift, policies.CodeDescriptorDrift:
		return policies.ExitDigestMismatch
	case policies.CodeApprovalNeeded:
		return policies.ExitApprovalNeeded
	case policies.CodeCannotEnforce:
		return policies.ExitCannotEnforce
	}
	return policies.ExitUntrusted
}

package runcmd

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
)

// watchEvery is how often the files that decide are looked at while nothing
// else asks.
const watchEvery = 2 * time.Second

// A watch knows how the files that decide looked when they were read.
type watch struct {
	looking sync.Mutex // held by who looks
	mu      sync.Mutex
	stamp   string

	// started is the gate of the latest start, guarded by planner.mu. What was
	// refused then stays refused until the next: only a start can widen.
	started *gate.Gate
}

func (w *watch) seen(stamp string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stamp = stamp
}

func (w *watch) changed(stamp string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stamp != stamp
}

// watchPolicy looks after the policy until ctx ends.
func (a *run) watchPolicy(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.planner.refresh()
		case <-ctx.Done():
			return
		}
	}
}

// refresh reads settings, policies, locks and approvals again where their files
// have changed, and narrows what runs accordingly, from its next frame on. What
// would be wider than before waits for a reload.
func (p *planner) refresh() {
	if p.manager == nil {
		return
	}
	p.watch.looking.Lock()
	defer p.watch.looking.Unlock()
	stamp := p.workspace().Stamp()
	if !p.watch.changed(stamp) {
		return
	}
	p.watch.seen(stamp)
	fresh, err := p.w.Again()
	if err != nil {
		p.report(event.Notice{Level: "error", Text: "the settings changed and cannot be read, so what holds is what held before: " + err.Error()})
		return
	}
	found, g, _ := fresh.Judge(p.explicit, p.noExt, p.version)
	p.mu.Lock()
	p.gate = g
	p.mu.Unlock()
	for _, s := range p.manager().Status() {
		for _, c := range found.Candidates {
			if b := g.Bound(c); b != nil && c.Dir == s.Dir && strings.EqualFold(c.Name, s.Name) {
				p.narrow(s.Name, b)
				break
			}
		}
	}
}

// narrow puts a running extension under a policy that was read again.
func (p *planner) narrow(name string, b *policies.Bound) {
	before := p.manager().Rights(name)
	had, known := p.startedWith(name)
	if !known {
		return // it does not run
	}
	now := b.Within(before)
	switch {
	case !b.Load().Allowed():
	case reachesLess(had, b.Reach()):
		// Folders, hosts and variables were given to a process that runs, and
		// cannot be taken back from it.
		now = b.Stopped(policies.Decision{
			Verdict: policies.Deny, Code: policies.CodeOutsideGrant, By: policies.Origin{Builtin: true},
			Reason: "it was started with rights on this system that a policy has taken away since", Remedy: "start it without them: /reload-ext " + name,
		})
	case before == nil && b.Granted().All && !b.FailsClosed(extproto.EventToolCall):
		return // it was bounded by nothing, and is not now
	case before != nil && sameRights(before, now):
		return
	}
	if err := p.manager().Narrow(name, now); err == nil {
		p.report(event.Notice{Level: "warn", Text: "a policy that changed narrows what " + name + " may do"})
	}
}

// sameRights tells whether nothing is narrower now.
func sameRights(before, now *policies.Bound) bool {
	return len(before.Granted().Missing(now.Granted())) == 0 && before.Limits() == now.Limits() &&
		before.FailsClosed(extproto.EventToolCall) == now.FailsClosed(extproto.EventToolCall)
}

// startedWith are the rights that an extension was started with.
func (p *planner) startedWith(name string) (*policies.Grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, g := range p.granted {
		if strings.EqualFold(n, name) {
			return g, g != nil
		}
	}
	return nil, false
}

// reachesLess tells whether rights on the system itself were taken away.
func reachesLess(had, now *policies.Grant) bool {
	for _, a := range had.Missing(now) {
		switch a.Cap {
		case policies.FSRead, policies.FSWrite, policies.NetConnect, policies.EnvPass, policies.EnvSecrets, policies.ExecRun, policies.ExecShell:
			return true
		}
	}
	return false
}

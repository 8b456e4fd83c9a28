package extension

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
)

// An interceptRight is what the policy lets an extension do as an interceptor
// of one event.
type interceptRight struct {
	policies.Intercept
	tools *policies.Grant // in the form that can be asked; nil: all tools
	named bool            // the grant speaks of the event, and not of any
}

func newInterceptRight(i policies.Intercept, named bool) interceptRight {
	r := interceptRight{Intercept: i, named: named}
	if i.Tools != nil {
		r.tools = &policies.Grant{Tools: i.Tools}
	}
	return r
}

// concerns reports whether the right is about a tool; "" stands for what is no
// tool call.
func (r interceptRight) concerns(tool string) bool {
	return tool == "" || r.tools == nil || r.tools.Covers(policies.Tools, tool)
}

// A guard is an interceptor that has a say in something.
type guard struct {
	peer *peer
	may  interceptRight
	down bool // it does not run, and what it guards is refused for that
}

// intercept is what an extension may do as an interceptor. m.mu need not be
// held.
func (sc *scope) intercept(event string) interceptRight {
	if sc == nil {
		return newInterceptRight(policies.Intercept{Block: true, Rewrite: true}, false)
	}
	return sc.intercepts[event]
}

// mayIntercept reports whether the extension may be asked about an event.
// The system prompt has a right of its own; a rule that denies to intercept
// it counts all the same. m.mu is held.
func (p *peer) mayIntercept(fx *effects, sc *scope, e string) bool {
	if sc == nil {
		return true
	}
	what := "being asked about " + e
	if e != extproto.EventBeforeAgentStart {
		return p.may(fx, true, policies.Intercepts, e, what)
	}
	if d := sc.rights.Use(policies.Intercepts, e); d.Code == policies.CodeDenyRule {
		p.refuse(fx, true, policies.Intercepts, e, what, d)
		return false
	}
	return p.may(fx, true, policies.SystemPrompt, "read", what)
}

// guards lists, in rank order, who has a say about an event: those that run
// and are subscribed, and those that do not run and whose silence refuses. It
// waits for those of the latter that are still starting. The error is ctx's.
func (m *Manager) guards(ctx context.Context, event, tool string) ([]guard, error) {
	for _, p := range m.starting(event) {
		select {
		case <-p.settled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []guard
	for _, p := range m.peers {
		asked := p.isReady() && p.intercepts[event]
		down := !p.isReady() && p.guardsWhenDown(event)
		if !asked && !down {
			continue
		}
		if may := p.scope.Load().intercept(event); may.concerns(tool) {
			all = append(all, guard{peer: p, may: may, down: down})
		}
	}
	return all, nil
}

// starting lists the guards that must be waited for.
func (m *Manager) starting(event string) (all []*peer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if (p.state == StateStarting || p.state == StateGreeted) && p.guardsWhenDown(event) {
			all = append(all, p)
		}
	}
	return all
}

// guardsWhenDown reports whether an extension that does not run guards an
// event, and fails closed. One that was ready once guards what it subscribed to.
// Of one that never was, the grant must tell: of a required one, all that it
// may intercept; of another what its grant names, since else every extension
// that does not start would stop all work. m.mu is held.
func (p *peer) guardsWhenDown(event string) bool {
	sc := p.scope.Load()
	if sc == nil || p.entry.Launch == nil {
		return false
	}
	right, granted := sc.intercepts[event]
	switch {
	case !granted || !right.DenyOnFailure || event == extproto.EventBeforeAgentStart:
		return false
	case !p.readyAt.IsZero() || p.intercepts[event]:
		return p.intercepts[event]
	}
	return right.named || sc.rights.Required()
}

// notRunning says that a guard is down. m.mu must not be held.
func (g guard) notRunning() error {
	g.peer.m.mu.Lock()
	state, err := g.peer.state, g.peer.err
	g.peer.m.mu.Unlock()
	text := fmt.Sprintf("%s: it is not running (%s)", policies.CodeGuardNotRunning, state)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		text = fmt.Sprintf("%s: it is not running: %s", policies.CodeGuardNotRunning, first)
	}
	return fmt.Errorf("%s; /reload-ext starts it again", text)
}

// timeout is how long the guard has for its answer: the grant may only lower
// what the manager waits.
func (g guard) timeout() time.Duration {
	t := g.peer.m.opts.Timeouts.Intercept
	if g.may.Timeout > 0 {
		return min(t, g.may.Timeout)
	}
	return t
}

// within leaves of an answer what the guard may do, and says what was ignored.
func (g guard) within(q extproto.EventIntercept, resp extproto.EventInterceptResponse) extproto.EventInterceptResponse {
	if resp.Block && !g.may.Block {
		g.peer.raised(q.Event, "block", "its block of "+q.Event)
		resp.Block = false
	}
	if g.may.Rewrite {
		return resp
	}
	if args := resp.ModifiedArgs; len(args) > 0 {
		if string(args) != "null" && !sameJSON(args, q.ToolArgs) {
			g.peer.raised(q.Event, "rewrite", "its change of the arguments of "+q.ToolName)
		}
		resp.ModifiedArgs = nil
	}
	if resp.ReplaceText != "" {
		if resp.ReplaceText != q.Text {
			g.peer.raised(q.Event, "rewrite", "its change of a message")
		}
		resp.ReplaceText = ""
	}
	return resp
}

// raised notes that an interceptor wanted more than it may.
func (p *peer) raised(event, word, what string) {
	value := event + "=" + word
	d := p.scope.Load().rights.Use(policies.Intercepts, value)
	p.tooMuch(policies.Intercepts, value, what, d, "as an interceptor of "+event+" it may not "+word)
}

func (p *peer) tooMuch(c policies.Capability, value, what string, d policies.Decision, reason string) {
	d.Verdict, d.Code, d.Reason = policies.Deny, policies.CodeInterceptorRaise, reason
	p.m.update(func(fx *effects) { p.refuse(fx, true, c, value, what, d) })
}

// mayReplacePrompt reports whether the extension may put another system prompt
// in the place of the one it was shown.
func (p *peer) mayReplacePrompt() bool {
	sc := p.scope.Load()
	if sc == nil {
		return true
	}
	d := sc.rights.Use(policies.SystemPrompt, "replace")
	if !d.Allowed() {
		p.tooMuch(policies.SystemPrompt, "replace", "its change of the system prompt", d, "it may read the system prompt and not replace it")
	}
	return d.Allowed()
}

// failed acts on a guard that gave no answer that can be used: what it guards
// goes on, or, where its grant or the mode says so, is refused. It reports
// whether that was refused.
func (v *Verdict) failed(g guard, what string, err error) bool {
	if !g.may.DenyOnFailure {
		g.peer.failOpen(what, err)
		return false
	}
	text := fmt.Sprintf("guard %s did not judge %s, which is refused for that: %v", g.peer.entry.Name, what, err)
	g.peer.diagnose(true, "%s", text)
	g.peer.auditFailure(what, err)
	v.block(g.peer.entry.Name, text, "")
	return true
}

// auditFailure writes to the log of decisions that something was refused since
// the guard did not judge it.
func (p *peer) auditFailure(what string, err error) {
	audit, sc := p.m.opts.Audit, p.scope.Load()
	if audit == nil || sc == nil {
		return
	}
	event, _, _ := strings.Cut(what, " ")
	d := sc.rights.Use(policies.Intercepts, event) // by whom it may guard
	d.Verdict, d.Code, d.Reason, d.Remedy = policies.Deny, policies.CodeGuardNotRunning, err.Error(), ""
	audit(p.entry.Name, policies.Intercepts, cutText(what, maxValue), d)
}

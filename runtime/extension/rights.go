package extension

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
)

// bounds is what a peer is held to, whatever carries its frames: this file
// asks the policy, guards.go does so for interceptors, and quota.go counts.
type bounds struct {
	scope atomic.Pointer[scope] // nil: everything is allowed

	// The reader's own.
	rate  bucket
	fault error // why the extension must be stopped; or nil

	slots slots

	// Guarded by Manager.mu.
	refusals  []Refusal
	refusalAt map[right]int // where in refusals
}

// A scope is the policy for a peer with the answers at hand that are needed
// while it runs. It never changes; Narrow puts another in its place.
type scope struct {
	rights     *policies.Bound
	limits     policies.Limits // with defaults
	wall       time.Duration   // for a call; 0: nobody bounds it
	events     map[string]policies.Level
	intercepts map[string]interceptRight // those that are granted
}

func newScope(rights *policies.Bound) *scope {
	if rights == nil {
		return nil
	}
	sc := &scope{
		rights: rights, limits: rights.Limits(), wall: rights.NamedLimits().WallPerCall,
		events: map[string]policies.Level{}, intercepts: map[string]interceptRight{},
	}
	for _, e := range extproto.ObservableEvents {
		sc.events[e] = rights.Event(e)
	}
	granted := rights.Granted()
	for _, e := range extproto.InterceptableEvents {
		if i, ok := rights.Intercept(e); ok {
			_, named := granted.Intercept[e]
			sc.intercepts[e] = newInterceptRight(i, named)
		}
	}
	return sc
}

// event is how much of an event the extension is told.
func (sc *scope) event(name string) policies.Level {
	if sc == nil {
		return policies.LevelFull
	}
	return sc.events[name]
}

// callTime lowers the deadline of a call to what the policy gives it; 0, the
// deadline of what waits for a person, stays.
func (sc *scope) callTime(timeout time.Duration) time.Duration {
	if sc == nil || sc.wall == 0 || timeout == 0 {
		return timeout
	}
	return min(timeout, sc.wall)
}

// A Refusal is something that the policy kept from an extension.
type Refusal struct {
	Capability policies.Capability
	Value      string // cut after 200 bytes
	Decision   policies.Decision
	Count      int // how often it was tried
}

type right struct {
	capability policies.Capability
	value      string
}

const (
	// maxRefusals bounds what is kept and said of an extension that tries all
	// there is. It is refused the rest as well.
	maxRefusals = 200
	maxValue    = 200
)

// allowed reports whether the extension may do something, and says so where it
// may not. What is the name of it for people.
func (p *peer) allowed(c policies.Capability, value, what string) bool {
	ok := true
	if p.scope.Load() != nil {
		p.m.update(func(fx *effects) { ok = p.may(fx, true, c, value, what) })
	}
	return ok
}

// may is allowed where m.mu is held; visible says whether the user is told.
func (p *peer) may(fx *effects, visible bool, c policies.Capability, value, what string) bool {
	sc := p.scope.Load()
	if sc == nil {
		return true
	}
	d := sc.rights.Use(c, value)
	if d.Allowed() {
		return true
	}
	p.refuse(fx, visible, c, value, what, d)
	return false
}

// mayOpen reports whether the extension may open a panel: it has the right, and
// the panel is one that its manifest declares. m.mu is held.
func (p *peer) mayOpen(fx *effects, id string) bool {
	sc := p.scope.Load()
	if sc == nil {
		return true
	}
	if !p.may(fx, true, policies.Panels, "", "a panel") {
		return false
	}
	if p.entry.Contributes.hasPanel(id) {
		return true
	}
	what := fmt.Sprintf("panel %.100q", id)
	_, d := sc.rights.Misregistered(what)
	p.refuse(fx, true, policies.Panels, id, what, d)
	return false
}

// requestDenied notes, once for each method and reason, which names what was
// asked for, that a host service was refused. The service has judged, and
// audited, by itself. m.mu is held.
func (p *peer) requestDenied(fx *effects, method, why string) {
	if d := (policies.Decision{Code: policies.CodeOutsideGrant, Reason: why}); p.keep("request", method+": "+why, d) {
		p.remark(fx, true, fmt.Sprintf("its request %.100s is refused: %s", method, why))
	}
}

// refuse notes a refusal: the first of a kind is said, audited and kept, the
// others are counted. m.mu is held.
func (p *peer) refuse(fx *effects, visible bool, c policies.Capability, value, what string, d policies.Decision) {
	if len(value) > maxValue {
		value = cutText(value, maxValue)
	}
	if !p.keep(c, value, d) {
		return
	}
	p.remark(fx, visible, refusalText(what, d))
	if audit := p.m.opts.Audit; audit != nil {
		fx.after(func() { audit(p.entry.Name, c, value, d) })
	}
}

// keep counts a refusal, and reports whether it is the first of its kind and
// should be said. m.mu is held.
func (p *peer) keep(c policies.Capability, value string, d policies.Decision) (first bool) {
	if len(value) > maxValue {
		value = cutText(value, maxValue)
	}
	key := right{c, value}
	if at, ok := p.refusalAt[key]; ok {
		p.refusals[at].Count++
		return false
	}
	if len(p.refusals) >= maxRefusals {
		return false
	}
	if p.refusalAt == nil {
		p.refusalAt = map[right]int{}
	}
	p.refusalAt[key] = len(p.refusals)
	p.refusals = append(p.refusals, Refusal{Capability: c, Value: value, Decision: d, Count: 1})
	return true
}

// refusalText says what was refused, why, by whom and what would change it.
func refusalText(what string, d policies.Decision) string {
	text := fmt.Sprintf("%s: %s is refused: %s (%s)", d.Code, what, d.Reason, d.By)
	if d.Remedy != "" {
		text += "; " + d.Remedy
	}
	return text
}

// admit decides about a registration: it must lie within the grant and be what
// the manifest declares, where that declares anything. Where the policy is
// strict about it the extension is stopped. m.mu is held, by the reader.
func (p *peer) admit(fx *effects, c policies.Capability, name, what string, declared bool) bool {
	sc := p.scope.Load()
	if sc == nil {
		return true
	}
	d := sc.rights.Use(c, name)
	stop, drift := sc.rights.Misregistered(what)
	switch {
	case !d.Allowed():
	case !declared:
		d = drift
	default:
		return true
	}
	p.refuse(fx, true, c, name, what, d)
	if stop && p.fault == nil {
		p.fault = &protocolError{"stopped: " + refusalText(what, d)}
	}
	return false
}

// misnamed compares the name in a hello with the manifest's, which counts
// everywhere. Where the policy is strict about what an extension declares, a
// different one ends the connection.
func (p *peer) misnamed(hello string) error {
	if hello == p.entry.Name {
		return nil
	}
	what := fmt.Sprintf("its hello says %.100q but its manifest says %q", hello, p.entry.Name)
	if sc := p.scope.Load(); sc != nil {
		if stop, d := sc.rights.Misnamed(what); stop {
			return &protocolError{"stopped: " + refusalText("running it", d)}
		}
	}
	p.diagnose(false, "%s; the manifest's name is used", what)
	return nil
}

// submission says whether text may be submitted, and whether the user must be
// asked first.
func (p *peer) submission(fx *effects) (ok, ask bool) {
	sc := p.scope.Load()
	if sc == nil || sc.rights.Use(policies.Submit, "auto").Allowed() {
		return true, false
	}
	return p.may(fx, true, policies.Submit, "ask", "submitting a prompt"), true
}

// redact leaves of an event that it happened: names, ids, numbers and status.
// Texts, arguments and results are content.
func redact(e extproto.Event) extproto.Event {
	e.Text, e.Error, e.ToolPreview, e.ToolArgsRaw = "", "", "", ""
	e.ToolArgs, e.Result = nil, nil
	if e.Event != extproto.EventSessionEnd { // whose reason is one of three words
		e.Reason = ""
	}
	return e
}

// Narrow puts other rights in the place of those that the named extension runs
// with, from its next frame on: what it registered and may not have is
// withdrawn, what it subscribed to and may not have is told it no more, and a
// panel that it may not have is closed. Calls that it works on may end. Where
// the rights do not let it load any more, it is stopped. What it lost comes back
// with a reload only. The error is [ErrUnknownExtension].
func (m *Manager) Narrow(name string, rights *policies.Bound) error {
	sc := newScope(rights)
	var gone []*peer
	found := false
	m.update(func(fx *effects) {
		for _, p := range m.peers {
			if !strings.EqualFold(p.entry.Name, name) {
				continue
			}
			found = true
			p.scope.Store(sc)
			if sc == nil {
				continue
			}
			p.withdraw(fx, sc)
			if !rights.Load().Allowed() {
				gone = append(gone, p)
			}
		}
	})
	for _, p := range gone {
		d := rights.Load()
		p.disconnect(fmt.Errorf("%s", refusalText("running it", d)))
	}
	if !found {
		return ErrUnknownExtension
	}
	return nil
}

// Rights is the policy that the named extension runs under now; nil where it
// has none, or there is no such extension.
func (m *Manager) Rights(name string) *policies.Bound {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if sc := p.scope.Load(); sc != nil && strings.EqualFold(p.entry.Name, name) {
			return sc.rights
		}
	}
	return nil
}

// withdraw takes away what lies outside the rights. m.mu is held.
func (p *peer) withdraw(fx *effects, sc *scope) {
	p.commands = keepIf(p.commands, func(r *commandReg) bool {
		r.withdrawn = !p.may(fx, true, policies.Commands, r.Name, "command /"+r.Name)
		return !r.withdrawn
	})
	p.tools = keepIf(p.tools, func(r *toolReg) bool {
		r.withdrawn = !p.may(fx, true, policies.Tools, r.Name, "tool "+r.Name)
		return !r.withdrawn
	})
	p.m.dir.remove(fx, func(r *commandReg) bool { return r.withdrawn }, func(r *toolReg) bool { return r.withdrawn })
	for e := range p.observes {
		if sc.event(e) == policies.LevelNone {
			p.mayObserve(fx, sc, e)
			delete(p.observes, e)
		}
	}
	for e := range p.intercepts {
		if !p.mayIntercept(fx, sc, e) {
			delete(p.intercepts, e)
		}
	}
	if m := p.m; m.panel != nil && m.panel.peer == p && !p.may(fx, true, policies.Panels, "", "a panel") {
		fx.emit(event.ExtPanelClose{Extension: p.entry.Name, ID: m.panel.id})
		id := m.panel.id
		m.panel = nil
		fx.after(func() { p.post(extproto.PanelClose{PanelID: id}) })
	}
}

func keepIf[T any](list []T, keep func(T) bool) []T {
	var kept []T
	for _, v := range list {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// mayObserve reports whether the extension is told of an event at all. That it
// is not stands in the log and in doctor, and bothers nobody. m.mu is held.
func (p *peer) mayObserve(fx *effects, sc *scope, e string) bool {
	if sc.event(e) > policies.LevelNone {
		return true
	}
	p.may(fx, false, policies.Events, e+"="+policies.LevelRedacted.String(), "observing "+e)
	return false
}

// mayCall says why the extension may not have a tool called; nil where it may.
// m.mu is held.
func (p *peer) mayCall(fx *effects, tool string) error {
	sc := p.scope.Load()
	if sc == nil {
		return nil
	}
	if d := sc.rights.Use(policies.CallTool, tool); !d.Allowed() {
		what := fmt.Sprintf("calling the tool %.100q", tool)
		p.refuse(fx, true, policies.CallTool, tool, what, d)
		return fmt.Errorf("%s", refusalText(what, d))
	}
	if n := sc.limits.ConcurrentCalls; int64(len(p.ownCalls)) >= n {
		d := limitDecision(fmt.Sprintf("it may have %d tools at work at a time", n), "concurrentCalls")
		p.refuse(fx, true, "limits", "concurrentCalls", "a further call_tool", d)
		return fmt.Errorf("%s", refusalText("a further call_tool", d))
	}
	return nil
}

// Package guard gives one answer per tool call. It asks, in this order: the
// interceptors of extensions, which may refuse the call or rewrite its
// arguments; the policy, on the final arguments; and, where the policy says
// ask, a person.
//
// Which way each gate fails: an interceptor that is silent or broken lets the
// call pass, as the protocol promises, with a warning that names it; a policy
// that cannot answer denies; a person who is not there, or leaves, denies. So
// safety never rests on an interceptor.
package guard

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/tool"
)

// An Interceptor asks the extensions about a call. Its error is ctx's.
type Interceptor interface {
	Intercept(ctx context.Context, call tool.Call, t tool.Tool) (Intercepted, error)
}

// Intercepted is what the extensions made of a call.
type Intercepted struct {
	Blocked bool
	By      string
	Reason  string
	Args    json.RawMessage
	Changes []string
}

// An Effect is what a policy says of a call.
type Effect int

// The effects, from the most to the least restrictive.
const (
	Deny Effect = iota
	Ask
	Allow
)

// A Decision is a policy's answer.
type Decision struct {
	Effect Effect
	Reason string // who says so, where, and what would change it
	// Remember names what "allow for this session" would remember; empty
	// takes the tool's name.
	Remember string
	// Source is the permission_decision word for an allow: "yolo" or "policy".
	Source string
	// Soft marks an Ask that the user wished for and no policy demands: where
	// nobody can be asked, the call runs.
	Soft bool
}

// A Policy judges the final arguments of a call.
type Policy interface {
	Decide(ctx context.Context, call tool.Call, t tool.Tool) Decision
}

// A Question is a call that needs a person's yes.
type Question struct {
	Call      tool.Call
	Extension string // owner of the tool; or empty
	Preview   string // one line
	Changes   []string
	Reason    string // why it is asked
	Remember  string // what "for this session" would allow
}

// An Answer is what a person said.
type Answer struct {
	Allow bool
	// Always allows what Question.Remember names for the rest of the
	// conversation; Everything also all that is asked by the user's own wish.
	Always, Everything bool
	Reason             string // for the model, on a no
}

// An Asker puts questions to a person, one at a time. Its error is ctx's, or
// ErrNoAnswer where nobody can be asked.
type Asker interface {
	Confirm(ctx context.Context, q Question) (Answer, error)
}

// An Asker that is also a Presence is asked only while somebody is there;
// without it somebody always is.
type Presence interface {
	CanAsk() bool
}

// CanAsk tells whether somebody is there to answer a.
func CanAsk(a Asker) bool {
	if p, ok := a.(Presence); ok {
		return p.CanAsk()
	}
	return a != nil
}

// Options are the parts of a Guard; a nil part is skipped, and without an
// Asker what would be asked is denied.
type Options struct {
	Interceptor Interceptor
	Policy      Policy
	Asker       Asker
	Emit        func(event.Event)
}

// A Guard implements agent.Guard.
type Guard struct {
	opts     Options
	remember memory
	asking   chan struct{} // holds a token while a question is open
}

// New returns a guard.
func New(opts Options) *Guard {
	if opts.Emit == nil {
		opts.Emit = func(event.Event) {}
	}
	return &Guard{opts: opts, asking: make(chan struct{}, 1)}
}

// Judge implements agent.Guard.
func (g *Guard) Judge(ctx context.Context, call tool.Call, t tool.Tool) (agent.Verdict, error) {
	v := agent.Verdict{Args: call.Args}
	if g.opts.Interceptor != nil {
		in, err := g.opts.Interceptor.Intercept(ctx, call, t)
		if err != nil {
			return v, err
		}
		v.Args, v.Changes = in.Args, in.Changes
		if in.Blocked {
			v.Reason = in.Reason
			v.Changes = append(v.Changes, in.By+" refused the call")
			g.decided(call, false, "policy", in.Reason)
			return v, nil
		}
	}
	call.Args = v.Args
	d := Decision{Effect: Allow, Source: "yolo"}
	if g.opts.Policy != nil {
		d = g.opts.Policy.Decide(ctx, call, t)
	}
	switch d.Effect {
	case Allow:
		v.Allowed = true
		g.decided(call, true, orYolo(d.Source), "")
		return v, nil
	case Ask:
		return g.ask(ctx, call, t, d, v)
	}
	v.Reason = d.Reason
	g.decided(call, false, "policy", d.Reason)
	return v, nil
}

func orYolo(source string) string {
	if source == "" {
		return "yolo"
	}
	return source
}

// ask has a person decide, unless the session remembers a yes. Calls side by
// side ask one after the other, so that what was answered for the session
// counts for those that waited.
func (g *Guard) ask(ctx context.Context, call tool.Call, t tool.Tool, d Decision, v agent.Verdict) (agent.Verdict, error) {
	key := d.Remember
	if key == "" {
		key = call.Name
	}
	select {
	case g.asking <- struct{}{}:
		defer func() { <-g.asking }()
	case <-ctx.Done():
		g.emitDecision(call, "cancelled", "user", "")
		return v, ctx.Err()
	}
	if g.remember.allows(key, d.Soft) {
		v.Allowed = true
		g.decided(call, true, "remembered", "")
		return v, nil
	}
	if !CanAsk(g.opts.Asker) {
		return g.unasked(call, d, v), nil
	}
	q := Question{
		Call: call, Extension: t.Spec().Extension, Preview: Preview(t, call.Args),
		Changes: v.Changes, Reason: d.Reason, Remember: key,
	}
	g.opts.Emit(event.ConfirmationRequested{ToolID: call.ID, ToolName: call.Name, Preview: q.Preview})
	answer, err := g.opts.Asker.Confirm(ctx, q)
	if errors.Is(err, ErrNoAnswer) {
		return g.unasked(call, d, v), nil
	}
	if err != nil {
		g.emitDecision(call, "cancelled", "user", "")
		return v, err
	}
	if answer.Allow {
		g.remember.add(key, answer)
		v.Allowed = true
		g.decided(call, true, "user", "")
		return v, nil
	}
	v.Reason = answer.Reason
	if v.Reason == "" {
		v.Reason = "user declined"
	}
	g.decided(call, false, "user", v.Reason)
	return v, nil
}

// unasked settles a question for which nobody is there.
func (g *Guard) unasked(call tool.Call, d Decision, v agent.Verdict) agent.Verdict {
	if d.Soft {
		v.Allowed = true
		g.decided(call, true, "yolo", "")
		return v
	}
	v.Reason = d.Reason
	if v.Reason == "" {
		v.Reason = "this call needs a person's approval, and nobody is there to give it in this mode"
	}
	g.decided(call, false, "policy", v.Reason)
	return v
}

func (g *Guard) decided(call tool.Call, approved bool, source, reason string) {
	word := "denied"
	if approved {
		word = "approved"
	}
	g.emitDecision(call, word, source, reason)
}

func (g *Guard) emitDecision(call tool.Call, decision, source, reason string) {
	g.opts.Emit(event.PermissionDecision{
		ToolID: call.ID, ToolName: call.Name, Decision: decision, Source: source,
		Stage: "pre_execution", Reason: reason,
	})
}

// Forget ends the yeses that were given for longer than one call: another
// conversation begins.
func (g *Guard) Forget() { g.remember.forget() }

// AllowAll makes a yes of every later question that is asked by the user's own
// wish, until the conversation ends.
func (g *Guard) AllowAll(on bool) { g.remember.setAll(on) }

// AllowsAll reports whether every question of the session is answered with yes.
func (g *Guard) AllowsAll() bool { return g.remember.allowsAll() }

// ErrNoAnswer is what an Asker returns where nobody can be asked.
var ErrNoAnswer = errors.New("nobody can be asked")

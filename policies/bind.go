package policies

import "strings"

// A Bound is the policy for one extension. All that does not depend on a single
// question has been worked out, so that questions of the protocol cost little.
// It may be used by several goroutines.
type Bound struct {
	set      *Set
	sub      Subject
	layers   []boundLayer
	required *Requirement
	rights   *Grant // what an authority grants
	rightsBy Origin
	bounds   *Grant // rights, within what each layer's rules bound
	load     Decision
}

// A boundLayer holds the rules of a layer that are about the extension.
type boundLayer struct {
	*layer
	rules   []boundRule
	skipped string // why the layer does not count; or empty
}

// A boundRule is a rule that is about the extension, or may be. The two
// differ where something about the extension is not known: a denial and a
// question take what may be, an allowance what is sure.
type boundRule struct {
	*rule
	match match  // with roots in place
	grant *Grant // likewise
	sure  side
	maybe side
	// caps has the bits of the capabilities that match.requests speaks of; 0
	// where the rule is about all of them.
	caps uint32
}

// A side is one of the two readings of a match.
type side struct {
	on       bool // it holds for the extension
	excepted bool // and so does an exception for some rights
}

// use tells whether the rule is about a right: whether it narrows what the
// layer says, and whether it also is what the layer has to say instead of
// "unlisted".
func (r *boundRule) use(c Capability, value string) (narrows, speaks bool) {
	if r.decision < Allow {
		narrows = r.maybe.on && r.match.use(c, value, true, r.maybe.excepted)
	}
	if r.decision == Deny {
		return narrows, narrows
	}
	speaks = r.sure.on && r.match.use(c, value, false, r.sure.excepted)
	return narrows || speaks, speaks
}

// load is the same for loading.
func (r *boundRule) load(s *Subject) (narrows, speaks bool) {
	if r.decision < Allow {
		narrows = r.maybe.on && r.match.load(s, true)
	}
	if r.decision == Deny {
		return narrows, narrows
	}
	speaks = r.sure.on && r.match.load(s, false)
	return narrows || speaks, speaks
}

// Bind works the policy out for one extension.
func (s *Set) Bind(sub Subject) *Bound {
	sub.prepare()
	b := &Bound{set: s, sub: sub}
	b.required, _ = s.required(&b.sub)
	for _, l := range s.layers {
		b.layers = append(b.layers, b.bindLayer(l))
	}
	b.rights, b.rightsBy = b.authority()
	b.bounds = b.rights
	for i := range b.layers {
		if g, ok := b.layers[i].bound(); ok {
			b.bounds = Meet(b.bounds, g)
		}
	}
	b.load = b.decideLoad()
	return b
}

func (b *Bound) bindLayer(l *layer) boundLayer {
	bl := boundLayer{layer: l}
	if b.required != nil && !l.layer.owner() {
		bl.skipped = "it cannot touch an extension that " + b.required.At.Layer.String() + " requires"
	}
	for _, r := range l.rules {
		br := boundRule{rule: r, match: r.match, grant: b.sub.Roots.expand(r.grant)}
		br.sure.on, br.maybe.on = r.match.subject(&b.sub, false), r.match.subject(&b.sub, true)
		if r.decision == Deny && !br.maybe.on || r.decision == Allow && !br.sure.on || !br.sure.on && !br.maybe.on {
			continue
		}
		br.match.requests = b.sub.Roots.selectors(r.match.requests)
		for _, sel := range br.match.requests {
			br.caps |= sel.cap.bit()
			switch sel.cap { // one speaks of the other, see selector
			case ExecRun, ExecShell:
				br.caps |= ExecRun.bit() | ExecShell.bit()
			case FSRead, FSWrite:
				br.caps |= FSRead.bit() | FSWrite.bit()
			}
		}
		if e := r.match.except; e != nil {
			except := *e
			except.requests = b.sub.Roots.selectors(e.requests)
			br.match.except = &except
		}
		br.sure.excepted, br.maybe.excepted = br.match.exceptsByRight(&b.sub, false), br.match.exceptsByRight(&b.sub, true)
		bl.rules = append(bl.rules, br)
	}
	return bl
}

// bound is the upper bound of rights that the layer's rules with a grant set,
// and whether they set one.
func (l *boundLayer) bound() (*Grant, bool) {
	if l.skipped != "" {
		return nil, false
	}
	var g *Grant
	bounded := false
	for i := range l.rules {
		r := &l.rules[i]
		if r.decision == Deny || !r.sure.on || len(r.match.requests) > 0 || r.sure.excepted {
			continue
		}
		if r.grant == nil { // one that bounds nothing opens it all
			return nil, false
		}
		g, bounded = Join(g, r.grant), true
	}
	return g, bounded
}

// authority is what somebody who may has granted, and who.
func (b *Bound) authority() (*Grant, Origin) {
	asked := b.sub.asked
	var rights *Grant
	by := Origin{Builtin: true}
	add := func(g *Grant, from Origin) {
		if g != nil {
			rights, by = Join(rights, Meet(asked, g)), from
		}
	}
	switch b.sub.Scope {
	case ScopeProject:
		add(b.sub.Roots.expand(b.sub.Approval), Origin{Layer: User, Rule: "approval"})
	default: // installing it, or naming it on the command line, was the yes
		add(asked, Origin{Builtin: true})
	}
	for i := range b.layers {
		l := &b.layers[i]
		if !l.layer.layer.owner() {
			continue
		}
		for j := range l.rules {
			if r := &l.rules[j]; r.decision == Allow && b.grants(r) {
				if r.grant == nil {
					add(asked, r.at)
				} else {
					add(r.grant, r.at)
				}
			}
		}
	}
	if b.required != nil {
		add(asked, b.required.At)
	}
	if b.sub.Lock.Entry && rights != nil {
		rights = Meet(rights, b.sub.Roots.expand(orNothing(b.sub.Lock.Permissions)))
	}
	return orNothing(rights), by
}

func orNothing(g *Grant) *Grant {
	if g == nil {
		return &Grant{}
	}
	return g
}

// grants tells whether an allow rule of an owner is an authority for the
// extension: what comes with a project must be named by what it is, and not by
// what it calls itself.
func (b *Bound) grants(r *boundRule) bool {
	_, speaks := r.load(&b.sub)
	return speaks && (b.sub.Scope != ScopeProject || r.match.identifies())
}

// Subject returns the extension that the policy was bound to.
func (b *Bound) Subject() Subject { return b.sub }

// Required tells whether the policy requires the extension.
func (b *Bound) Required() bool { return b.required != nil }

// Use decides whether the extension may use a right. The value has the form
// that the capability's constant describes; paths are absolute, real and clean,
// with forward slashes. Nothing is allocated.
func (b *Bound) Use(c Capability, value string) Decision {
	if b.load.Verdict == Deny {
		return b.load
	}
	if c == NetConnect {
		value = strings.ToLower(value)
	}
	d := Decision{Verdict: Allow, Code: CodeAllowed, By: b.rightsBy}
	for i := range b.layers {
		v, r := b.layers[i].use(c, value)
		if v < d.Verdict {
			d = b.layers[i].refuse(v, r)
			if v == Deny {
				return d
			}
		}
	}
	switch {
	case !b.sub.asked.Covers(c, value):
		return Decision{Verdict: Deny, Code: CodeOutsideGrant, By: Origin{Builtin: true},
			Reason: "its manifest does not ask for it", Remedy: "declare it in permissions of extension.json"}
	case d.Verdict == Ask || b.rights.Covers(c, value):
		return b.headless(d)
	}
	return b.headless(Decision{Verdict: Ask, Code: CodeWidened, By: b.rightsBy,
		Reason: "nobody has approved this right", Remedy: "approve it when asked, or grant it in a rule of your own policy"})
}

// headless turns a question into a denial where nobody can be asked.
func (b *Bound) headless(d Decision) Decision {
	if d.Verdict == Ask && b.set.Headless {
		d.Verdict = Deny
		if d.Code == CodeAllowed || d.Code == CodeDenyRule {
			d.Code = CodeApprovalNeeded
		}
	}
	return d
}

// use is the layer's verdict on a right, and the rule behind it; nil where the
// rules bound rights and none holds this one, or where the layer is silent.
func (l *boundLayer) use(c Capability, value string) (Verdict, *boundRule) {
	if l.skipped != "" || l.broken != nil {
		return Allow, nil
	}
	var t tally
	bounded, bit := false, c.bit()
	for i := range l.rules {
		r := &l.rules[i]
		if r.caps != 0 && r.caps&bit == 0 {
			continue
		}
		if r.grant != nil && !r.grant.Covers(c, value) {
			// A right of which a part lies outside the grant is outside.
			bounded = bounded || r.sure.on && r.match.use(c, value, true, r.sure.excepted)
			if r.decision == Ask && r.grant.touches(c, value) && r.maybe.on && r.match.use(c, value, true, r.maybe.excepted) {
				t.add(r, false)
			}
			continue
		}
		if narrows, speaks := r.use(c, value); narrows {
			t.add(r, speaks)
		}
	}
	switch {
	case t.spoken:
		return t.verdict(Allow)
	case bounded:
		return Deny, nil
	case l.listed(): // it lists the extension, and says nothing of this
		return t.verdict(Allow)
	}
	return t.verdict(l.unlisted)
}

// listed tells whether a rule is surely about the extension.
func (l *boundLayer) listed() bool {
	for i := range l.rules {
		if l.rules[i].sure.on {
			return true
		}
	}
	return false
}

// A tally is the most restrictive of some rules.
type tally struct {
	by     *boundRule
	spoken bool // one of them stands in the place of "unlisted"
}

func (t *tally) add(r *boundRule, speaks bool) {
	t.spoken = t.spoken || speaks
	if t.by == nil || r.decision < t.by.decision {
		t.by = r
	}
}

// verdict is that of the rules, or the layer's own where that is lower.
func (t *tally) verdict(own Verdict) (Verdict, *boundRule) {
	if t.by != nil && (t.spoken || t.by.decision <= own) {
		return t.by.decision, t.by
	}
	return own, nil
}

// refuse puts the layer's verdict into words.
func (l *boundLayer) refuse(v Verdict, r *boundRule) Decision {
	d := Decision{Verdict: v}
	switch {
	case r != nil:
		d.Code, d.By, d.Reason = CodeDenyRule, r.at, r.reason
		if d.Reason == "" {
			d.Reason = denyReason(v)
		}
		d.Remedy = remedyOf(l.layer.layer)
	case l.listed():
		d.Code, d.By = CodeOutsideGrant, l.rules[0].at
		d.Reason, d.Remedy = "the grants of this layer do not hold it", remedyOf(l.layer.layer)
	default:
		d.Code, d.By = CodeUnlisted, l.unlistedAt
		d.Reason, d.Remedy = "no rule of this layer lists the extension", remedyOf(l.layer.layer)
	}
	return d
}

func denyReason(v Verdict) string {
	if v == Ask {
		return "a rule wants it asked"
	}
	return "a rule denies it"
}

func remedyOf(l Layer) string {
	switch l {
	case Managed:
		return "only your administrator can change that"
	case Env:
		return "unset the variable"
	case Flags:
		return "leave the flag out"
	case Project, Local:
		return "whoever keeps this project can change that line"
	}
	return "change that line of your own policy"
}

// Event is how much of a lifecycle event the extension is told.
func (b *Bound) Event(event string) Level {
	for _, e := range eventForms {
		if b.Use(Events, e.value(event)).Verdict == Allow {
			return e.level
		}
	}
	return LevelNone
}

// eventForms lists the levels, highest first. Names of events that are common
// have their values at hand, so that asking allocates nothing.
var eventForms = []eventForm{newEventForm(LevelFull), newEventForm(LevelRedacted)}

type eventForm struct {
	level  Level
	values map[string]string
}

func newEventForm(level Level) eventForm {
	f := eventForm{level, map[string]string{}}
	for _, e := range []string{
		"session_start", "session_end", "user_prompt_submit", "before_agent_start", "turn_start", "turn_end",
		"tool_call", "tool_confirmation_requested", "tool_result", "permission_decision", "assistant_message",
		"pre_compact", "post_compact", "model_changed",
	} {
		f.values[e] = e + "=" + level.String()
	}
	return f
}

func (f eventForm) value(event string) string {
	if v, ok := f.values[event]; ok {
		return v
	}
	return event + "=" + f.level.String()
}

// Intercept is what the extension may do as an interceptor of an event, and
// whether it may be asked at all.
func (b *Bound) Intercept(event string) (Intercept, bool) {
	if b.Use(Intercepts, event).Verdict != Allow {
		return Intercept{}, false
	}
	i, _ := b.bounds.InterceptOf(event)
	i.Block = b.Use(Intercepts, event+"=block").Verdict == Allow
	i.Rewrite = b.Use(Intercepts, event+"=rewrite").Verdict == Allow
	i.DenyOnFailure = b.FailsClosed(event)
	return i, true
}

// FailsClosed tells whether a missing or broken answer of the interceptor
// refuses: in the strict modes, for a required extension unless the requirement
// says otherwise, and wherever a grant says so.
func (b *Bound) FailsClosed(event string) bool {
	if b.required != nil && !b.required.AllowOnFailure || b.set.mode > Open {
		return true
	}
	for i := range b.layers {
		for _, r := range b.layers[i].rules {
			if g, ok := r.grant.InterceptOf(event); ok && g.DenyOnFailure {
				return true
			}
		}
	}
	return false
}

// Limits is what the extension is held to: the smallest bound that anyone
// names, and the default where nobody does.
func (b *Bound) Limits() Limits { return b.bounds.Limits.WithDefaults() }

// Granted lists what the extension has, for whoever builds its confinement.
// Where a right was asked for and only a part of it granted, it holds that part.
func (b *Bound) Granted() *Grant {
	if b.load.Verdict == Deny {
		return &Grant{}
	}
	if b.bounds.All && !b.narrowed() {
		return &Grant{All: true, Limits: b.Limits()}
	}
	return b.keepAllowed()
}

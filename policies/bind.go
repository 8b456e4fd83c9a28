package policies

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
	byRight ruleIndex
	listed  bool // a rule is surely about the extension
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

// Within is the policy for the extension, and at most what it had before: what
// a new policy widens needs a new start. For the same extension only.
func (b *Bound) Within(before *Bound) *Bound {
	if before == nil {
		return b
	}
	had := before.Granted()
	out := *b
	out.rights, out.bounds = Meet(b.rights, had), Meet(b.bounds, had)
	return &out
}

// Stopped is the policy for an extension that must not go on running, for the
// reason that the decision gives.
func (b *Bound) Stopped(d Decision) *Bound {
	out := *b
	out.load = d
	return &out
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
		if e := r.match.except; e != nil {
			except := *e
			except.requests = b.sub.Roots.selectors(e.requests)
			br.match.except = &except
		}
		br.sure.excepted, br.maybe.excepted = br.match.exceptsByRight(&b.sub, false), br.match.exceptsByRight(&b.sub, true)
		bl.rules = append(bl.rules, br)
	}
	bl.index()
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

package policies

import "strings"

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
		if v < d.Verdict && !b.answered(v) {
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
	bounded := false
	for _, r := range l.byRight[c.place()] {
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
			if r.decision == Deny { // nothing is lower
				return Deny, t.by
			}
		}
	}
	switch {
	case t.spoken:
		return t.verdict(Allow)
	case bounded:
		return Deny, nil
	case l.listed: // it lists the extension, and says nothing of this
		return t.verdict(Allow)
	}
	return t.verdict(l.unlisted)
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
	case l.listed:
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

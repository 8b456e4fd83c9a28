package policies

import (
	"fmt"
	"strings"
)

// Load decides whether the extension may start.
func (b *Bound) Load() Decision { return b.load }

// decideLoad lets the rules, the mode and the need for an authority meet.
func (b *Bound) decideLoad() Decision {
	if d, closed := b.closedLayers(); closed {
		return d
	}
	d := Decision{Verdict: Allow, Code: CodeAllowed, By: b.rightsBy}
	for i := range b.layers {
		l := &b.layers[i]
		v, r, _ := l.load(&b.sub)
		if l.skipped == "" && v < d.Verdict && !b.answered(v) {
			d = l.refuseLoad(v, r)
		}
	}
	warnings := b.requiredWarnings()
	byMode, more := b.modeRow()
	if byMode.Verdict < d.Verdict {
		d = byMode
	}
	d.Warnings = append(warnings, more...)
	if b.set.audit == AuditRequired && d.Verdict == Allow {
		d.Warnings = append(d.Warnings, Warning{CodeAuditSink, "the audit log must be writable for it to load"})
	}
	return b.headless(d)
}

// answered tells whether a verdict is a question to which the user has said yes.
func (b *Bound) answered(v Verdict) bool { return v == Ask && b.sub.Agreed }

// closedLayers finds a layer that cannot be read and so closes loading.
func (b *Bound) closedLayers() (Decision, bool) {
	if d, closed := b.set.Closed(); closed {
		return d, true
	}
	for _, l := range b.set.layers {
		if l.broken != nil && b.required == nil {
			return l.closed(), true
		}
	}
	return Decision{}, false
}

// load is the layer's verdict on loading, the rule behind it, and whether any
// rule is about it.
func (l *boundLayer) load(s *Subject) (Verdict, *boundRule, bool) {
	var t tally
	for i := range l.rules {
		r := &l.rules[i]
		if narrows, speaks := r.load(s); narrows {
			t.add(r, speaks)
		}
	}
	own := l.unlisted
	if t.spoken {
		own = Allow
	}
	v, r := t.verdict(own)
	return v, r, r != nil
}

func (l *boundLayer) refuseLoad(v Verdict, r *boundRule) Decision {
	if r == nil {
		d := Decision{Verdict: v, Code: CodeUnlisted, By: l.unlistedAt, Reason: "no rule of this layer lists the extension"}
		d.Remedy = remedyOf(l.layer.layer)
		return d
	}
	d := Decision{Verdict: v, Code: codeOf(&r.match), By: r.at, Reason: r.reason, Remedy: remedyOf(l.layer.layer)}
	if d.Reason == "" {
		d.Reason = denyReason(v)
	}
	return d
}

// codeOf names the attribute that the rule is about.
func codeOf(m *match) Code {
	switch {
	case len(m.requests) > 0:
		return CodeDenyRule
	case len(m.digests) > 0:
		return CodeDigest
	case m.version != nil:
		return CodeVersion
	case len(m.sources) > 0:
		return CodeSource
	case len(m.transports) > 0:
		return CodeTransport
	}
	return CodeDenyRule
}

// requiredWarnings says which layers tried to keep a required extension out.
func (b *Bound) requiredWarnings() []Warning {
	var out []Warning
	for i := range b.layers {
		l := &b.layers[i]
		if l.skipped == "" {
			continue
		}
		if v, r, _ := l.load(&b.sub); v < Allow {
			by := l.unlistedAt
			if r != nil {
				by = r.at
			}
			out = append(out, Warning{CodeRequiredDisabled, fmt.Sprintf("%s would keep it out, and cannot: %s requires it", by, b.required.At)})
		} else if l.broken != nil {
			out = append(out, Warning{CodeRequiredDisabled, fmt.Sprintf("the policy in %s cannot be read; it loads because %s requires it", l.file, b.required.At)})
		}
	}
	return out
}

// A row collects what the mode makes of an extension.
type row struct {
	b        *Bound
	d        Decision
	warnings []Warning
}

// modeRow is the mode's verdict.
func (b *Bound) modeRow() (Decision, []Warning) {
	r := &row{b: b, d: Decision{Verdict: Allow, Code: CodeAllowed, By: b.rightsBy}}
	switch b.sub.Scope {
	case ScopeProject:
		r.project()
	case ScopeFlag:
		r.flag()
	default:
		r.installed()
	}
	r.surplus()
	r.launcher()
	r.confinement()
	return r.d, r.warnings
}

func (r *row) mode() Mode { return r.b.set.mode }

// want lowers the verdict; in the strict modes a denial is the mode's doing.
func (r *row) want(v Verdict, code Code, reason, remedy string) {
	by := r.b.set.modeAt
	if by.Rule == "" {
		by.Rule = "mode"
	}
	r.wantBy(by, v, code, reason, remedy)
}

// wantTrust lowers the verdict for want of trust, which no line of a policy is
// behind: zot asks for it in every mode.
func (r *row) wantTrust(v Verdict, code Code, reason, remedy string) {
	r.lower(Origin{Builtin: true, Rule: "trust"}, v, code, reason, remedy)
}

func (r *row) wantBy(by Origin, v Verdict, code Code, reason, remedy string) {
	if !r.b.answered(v) {
		r.lower(by, v, code, reason, remedy)
	}
}

func (r *row) lower(by Origin, v Verdict, code Code, reason, remedy string) {
	if v < r.d.Verdict {
		r.d = Decision{Verdict: v, Code: code, By: by, Reason: reason, Remedy: remedy}
	}
}

func (r *row) warn(code Code, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// byMode picks what is to happen in open, pinned and locked.
func (r *row) byMode(open, pinned, locked Verdict, code Code, reason, remedy string) {
	v := [...]Verdict{open, pinned, locked}[r.mode()]
	if v == Allow {
		r.warn(code, "%s", reason)
		return
	}
	r.want(v, code, reason, remedy)
}

// installed is an extension that the user or the administrator put in place.
func (r *row) installed() {
	r.listed(false)
	r.lock()
}

// project is an extension that comes with the project.
func (r *row) project() {
	s := &r.b.sub
	byDigest := r.b.namedByDigest()
	if at, never := r.b.set.NeverTrust(); never && r.b.required == nil {
		r.d = Decision{Verdict: Deny, Code: CodeUntrusted, By: at, Reason: "projects are not trusted", Remedy: remedyOf(at.Layer)}
		return
	}
	switch {
	case byDigest || r.b.required != nil:
	case s.Untrusted:
		d := Untrusted(s.WhyUntrusted, s.UntrustedRemedy, r.b.set.Headless)
		r.wantTrust(Ask, d.Code, d.Reason, d.Remedy)
		if r.b.set.Headless {
			r.d.Verdict = Deny
		}
	case s.Approval == nil:
		r.wantTrust(Ask, CodeWidened, "the user has not approved these bytes"+changed(s.Lock.Changed), "open zot here and look at what changed")
	}
	r.listed(true)
	r.lock()
}

func changed(files []string) string {
	if len(files) == 0 {
		return ""
	}
	more := ""
	if len(files) > 3 {
		more, files = fmt.Sprintf(" and %d more", len(files)-3), files[:3]
	}
	return ": changed " + strings.Join(files, ", ") + more
}

// flag is an extension named by --ext.
func (r *row) flag() {
	if r.mode() == Locked {
		r.want(Deny, CodeUnlisted, "mode locked, and it runs from a folder named on the command line (dev)", "install it, lock it, and add an allow rule to the managed or user policy")
		return
	}
	r.byMode(Allow, Ask, Deny, CodeApprovalNeeded, "it runs from a folder named on the command line (dev)", "install it and lock it")
}

// listed asks, in mode locked, for a rule that names the extension; what comes
// with a project must be named by its digest or source.
func (r *row) listed(byContent bool) {
	if r.mode() < Locked || r.b.required != nil {
		return
	}
	for i := range r.b.layers {
		l := &r.b.layers[i]
		if !l.layer.layer.owner() {
			continue
		}
		for j := range l.rules {
			rule := &l.rules[j]
			if _, speaks := rule.load(&r.b.sub); speaks && rule.decision == Allow && (!byContent || rule.match.identifies()) {
				return
			}
		}
	}
	how := "no managed or user rule lists it"
	remedy := "add an allow rule to the managed or user policy"
	if byContent {
		how = "no managed or user rule names its digest or source"
	}
	if s := &r.b.sub; s.Source == "" && s.Claimed != "" {
		how += ", as the source that the lock names was not seen here"
		remedy += "; zot ext sync fetches it from its source, after which a rule may go by that"
	}
	r.want(Deny, CodeUnlisted, "mode locked, and "+how, remedy)
}

// namedByDigest tells whether an owner's rule allows exactly these bytes.
func (b *Bound) namedByDigest() bool {
	for i := range b.layers {
		l := &b.layers[i]
		for j := range l.rules {
			r := &l.rules[j]
			if _, speaks := r.load(&b.sub); speaks && l.layer.layer.owner() && r.decision == Allow && len(r.match.digests) > 0 {
				return true
			}
		}
	}
	return false
}

func (r *row) lockCommand() string { return LockCommand(r.b.sub.Scope) }

// relock is the advice where it is not what was pinned.
func (r *row) relock() string {
	s := &r.b.sub
	source := s.Source
	if source == "" {
		source = s.Claimed
	}
	return Relock(s.Scope, source, s.Name)
}

// lock compares with the lock file.
func (r *row) lock() {
	l := &r.b.sub.Lock
	switch {
	case !l.Entry:
		if l.Kept || r.mode() > Open {
			r.byMode(Allow, Deny, Deny, CodeNoLockEntry, "the lock has no entry for it", "run "+r.lockCommand())
		}
		return
	case l.PlatformMissing:
		r.byMode(Ask, Deny, Deny, CodePlatformMissing, "the lock has no digest for this platform", "run "+r.lockCommand()+" on it")
	}
	if l.ContentDrift {
		r.byMode(Ask, Deny, Deny, CodeContentDrift, "its files are not those that were locked"+changed(l.Changed), r.relock())
	}
	if l.SourceDrift {
		r.byMode(Ask, Deny, Deny, CodeSourceDrift, "it comes from another source than was locked", "if that is right, run "+r.lockCommand()+" --update "+r.b.sub.Name)
	}
	if l.DescriptorDrift {
		r.byMode(Ask, Deny, Deny, CodeDescriptorDrift, "it contributes other commands, tools or panels than were locked", r.relock())
	}
}

// surplus is what it asks for beyond the lock.
func (r *row) surplus() {
	s := &r.b.sub
	if !s.Lock.Entry {
		return
	}
	missing := s.asked.Missing(s.Roots.expand(orNothing(s.Lock.Permissions)))
	if len(missing) > 0 {
		withheld := ""
		if r.mode() == Open {
			withheld = ", which is withheld"
		}
		r.byMode(Allow, Deny, Deny, CodeExceedsLock, "it asks for more than was locked"+withheld+": "+atomList(missing), "if it may, run "+r.lockCommand()+" --update "+s.Name)
	}
}

func atomList(atoms []Atom) string {
	parts := make([]string, len(atoms))
	for i, a := range atoms {
		parts[i] = a.String()
	}
	return strings.Join(parts, ", ")
}

func (r *row) launcher() {
	if s := &r.b.sub; s.Launcher != "" {
		r.byMode(Allow, Deny, Deny, CodeUnpinnable, fmt.Sprintf("%q fetches what it runs, so its bytes cannot be pinned", s.Launcher), "put the program into the extension's folder")
	}
}

func (r *row) confinement() {
	missing := r.b.sub.Unenforced
	if len(missing) == 0 {
		return
	}
	reason := "this system cannot enforce: " + strings.Join(missing, ", ")
	const remedy = "build it for the wasi transport, or run zot where this can be enforced"
	verdict := [...]Verdict{Allow, Ask, Deny}[max(uint8(r.mode()), uint8(r.b.set.enforce))]
	if verdict == Allow {
		r.warn(CodeCannotEnforce, "%s", reason)
		return
	}
	if uint8(r.b.set.enforce) > uint8(r.mode()) {
		r.wantBy(r.b.set.enforceAt, verdict, CodeCannotEnforce, reason, remedy)
		return
	}
	r.want(verdict, CodeCannotEnforce, reason, remedy)
}

// Misregistered decides about a registration that differs from what the
// manifest declares or the grants hold: in mode open it is refused, in the strict
// modes the extension is stopped.
func (b *Bound) Misregistered(what string) (stop bool, d Decision) {
	d = Decision{Verdict: Deny, Code: CodeDescriptorDrift, By: b.set.modeAt,
		Reason: what + " is not what the manifest declares", Remedy: "make contributes in its extension.json say what it registers" + b.thenLock()}
	return b.set.mode > Open, d
}

// Misnamed decides about an extension that greets with another name than its
// manifest has; why says so, with both. In mode open the manifest's name is
// used, in the strict modes the extension is stopped.
func (b *Bound) Misnamed(why string) (stop bool, d Decision) {
	return b.set.mode > Open, Decision{
		Verdict: Deny, Code: CodeDescriptorDrift, By: b.set.modeAt,
		Reason: why, Remedy: "make the two the same" + b.thenLock(),
	}
}

package policies

import (
	"slices"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
)

// A Section is the policy section of one layer, found and not yet read.
type Section struct {
	Layer Layer
	File  string // path, for messages
	Text  []byte // of the file, for showing the line of a fault; may be nil
	// Node is the value of "policy"; nil where the layer has none.
	Node *document.Node
	// Err says why the section cannot be relied on; the layer fails closed.
	Err error
	// Insecure says that Err is about who may write the file.
	Insecure bool
}

// SectionOf is the section that the loader of settings found, and false for a
// layer that has no say in policy.
func SectionOf(s config.PolicySection) (Section, bool) {
	layer, ok := ParseLayer(s.Layer.String())
	out := Section{Layer: layer, File: s.Path, Node: s.Node, Err: s.Err, Insecure: s.Insecure}
	if s.File != nil {
		out.Text = s.File.Data
	}
	return out, ok
}

// A rule of a layer.
type rule struct {
	id       string
	decision Verdict
	match    match
	grant    *Grant // nil: the rule does not bound rights
	reason   string
	at       Origin
}

// A Requirement is an extension that must run. Only managed and user name one.
type Requirement struct {
	match match
	At    Origin
	// AllowOnFailure says that, unlike otherwise, what it guards goes on where
	// it fails.
	AllowOnFailure bool
	Reason         string
}

// Name is the name, or pattern, of what is required.
func (r *Requirement) Name() string {
	if len(r.match.globs) == 0 {
		return "*"
	}
	return r.match.globs[0]
}

// A Recommendation is an extension that a project would like to have.
type Recommendation struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"` // as written
	Reason string `json:"reason,omitempty"`
	At     Origin `json:"at"`
}

// A layer is a section that was read.
type layer struct {
	layer      Layer
	file       string
	rules      []*rule
	unlisted   Verdict // Allow stands for inherit
	unlistedAt Origin
	obligations

	never       bool // trust.project: never
	neverAt     Origin
	require     []*Requirement
	recommend   []Recommendation
	tools       []ToolRule
	commands    *CommandRules
	broken      error
	brokenCode  Code
	brokenPlace Origin
}

// Enforce says what to do about a confinement that this system cannot hold an
// extension to. The strictest that any layer names holds.
type Enforce uint8

// The values of enforce, laxest first.
const (
	EnforceByMode  Enforce = iota // as the mode says
	EnforceAsk                    // ask before it loads
	EnforceRequire                // do not load it
)

// String is the word that policies use.
func (e Enforce) String() string { return [...]string{"mode", "ask", "require"}[e] }

// Audit says how decisions are logged. The strictest that any layer names holds.
type Audit uint8

// The values of audit, laxest first.
const (
	AuditOn       Audit = iota // logged; a log that cannot be written is a warning
	AuditRequired              // without the log nothing loads
)

// String is the word that policies use.
func (a Audit) String() string { return [...]string{"on", "required"}[a] }

// SkillTools says what becomes of a call of a tool that a skill in use does not
// list in its allowed-tools. The strictest that any layer names holds.
type SkillTools uint8

// The values of skillTools, laxest first.
const (
	SkillToolsAny    SkillTools = iota // the list is a hint to the model
	SkillToolsAsk                      // the call is asked about
	SkillToolsListed                   // the call is refused
)

// String is the word that policies use.
func (s SkillTools) String() string { return [...]string{"any", "ask", "listed"}[s] }

// A Set is the policy that holds: all layers.
type Set struct {
	layers   []*layer
	Problems []Problem
	// Headless says that nobody can be asked about extensions: what would be
	// asked is denied. Of tool calls it says nothing: who judges them knows
	// whether somebody is there.
	Headless bool

	obligations
}

// obligations are what a layer can only make stricter, each with the line that
// names it.
type obligations struct {
	mode         Mode
	modeAt       Origin
	enforce      Enforce
	enforceAt    Origin
	audit        Audit
	auditAt      Origin
	skillTools   SkillTools
	skillToolsAt Origin
}

// meet takes what is stricter in another.
func (o *obligations) meet(other *obligations) {
	if other.mode > o.mode {
		o.mode, o.modeAt = other.mode, other.modeAt
	}
	if other.enforce > o.enforce {
		o.enforce, o.enforceAt = other.enforce, other.enforceAt
	}
	if other.audit > o.audit {
		o.audit, o.auditAt = other.audit, other.auditAt
	}
	if other.skillTools > o.skillTools {
		o.skillTools, o.skillToolsAt = other.skillTools, other.skillToolsAt
	}
}

// Load reads the sections. It never fails: a section that cannot be read is in
// Problems and closes what it would have governed.
func Load(sections []Section) *Set {
	set := &Set{obligations: obligations{modeAt: Origin{Builtin: true}}}
	for _, s := range sections {
		l, problems := readSection(s)
		set.layers = append(set.layers, l)
		set.Problems = append(set.Problems, problems...)
	}
	for _, l := range set.layers {
		set.meet(&l.obligations)
	}
	return set
}

// Mode is the strictest mode that a layer names, and who names it.
func (s *Set) Mode() (Mode, Origin) { return s.mode, s.modeAt }

// Enforce is the strictest value of enforce that a layer names.
func (s *Set) Enforce() Enforce { return s.enforce }

// Audit is the strictest value of audit that a layer names, and who names it.
func (s *Set) Audit() (Audit, Origin) { return s.audit, s.auditAt }

// SkillTools is the strictest value of skillTools that a layer names, and who
// names it.
func (s *Set) SkillTools() (SkillTools, Origin) { return s.skillTools, s.skillToolsAt }

// NeverTrust tells whether projects are not to be trusted at all, and who says
// so.
func (s *Set) NeverTrust() (Origin, bool) {
	for _, l := range s.layers {
		if l.never {
			return l.neverAt, true
		}
	}
	return Origin{}, false
}

// Requirements lists the extensions that must run.
func (s *Set) Requirements() []*Requirement {
	var out []*Requirement
	for _, l := range s.layers {
		out = append(out, l.require...)
	}
	return out
}

// Missing lists the requirements that none of the subjects fulfils.
func (s *Set) Missing(loaded []Subject) []*Requirement {
	return slices.DeleteFunc(s.Requirements(), func(r *Requirement) bool {
		return slices.ContainsFunc(loaded, func(sub Subject) bool {
			sub.prepare()
			return r.match.subject(&sub, false) && (sub.Scope != ScopeProject || r.match.identifies())
		})
	})
}

// Recommendations lists what projects would like to have.
func (s *Set) Recommendations() []Recommendation {
	var out []Recommendation
	for _, l := range s.layers {
		out = append(out, l.recommend...)
	}
	return out
}

// Required tells whether the policy requires the extension, and who says so.
func (s *Set) Required(sub Subject) (*Requirement, bool) {
	sub.prepare()
	return s.required(&sub)
}

func (s *Set) required(sub *Subject) (*Requirement, bool) {
	var found *Requirement
	for _, r := range s.Requirements() {
		// A name alone does not tell the guard from a project's folder of the
		// same name.
		if !r.match.subject(sub, false) || sub.Scope == ScopeProject && !r.match.identifies() {
			continue
		}
		if found == nil || r.At.Layer < found.At.Layer {
			found = r
		}
	}
	return found, found != nil
}

// SwitchOff is the decision about switching off what the requirement is about.
func (r *Requirement) SwitchOff() Decision {
	return Decision{Verdict: Deny, Code: CodeRequiredDisabled, By: r.At, Reason: "it is required, and cannot be switched off", Remedy: remedyOf(r.At.Layer)}
}

// Closed tells why no extension may load, where a section of the administrator
// or the user is broken.
func (s *Set) Closed() (Decision, bool) {
	for _, l := range s.layers {
		if l.broken != nil && !l.layer.fromProject() {
			return l.closed(), true
		}
	}
	return Decision{}, false
}

func (l *layer) closed() Decision {
	remedy := "mend the file, then zot policy check"
	if l.layer == Env {
		remedy = "give the variable another value, or unset it"
	}
	return Decision{
		Verdict: Deny, Code: l.brokenCode, By: l.brokenPlace,
		Reason: "the " + l.layer.String() + " policy cannot be read: " + l.broken.Error(),
		Remedy: remedy,
	}
}

// Valid tells whether every section could be read.
func (s *Set) Valid() bool {
	return !slices.ContainsFunc(s.layers, func(l *layer) bool { return l.broken != nil })
}

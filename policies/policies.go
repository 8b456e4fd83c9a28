// Package policies answers whether an extension may load and what it may do.
//
// A policy is the "policy" section of each settings layer. The layers are not
// merged: they meet. Each gives its own verdict and the most restrictive one
// holds, whatever the order, so that a layer can only narrow what another
// allows. Below that ceiling something is allowed only where an authority said
// yes: a rule of the administrator or the user, an approval by the user for
// exactly these bytes, or a flag for this run. Everything else is asked.
//
//	set := policies.Load(sections)         // once, strictly; Set.Problems
//	bound := set.Bind(subject)             // once per extension
//	d := bound.Load()                      // may it start?
//	d = bound.Use(policies.Tools, "weather") // may it do this? no allocation
//	fmt.Println(d.Verdict, d.Code, d.By, d.Reason)
//
// A section that cannot be read fails closed for loading extensions, and for
// nothing else. Each [Decision] names the file, line and rule that made it;
// [Bound.ExplainUse] adds what every other layer said.
//
// The packages below hold what goes with it: trust remembers what the user
// approved, lock pins bytes, audit keeps the log, paths and commands judge the
// arguments of tools.
package policies

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/patriceckhart/zot/config/document"
)

// A Verdict answers a question. The order is the point: the smaller one wins
// wherever two meet.
type Verdict uint8

// The verdicts, most restrictive first.
const (
	Deny Verdict = iota
	Ask
	Allow
)

// String is the word that policies use.
func (v Verdict) String() string { return [...]string{"deny", "ask", "allow"}[v] }

// MarshalText writes the word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A Code says in a stable way why a decision came out as it did.
type Code string

// The codes.
const (
	CodeAllowed           Code = "ZP001"
	CodeUntrusted         Code = "ZP010" // the project is not trusted
	CodeWidened           Code = "ZP011" // it asks for more than was approved
	CodeApprovalNeeded    Code = "ZP012" // somebody must be asked, and nobody is there
	CodeUnlisted          Code = "ZP020" // locked, and no rule names it
	CodeDenyRule          Code = "ZP021"
	CodeVersion           Code = "ZP022"
	CodeSource            Code = "ZP023"
	CodeDigest            Code = "ZP024"
	CodeTransport         Code = "ZP026"
	CodeNoLockEntry       Code = "ZP030"
	CodeContentDrift      Code = "ZP031"
	CodeSourceDrift       Code = "ZP032"
	CodeExceedsLock       Code = "ZP033"
	CodeDescriptorDrift   Code = "ZP034"
	CodePlatformMissing   Code = "ZP036"
	CodeOutsideGrant      Code = "ZP040"
	CodeLimit             Code = "ZP041"
	CodeInterceptorRaise  Code = "ZP042" // an interceptor tried to allow more
	CodeCannotEnforce     Code = "ZP050"
	CodeManagedInvalid    Code = "ZP060"
	CodeUserInvalid       Code = "ZP061"
	CodeProjectInvalid    Code = "ZP062"
	CodeKeyNotAllowed     Code = "ZP063" // a key that the layer may not set
	CodeInsecureOwner     Code = "ZP064"
	CodeBadHome           Code = "ZP065"
	CodeRequiredMissing   Code = "ZP070"
	CodeRequiredDisabled  Code = "ZP071" // a required extension cannot be switched off
	CodeGuardNotRunning   Code = "ZP072"
	CodeBadName           Code = "ZP080"
	CodeLinkOrSpecialFile Code = "ZP081"
	CodePathEscape        Code = "ZP082"
	CodeManifestInvalid   Code = "ZP083"
	CodeUnpinnable        Code = "ZP084" // a launcher that fetches what it runs
	CodeSourceRefused     Code = "ZP085"
	CodeAuditSink         Code = "ZP090"
)

// Exit statuses of commands that end for a policy's sake.
const (
	ExitPolicyInvalid   = 20
	ExitRequiredMissing = 21
	ExitDigestMismatch  = 22
	ExitUntrusted       = 23
	ExitApprovalNeeded  = 24
	ExitCannotEnforce   = 25
	ExitLockOutOfDate   = 27
)

// A Layer is who speaks.
type Layer uint8

// The layers. Their order means nothing for a decision.
const (
	Managed Layer = iota
	User
	Project
	Local
	Env
	Flags
	numLayers
)

var layerNames = [numLayers]string{"managed", "user", "project", "local", "env", "flags"}

// String is the name of the layer.
func (l Layer) String() string { return layerNames[l] }

// MarshalText writes the name of the layer.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// ParseLayer is the inverse of String. "user-project", the user's own settings
// for one project, is the user speaking.
func ParseLayer(name string) (Layer, bool) {
	if name == "user-project" {
		return User, true
	}
	for i, n := range layerNames {
		if n == name {
			return Layer(i), true
		}
	}
	return 0, false
}

// owner tells whether a layer can grant, and not only narrow.
func (l Layer) owner() bool { return l == Managed || l == User }

// fromProject tells whether a layer comes with the project.
func (l Layer) fromProject() bool { return l == Project || l == Local }

// A Mode is how strict a whole session is. The strictest that any layer names
// holds.
type Mode uint8

// The modes, laxest first.
const (
	Open   Mode = iota // what the user installed runs
	Pinned             // only what the lock holds runs
	Locked             // only what a rule lists and the lock holds runs
)

var modeNames = []string{Open: "open", Pinned: "pinned", Locked: "locked"}

// ModeNames are the words for the modes that policies use, laxest first.
func ModeNames() []string { return slices.Clone(modeNames) }

// String is the word that policies use.
func (m Mode) String() string { return modeNames[m] }

// MarshalText writes the word.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// An Origin is the place of a rule or key.
type Origin struct {
	Layer  Layer  `json:"layer"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Rule   string `json:"rule,omitempty"` // id of the rule, or what the key is
	// Builtin says that no layer said it: it is how zot works.
	Builtin bool `json:"builtin,omitempty"`
}

// MarshalJSON leaves out the layer where none said it.
func (o Origin) MarshalJSON() ([]byte, error) {
	type plain Origin
	if !o.Builtin {
		return json.Marshal(plain(o))
	}
	return json.Marshal(struct {
		Rule    string `json:"rule,omitempty"`
		Builtin bool   `json:"builtin"`
	}{o.Rule, true})
}

// String is the origin for people: "managed /etc/zot/config.json:4:7 rule no-net".
func (o Origin) String() string {
	if o.Builtin {
		return "zot itself"
	}
	s := o.Layer.String()
	switch {
	case o.File != "" && o.Line > 0:
		s += " " + document.Place(o.File, document.Pos{Line: o.Line, Column: o.Column})
	case o.File != "":
		s += " " + o.File
	}
	if o.Rule != "" {
		s += " " + o.Rule
	}
	return s
}

// A Decision is an answer and who is behind it.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	Code    Code    `json:"code"`
	By      Origin  `json:"by"`
	// Reason is one sentence, from the rule where it gives one.
	Reason string `json:"reason,omitempty"`
	// Remedy says what would change the answer; empty for an allow.
	Remedy string `json:"remedy,omitempty"`
	// Warnings are what does not change the answer and should be said: a
	// missing lock entry in mode open, for instance. Set for Load alone.
	Warnings []Warning `json:"warnings,omitempty"`
	// PerLayer is what each layer said. Set by the Explain methods alone.
	PerLayer []LayerVerdict `json:"layers,omitempty"`
}

// Allowed tells whether the verdict is Allow.
func (d Decision) Allowed() bool { return d.Verdict == Allow }

// AboutTrust tells whether the decision is for want of trust in a project, or in
// what changed in it.
func (d Decision) AboutTrust() bool { return d.Code == CodeUntrusted || d.Code == CodeWidened }

// A Warning is said and changes nothing.
type Warning struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// A LayerVerdict is what one layer says to a question.
type LayerVerdict struct {
	Verdict Verdict `json:"verdict"`
	By      Origin  `json:"by"`
	Reason  string  `json:"reason,omitempty"`
	// Silent says that no rule of the layer is about the question.
	Silent bool `json:"silent,omitempty"`
	// Skipped says why the layer does not count here; or is empty.
	Skipped string `json:"skipped,omitempty"`
}

// UnmarshalText reads the word.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Deny, Ask, Allow} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("verdict %q is not deny, ask or allow", text)
}

// UnmarshalText reads the name of the layer.
func (l *Layer) UnmarshalText(text []byte) error {
	known, ok := ParseLayer(string(text))
	if !ok {
		return fmt.Errorf("layer %q is not known", text)
	}
	*l = known
	return nil
}

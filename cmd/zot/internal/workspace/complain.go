package workspace

import (
	"fmt"
	"io"
	"slices"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// policyFaults are those of the policy sections. Of a file that cannot be read
// at all the settings' own faults tell.
func (w *Workspace) policyFaults() []policies.Problem {
	var out []policies.Problem
	for _, s := range gate.Sections(gate.Options{Settings: w.Settings, Environ: w.Environ}) {
		if s.Err == nil || s.Layer == policies.Env {
			out = append(out, policies.Load([]policies.Section{s}).Problems...)
		}
	}
	return out
}

// ComplainOfPolicy prints the faults of policies, one on a line: rules that
// nobody can read are rules that nobody keeps.
func (w *Workspace) ComplainOfPolicy(to io.Writer) {
	for _, p := range w.policyFaults() {
		fmt.Fprintln(to, "zot: "+p.Error())
	}
}

// SwitchedOff says by which line the settings switch an extension off; empty
// where they do not.
func (w *Workspace) SwitchedOff(c *discovery.Candidate) string {
	if c.Scope == discovery.ScopeFlag {
		return ""
	}
	for _, place := range places {
		if why := w.leftOut(place); why != "" && (place.scope == "" || place.scope == c.Scope) {
			return why
		}
	}
	if !slices.Contains(w.Settings.Config.Extensions.Disabled, c.Name) {
		return ""
	}
	by, _ := w.Settings.WhoLists([]string{"extensions", "disabled"}, c.Name)
	return "switched off by extensions.disabled (" + by.String() + ")"
}

// A placeSwitch is a setting that leaves out a place of extensions.
type placeSwitch struct {
	key, what string
	scope     discovery.Scope // empty: all
}

var places = []placeSwitch{
	{"enabled", "the settings switch all extensions off", ""},
	{"project", "the settings leave out the project's extensions", discovery.ScopeProject},
	{"global", "the settings leave out the extensions in zot's home", discovery.ScopeGlobal},
}

// leftOut says by which line a place is left out; empty where it is not.
func (w *Workspace) leftOut(p placeSwitch) string {
	e, ok := w.Settings.Effective([]string{"extensions", p.key})
	if !ok || e.Value != false {
		return ""
	}
	return fmt.Sprintf("%s (extensions.%s, %s)", p.what, p.key, e.Origin)
}

// LeftOut says which places of extensions the settings leave out, and by which
// line.
func (w *Workspace) LeftOut() []string {
	var out []string
	for _, place := range places {
		if why := w.leftOut(place); why != "" {
			out = append(out, why)
		}
	}
	return out
}

// Show prints the faults of settings and policies as a compiler does: the line,
// a mark, the remedy.
func (w *Workspace) Show(to io.Writer) {
	for _, p := range w.Settings.Problems {
		fmt.Fprint(to, p.Render())
	}
	for _, p := range w.policyFaults() {
		fmt.Fprint(to, p.Render())
	}
}

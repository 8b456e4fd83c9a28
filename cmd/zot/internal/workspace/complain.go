package workspace

import (
	"fmt"
	"io"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies"
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

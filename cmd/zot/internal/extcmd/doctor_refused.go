package extcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// refused tells what was refused to it, now and in earlier runs.
func (d *diagnosis) refused(r *runcmd.Rehearsal, c *discovery.Candidate) {
	all, err := r.Refused(c)
	if err != nil {
		d.note("what was refused to it is not known in full: %v", err)
	}
	d.Refused = all
	d.Notes = slices.DeleteFunc(d.Notes, func(note string) bool { // one line is enough
		return slices.ContainsFunc(all, func(r gate.Refusal) bool {
			return strings.HasPrefix(note, string(r.Code)+": ") && r.Value != "" && strings.Contains(note, r.Value)
		})
	})
}

func refusedText(r gate.Refusal) string {
	text := fmt.Sprintf("%s %s (%s by %s; %s, last on %s)",
		r.Capability, r.Value, r.Code, r.By, times(r.Count), r.Last.Local().Format("2006-01-02 15:04"))
	if r.Remedy != "" {
		text += "; " + r.Remedy
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

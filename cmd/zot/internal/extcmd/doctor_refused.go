package extcmd

import (
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

// A refusedRight is what an extension tried and may not, with what would let it.
type refusedRight struct {
	audit.Refused
	Remedy string `json:"remedy,omitempty"`
}

// refused tells what was refused to it, now and in earlier runs.
func (d *diagnosis) refused(r *runcmd.Rehearsal, c *discovery.Candidate) {
	all, err := r.Refused(d.Name)
	if err != nil {
		d.note("what was refused to it is not known: %v", err)
	}
	bound := r.Policy().Bound(c)
	for _, one := range all {
		d.Refused = append(d.Refused, refusedRight{one, remedyOf(one, bound)})
	}
}

// remedyOf says what would change the answer, by the policy of today.
func remedyOf(r audit.Refused, bound *policies.Bound) string {
	if r.Capability == "limits" {
		key, _, _ := strings.Cut(r.Value, " ")
		return "raise limits." + key + " in its manifest and in the policy that bounds it"
	}
	if bound == nil {
		return ""
	}
	return bound.Use(r.Capability, r.Value).Remedy
}

func (r refusedRight) String() string {
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

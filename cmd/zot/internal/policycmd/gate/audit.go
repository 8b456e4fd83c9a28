package gate

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/audit"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// openLog opens the log of decisions where the policy demands one: whether it
// can be written then decides about loading.
func (g *Gate) openLog() {
	if kept, _ := g.Set.Audit(); kept == policies.AuditRequired {
		g.log, g.LogErr = audit.Open(g.opts.Home)
	}
}

// closed is the decision where the log that must be kept cannot be.
func (g *Gate) closed() (policies.Decision, bool) {
	if g.LogErr == nil {
		return policies.Decision{}, false
	}
	_, by := g.Set.Audit()
	return policies.Decision{
		Verdict: policies.Deny, Code: policies.CodeAuditSink, By: by,
		Reason: "the policy demands a log of its decisions, and it cannot be written: " + g.LogErr.Error(),
		Remedy: "make " + g.opts.Home.AuditFile() + " writable",
	}, true
}

// Load decides whether a candidate may start.
func (g *Gate) Load(c *discovery.Candidate) (policies.Decision, bool) {
	b := g.bound[keyOf(c)]
	if b == nil {
		d, absent := g.absent[manifest.Fold(c.Name)]
		return d, absent && c.Pin != "" && c.Manifest == nil
	}
	if d, closed := g.closed(); closed {
		return d, true
	}
	return b.Load(), true
}

// ExplainLoad is [Gate.Load] of a candidate that was judged, together with what
// each layer says.
func (g *Gate) ExplainLoad(c *discovery.Candidate) policies.Decision {
	d := g.bound[keyOf(c)].ExplainLoad()
	if closed, ok := g.closed(); ok {
		closed.PerLayer = d.PerLayer
		return closed
	}
	return d
}

// sink is the open log.
func (g *Gate) sink() (*audit.Log, error) {
	g.logging.Lock()
	defer g.logging.Unlock()
	if g.log == nil && g.LogErr == nil {
		g.log, g.LogErr = audit.Open(g.opts.Home)
	}
	return g.log, g.LogErr
}

// Log writes the decisions about loading, at a start. Listing and explaining do
// not log: nothing is done there.
func (g *Gate) Log(session string) error {
	log, err := g.sink()
	if err != nil {
		return err
	}
	policy := g.PolicyDigest()
	for _, c := range g.candidates {
		d, ok := g.Load(c)
		if !ok {
			continue
		}
		r := audit.Of(d, c.Name)
		r.Session, r.Policy, r.Digest = session, policy, c.Pin
		if b := g.bound[keyOf(c)]; b != nil {
			s := b.Subject()
			r.Digest, r.Enforced, r.Unenforced = s.Digest, g.enforced(c, b), s.Unenforced
		}
		if err := log.Append(r); err != nil {
			return err
		}
	}
	return nil
}

// enforced lists what this system holds a candidate to.
func (g *Gate) enforced(c *discovery.Candidate, b *policies.Bound) []string {
	if g.opts.Enforced == nil || !b.Load().Allowed() {
		return nil
	}
	return g.opts.Enforced(c, b.Reach())
}

// Record writes one decision about a right, while an extension runs, or about a
// tool. Of a variable value is the name.
func (g *Gate) Record(extension string, c policies.Capability, value string, d policies.Decision) error {
	log, err := g.sink()
	if err != nil {
		return err
	}
	r := audit.Of(d, extension)
	r.Capability, r.Value, r.Policy = c, value, g.PolicyDigest()
	return log.Append(r)
}

// PolicyDigest is the digest of the policy in force: of the sections of all
// layers.
func (g *Gate) PolicyDigest() string {
	sum := sha256.New()
	for _, s := range Sections(g.opts) {
		sum.Write([]byte(s.Layer.String() + "\x00"))
		if s.Node != nil {
			sum.Write(s.Node.JSON())
		}
		sum.Write([]byte{0})
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

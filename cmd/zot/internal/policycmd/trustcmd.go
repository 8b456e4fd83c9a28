package policycmd

import (
	"fmt"
	"sort"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/schemas"
)

// trustStatus is what --json prints.
type trustStatus struct {
	Project  string       `json:"project"`
	ID       string       `json:"id"`
	Digest   string       `json:"digest,omitempty"`
	Trusted  bool         `json:"trusted"`
	By       string       `json:"by,omitempty"`
	Approved string       `json:"approved,omitempty"`
	Change   trust.Change `json:"change"`
	// Refused are the extensions that do not load whatever is agreed to.
	Refused []refusedExtension `json:"refused,omitempty"`
	Error   string             `json:"error,omitempty"`
}

type refusedExtension struct {
	Name string        `json:"name"`
	Code policies.Code `json:"code"`
	Why  string        `json:"why"`
}

func (c *command) statusCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether this project is trusted, and what has not been approved",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return c.trustStatus() },
	}
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) trustStatus() error {
	p, err := c.open()
	if err != nil {
		return err
	}
	g := p.gate
	s := trustStatus{Project: p.ProjectRoot, ID: g.Identity.ID, Trusted: g.Trusted, By: g.TrustedBy, Change: g.Change()}
	if g.Bundle != nil {
		s.Digest = g.Bundle.Digest
	}
	if g.Approved != nil {
		s.Approved = g.Approved.Approved.Format("2006-01-02 15:04 MST")
	}
	s.Refused = p.refusedAnyhow()
	for _, err := range []error{g.BundleErr, g.ApprovedErr} {
		if err != nil {
			s.Error = err.Error()
		}
	}
	if c.json {
		return c.printJSON(s)
	}
	c.printTrust(s)
	return nil
}

// refusedAnyhow lists what of the project does not load for another reason than
// that its user has not agreed.
func (p *place) refusedAnyhow() []refusedExtension {
	var out []refusedExtension
	for _, c := range p.plan.Candidates {
		b := p.gate.Bound(c)
		if b == nil || b.Subject().Scope != policies.ScopeProject {
			continue
		}
		if d, _ := p.gate.Load(c); !d.Allowed() && !d.AboutTrust() {
			out = append(out, refusedExtension{c.Name, d.Code, gate.Sentence(d)})
		}
	}
	return out
}

func (c *command) printTrust(s trustStatus) {
	out := c.Streams.Out
	switch {
	case s.Error != "" && s.Change.None():
		fmt.Fprintf(out, "%s is not trusted: %s\n", s.Project, schemas.Printable(s.Error))
	case s.Error != "":
		fmt.Fprintf(out, "%s is not trusted: %s; held back:\n", s.Project, schemas.Printable(s.Error))
	case s.Trusted && s.Change.None():
		fmt.Fprintf(out, "%s is trusted, as it was approved on %s\n", s.Project, s.Approved)
	case s.Trusted:
		fmt.Fprintf(out, "%s is trusted since %s; not approved yet:\n", s.Project, s.Approved)
	case s.Change.None():
		fmt.Fprintf(out, "%s has nothing that needs trust\n", s.Project)
	default:
		fmt.Fprintf(out, "%s is not trusted; it would bring:\n", s.Project)
	}
	for _, line := range changeLines(s.Change) {
		fmt.Fprintln(out, "  "+schemas.Printable(line))
	}
	for _, r := range s.Refused {
		fmt.Fprintln(out, schemas.Printable("whatever is agreed to, "+r.Name+" does not load: "+r.Why))
	}
	if s.Digest != "" {
		fmt.Fprintln(out, "digest "+s.Digest)
	}
}

// changeLines lists what has to be asked, one thing a line.
func changeLines(c trust.Change) []string {
	var out []string
	for _, name := range c.Started {
		out = append(out, "extension "+name)
	}
	var names []string
	for name := range c.Rights {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, a := range c.Rights[name] {
			out = append(out, "right of "+name+": "+a.String())
		}
	}
	for _, s := range c.Settings {
		out = append(out, "setting "+s)
	}
	for _, p := range c.Policy {
		out = append(out, "policy "+p)
	}
	for _, f := range c.Files {
		out = append(out, "file "+f)
	}
	return out
}

func (c *command) digestCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "digest",
		Short: "Print the digest of all that zot would act on of this project, for ZOT_TRUST_DIGEST",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := c.open()
			if err != nil {
				return err
			}
			if p.gate.BundleErr != nil {
				return p.gate.BundleErr
			}
			fmt.Fprintln(c.Streams.Out, p.gate.Bundle.Digest)
			return nil
		},
	}
}

func (c *command) revokeCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke",
		Short: "Forget what was approved of this project; status 1 where there was nothing",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := c.open()
			if err != nil {
				return err
			}
			found, err := trust.Store{Home: p.Home}.Revoke(p.gate.Identity)
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("nothing was approved of %s", p.ProjectRoot)
			}
			fmt.Fprintf(c.Streams.Err, "%s is not trusted any more\n", p.ProjectRoot)
			return nil
		},
	}
}

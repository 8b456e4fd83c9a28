package policycmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/schemas"
)

func (c *command) explainCmd() *cobra.Command {
	var use string
	cmd := &cobra.Command{
		Use:   "explain EXT",
		Short: "Say whether an extension may load or use a right, who decided, and what would change it",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.explain(args[0], use) },
	}
	cmd.Flags().StringVar(&use, "cap", "", "a right instead of loading: net.connect=host:443, tools=NAME, panels")
	c.jsonFlag(cmd)
	return cmd
}

// explanation is what --json prints.
type explanation struct {
	Extension  string              `json:"extension"`
	Dir        string              `json:"dir"`
	Version    string              `json:"version,omitempty"`
	Source     string              `json:"source,omitempty"`
	Claimed    string              `json:"claimedSource,omitempty"`
	Digest     string              `json:"digest,omitempty"`
	Transport  string              `json:"transport,omitempty"`
	Scope      policies.Scope      `json:"scope"`
	Mode       policies.Mode       `json:"mode"`
	ModeBy     policies.Origin     `json:"modeBy"`
	Capability policies.Capability `json:"capability,omitempty"`
	Value      string              `json:"value,omitempty"`
	policies.Decision
	// SwitchedOff says by which line the settings keep it from loading; the
	// policy has no say in that.
	SwitchedOff string          `json:"switchedOff,omitempty"`
	Rights      []policies.Atom `json:"rights"`
	Unenforced  []string        `json:"unenforced,omitempty"`
}

func (c *command) explain(name, use string) error {
	p, err := c.open()
	if err != nil {
		return err
	}
	ext, err := p.pick(name)
	if err != nil {
		return err
	}
	x, err := explainOne(p, ext, use)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(x)
	}
	fmt.Fprint(c.Streams.Out, x.text())
	return nil
}

func explainOne(p *place, ext *discovery.Candidate, use string) (explanation, error) {
	b := p.gate.Bound(ext)
	if b == nil { // only the lock knows of it
		x := explanation{Extension: ext.Name, Dir: ext.Dir, Claimed: p.gate.Claimed(ext), Scope: policies.ScopeProject, Digest: ext.Pin, Rights: []policies.Atom{}}
		x.Mode, x.ModeBy = p.gate.Set.Mode()
		x.Decision, _ = p.gate.Load(ext)
		return x, nil
	}
	s := b.Subject()
	x := explanation{
		Extension: s.Name, Dir: ext.Dir, Version: s.Version, Source: s.Source, Claimed: s.Claimed, Digest: s.Digest,
		Transport: s.Transport, Scope: s.Scope, Rights: b.Granted().Atoms(), Unenforced: s.Unenforced,
	}
	x.Mode, x.ModeBy = p.gate.Set.Mode()
	x.SwitchedOff = p.SwitchedOff(ext)
	if use == "" {
		x.Decision = p.gate.ExplainLoad(ext)
		return x, nil
	}
	capability, value, ok := policies.ParseUse(use)
	if !ok {
		var names []string
		for _, known := range policies.Capabilities {
			names = append(names, string(known))
		}
		if name, _, _ := strings.Cut(use, "="); schemas.Nearest(name, names) != "" {
			return x, usage("--cap %q: did you mean %q?", use, schemas.Nearest(name, names))
		}
		return x, usage("--cap %q: write a capability, perhaps with =VALUE; there are %s", use, strings.Join(names, ", "))
	}
	x.Capability, x.Value = capability, value
	x.Decision = b.ExplainUse(capability, value)
	return x, nil
}

// text is the explanation for people.
func (x explanation) text() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, schemas.Printable(value))
		}
	}
	question := "may " + x.Extension + " load?"
	if x.Capability != "" {
		question = "may " + x.Extension + " use " + policies.Atom{Cap: x.Capability, Value: x.Value}.String() + "?"
	}
	line("question", question)
	line("answer", x.Verdict.String()+" ("+string(x.Code)+")")
	line("decided by", x.By.String())
	line("because", x.Reason)
	line("to change", x.Remedy)
	line("settings", x.SwitchedOff)
	line("mode", x.Mode.String()+", by "+x.ModeBy.String())
	source := orUnknown(x.Source)
	if x.Source == "" && x.Claimed != "" {
		source = "said to be from " + x.Claimed + ", not fetched from there by this machine"
	}
	line("source", source)
	line("digest", x.Digest)
	line("transport", x.Transport)
	for _, l := range x.PerLayer {
		line("layer", layerText(l))
	}
	for _, w := range x.Warnings {
		line("warning", string(w.Code)+": "+w.Message)
	}
	for _, a := range x.Rights {
		line("has", a.String())
	}
	line("not enforced", strings.Join(x.Unenforced, ", "))
	return b.String()
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

func layerText(l policies.LayerVerdict) string {
	text := l.By.String() + ": " + l.Verdict.String()
	if l.Silent {
		text = l.By.Layer.String() + ": says nothing"
	}
	if l.Reason != "" {
		text += ", " + l.Reason
	}
	if l.Skipped != "" {
		text += " (does not count: " + l.Skipped + ")"
	}
	return text
}

func (c *command) showCmd() *cobra.Command {
	var effective bool
	var layer string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the policy: of all layers, of one, or what each extension may do",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return c.show(effective, layer) },
	}
	cmd.Flags().BoolVar(&effective, "effective", false, "print what comes of it for each extension")
	cmd.Flags().StringVar(&layer, "layer", "", "print the section of one layer")
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) show(effective bool, layer string) error {
	p, err := c.open()
	if err != nil {
		return err
	}
	if effective {
		return c.showEffective(p)
	}
	if layer != "" {
		if _, ok := policies.ParseLayer(layer); !ok {
			return usage("--layer %q: write managed, user, project, local, env or flags", layer)
		}
	}
	return c.showSections(p, layer)
}

func (c *command) showEffective(p *place) error {
	var all []explanation
	for _, ext := range p.plan.Candidates {
		if p.gate.Bound(ext) == nil {
			continue
		}
		x, err := explainOne(p, ext, "")
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	if c.json {
		return c.printJSON(all)
	}
	mode, by := p.gate.Set.Mode()
	fmt.Fprintf(c.Streams.Out, "mode %s, by %s\n", mode, by)
	for _, ext := range p.plan.Candidates {
		if d, ok := p.gate.Load(ext); ok && p.gate.Bound(ext) == nil {
			fmt.Fprintf(c.Streams.Out, "%s: %s\n", ext.Name, schemas.Printable(gate.Sentence(d)))
		}
	}
	for _, x := range all {
		if x.Verdict == policies.Allow {
			fmt.Fprintf(c.Streams.Out, "%s: allow, by %s\n", x.Extension, x.By)
		} else {
			fmt.Fprintf(c.Streams.Out, "%s: %s\n", x.Extension, schemas.Printable(gate.Sentence(x.Decision)))
		}
	}
	for _, q := range p.gate.Set.Missing(subjects(p)) {
		fmt.Fprintf(c.Streams.Out, "%s: %s, required and not there (%s)\n", q.Name(), policies.CodeRequiredMissing, q.At)
	}
	return nil
}

func subjects(p *place) []policies.Subject {
	var out []policies.Subject
	for _, ext := range p.plan.Candidates {
		if b := p.gate.Bound(ext); b != nil && ext.State == discovery.Load {
			out = append(out, b.Subject())
		}
	}
	return out
}

func (c *command) showSections(p *place, layer string) error {
	type section struct {
		Layer string `json:"layer"`
		File  string `json:"file"`
		Value any    `json:"policy"`
		Error string `json:"error,omitempty"`
	}
	out := []section{}
	for _, s := range p.Settings.Policy {
		if layer != "" && s.Layer.String() != layer {
			continue
		}
		sec := section{Layer: s.Layer.String(), File: s.Path}
		if s.Node != nil {
			sec.Value = s.Node.Any()
		}
		if s.Err != nil {
			sec.Error = s.Err.Error()
		}
		out = append(out, sec)
	}
	if c.json {
		return c.printJSON(out)
	}
	if len(out) == 0 {
		fmt.Fprintln(c.Streams.Err, "there is no policy to print; zot policy init writes one")
	}
	for _, s := range out {
		fmt.Fprintf(c.Streams.Out, "# %s: %s\n", s.Layer, s.File)
		if s.Error != "" {
			fmt.Fprintln(c.Streams.Out, schemas.Printable(s.Error))
			continue
		}
		if err := c.printJSON(s.Value); err != nil {
			return err
		}
	}
	return nil
}

package doctorcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/transports/subprocess"
)

// settings says which files were read, and each of their faults.
func (v *visit) settings() {
	for _, f := range v.w.Settings.Files {
		switch {
		case f.Broken: // said below
		case f.Held && f.Found:
			v.add(f.Layer.String(), Info, f.Path+": its preferences are held back until the project is trusted", "see zot trust")
		case f.Found:
			v.add(f.Layer.String(), OK, f.Path, "")
		}
	}
	for _, p := range v.w.Settings.Problems {
		name := orElse(p.Key, "file")
		v.add(name, Wrong, document.Place(p.Source, p.Pos)+": "+p.Message, p.Remedy)
	}
	if len(v.lines) == 0 || v.lines[len(v.lines)-1].Subject != v.subject {
		v.add("files", OK, "none; zot runs with what is built in", "")
	}
}

// policy says what governs extensions here.
func (v *visit) policy() {
	_, g, err := v.w.Judge(nil, false, v.Version)
	if err != nil {
		v.add("switches", Wrong, err.Error(), "")
	}
	mode, by := g.Set.Mode()
	v.add("mode", Info, fmt.Sprintf("%s (%s)", mode, by), "")
	v.trust(g)
	for _, p := range g.Set.Problems {
		v.add(string(p.Code), Wrong, document.Place(p.File, p.Pos)+": "+p.Message, p.Remedy)
	}
	for _, err := range append(slices.Clone(g.LockErrs), g.BundleErr, g.ApprovedErr, g.LogErr) {
		if err != nil {
			v.add("files", Wrong, err.Error(), "")
		}
	}
}

func (v *visit) trust(g *gate.Gate) {
	change := g.Change()
	switch {
	case g.Trusted && change.None():
		v.add("trust", OK, "this project is trusted (by "+g.TrustedBy+")", "")
	case g.Trusted:
		v.add("trust", Hint, "this project has changed since you trusted it", "zot trust shows what has; zot asks at its next start")
	case g.BundleErr != nil:
		v.add("trust", Info, "this project can be trusted by nobody; the line of files says why", "zot trust shows what is held back")
	case change.None():
		v.add("trust", Info, "this project has nothing that needs trust", "")
	default:
		v.add("trust", Info, "this project is not trusted", "zot trust shows what it would bring; zot asks at its next start")
	}
}

// extensions sums up what was found, and names what does not load.
func (v *visit) extensions() {
	plan, g, err := v.w.Judge(nil, false, v.Version)
	if err != nil {
		return // said under policy
	}
	for _, err := range plan.Problems {
		v.add("places", Wrong, err.Error(), "")
	}
	for _, line := range v.w.LeftOut() {
		v.add("places", Hint, line, "")
	}
	count := map[discovery.State]int{}
	for _, c := range plan.Candidates {
		count[c.State]++
	}
	var parts []string
	for _, s := range []discovery.State{discovery.Load, discovery.Held, discovery.Disabled, discovery.Shadowed, discovery.Invalid} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	v.add("found", Info, orElse(strings.Join(parts, ", "), "none"), "")
	for _, c := range plan.Candidates {
		v.extension(c)
	}
	v.refused(g, plan.Loading())
}

// refused names those that were refused something, in a line each.
func (v *visit) refused(g *gate.Gate, loading []*discovery.Candidate) {
	all, err := g.Refused(loading...)
	if err != nil {
		v.add("log", Wrong, "what was refused to extensions is not known in full: "+err.Error(), "zot policy audit says whether the log of decisions is whole")
	}
	for _, c := range loading {
		r := all[c.Name]
		if len(r) == 0 {
			continue
		}
		value := "was refused " + strings.TrimSpace(string(r[0].Capability)+" "+r[0].Value)
		if len(r) > 1 {
			value += fmt.Sprintf(", and %d more", len(r)-1)
		}
		v.add(c.Name, Hint, value, "zot ext doctor "+c.Name)
	}
}

func (v *visit) extension(c *discovery.Candidate) {
	name := c.Name
	switch c.State {
	case discovery.Invalid:
		v.add(name, Wrong, "cannot load: "+c.Reason, shown(c.Err))
	case discovery.Held:
		if why := v.w.SwitchedOff(c); why != "" {
			v.add(name, Info, why, "")
			break
		}
		v.add(name, Hint, "held back: "+c.Reason, "zot policy explain "+name)
	case discovery.Shadowed, discovery.Disabled:
		v.add(name, Info, string(c.State)+": "+c.Reason, "")
	default:
		v.loading(c)
	}
	if c.Manifest == nil {
		return
	}
	for _, p := range c.Warnings {
		v.add(name, Hint, fmt.Sprintf("%s:%d:%d: %s", c.Manifest.File, p.Line, p.Column, p.Message), p.Remedy)
	}
}

// loading looks for the program of an extension that would be started.
func (v *visit) loading(c *discovery.Candidate) {
	m := c.Manifest
	if m.Kind() == manifest.Protocol && m.Transport == manifest.Subprocess {
		if _, err := subprocess.Resolve(c.Dir, m.Exec); err != nil {
			v.add(c.Name, Wrong, "cannot start: "+err.Error(), "")
			return
		}
	}
	v.add(c.Name, OK, strings.TrimSpace(m.Version+" "+string(c.Scope)+", "+string(m.Kind())), "")
}

// shown is an error with the lines of the file that it is about.
func shown(err error) string {
	var file *schemas.FileError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &file):
		return strings.TrimRight(file.Render(), "\n")
	}
	return err.Error()
}

// maxFindings is how many tokens of a theme are named.
const maxFindings = 5

// theme looks whether the chosen one can be read.
func (v *visit) theme() {
	name := v.w.Settings.Config.Theme
	t, problems, err := v.chosenTheme(name)
	if err != nil {
		v.add("chosen", Wrong, err.Error(), "choose one with: zot config set theme NAME")
		return
	}
	v.add("chosen", Info, orElse(name, "auto"), "")
	for _, p := range problems {
		v.add(t.Name, Hint, fmt.Sprintf("%s:%d:%d: %s", t.Path, p.Line, p.Column, p.Message), p.Remedy)
	}
	findings := theme.Check(t, nil)
	if len(findings) == 0 {
		v.add("contrast", OK, "every colour can be read on the backgrounds it is meant for", "")
		return
	}
	for _, f := range findings[:min(len(findings), maxFindings)] {
		v.add("contrast", v.weight(t, f), f.String(), "")
	}
	if rest := len(findings) - maxFindings; rest > 0 {
		v.add("contrast", v.weight(t, findings[maxFindings]), fmt.Sprintf("and %d more", rest), "")
	}
}

// weight is less where a theme is used on the kind of background it was not
// made for.
func (v *visit) weight(t *theme.Theme, f theme.Finding) State {
	if t.Only != "" && f.Variant != t.Only {
		return Hint
	}
	return Wrong
}

// chosenTheme opens the theme that the setting names.
func (v *visit) chosenTheme(name string) (*theme.Theme, []schemas.Problem, error) {
	switch name {
	case "", "auto", "default", "system", "dark", "light":
		name = theme.DefaultName
	}
	return theme.Open(name, v.w.Home.ThemesDir(), v.bundles())
}

// bundles are the extensions whose themes can be chosen.
func (v *visit) bundles() []theme.Bundle {
	plan, err := v.w.Extensions(nil, false, v.Version)
	if err != nil {
		return nil
	}
	var out []theme.Bundle
	for _, c := range plan.Loading() {
		out = append(out, theme.Bundle{Extension: c.Name, Dir: c.Dir})
	}
	return out
}

// skills counts what was found, and names each SKILL.md that is broken.
func (v *visit) skills() {
	if v.Skills == nil {
		return
	}
	set := v.Skills(v.w)
	v.add("skills", OK, fmt.Sprintf("%d, of which %d come with zot", len(set.Skills), len(set.Skills)-len(set.ForUser())), "")
	for _, s := range set.Shadowed {
		v.add("shadowed", Info, fmt.Sprintf("%s in %s: another of this name ranks higher", s.Skill.Name, s.Skill.Path), "")
	}
	for _, p := range set.Problems {
		v.add("broken", Wrong, p.String(), "mend the file; zot skills lists all")
	}
}

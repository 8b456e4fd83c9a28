package extcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// examine puts together what the start showed. Problems of places belong to a
// report on all.
func examine(r *runcmd.Rehearsal, about []*discovery.Candidate, all bool) report {
	out := report{Extensions: []diagnosis{}}
	if all {
		for _, err := range r.Found().Problems {
			out.Problems = append(out.Problems, err.Error())
		}
		out.Problems = append(out.Problems, r.Notices()...)
		for _, dir := range r.Found().Bare {
			out.Notes = append(out.Notes, bareText(dir))
		}
	}
	running := map[string]extension.Status{}
	for _, s := range r.Status() {
		running[s.Dir] = s
	}
	out.Wrong = len(out.Problems)
	for _, c := range about {
		d := diagnose(r, c, running)
		d.Wrong = d.Status.wrong()
		if d.Wrong {
			out.Wrong++
		}
		out.Extensions = append(out.Extensions, d)
	}
	return out
}

func diagnose(r *runcmd.Rehearsal, c *discovery.Candidate, running map[string]extension.Status) diagnosis {
	d := diagnosis{Name: c.Name, Scope: c.Scope, Dir: c.Dir}
	if m := c.Manifest; m != nil {
		d.Version, d.Kind, d.Transport, d.Exec = m.Version, m.Kind(), m.Transport, m.Exec
		d.Faults, d.warningFaults = c.Warnings, true
		for _, p := range c.Warnings {
			d.faultText += schemas.Render(p, m.File, m.Text)
		}
	}
	switch c.State {
	case discovery.Invalid:
		d.invalid(c)
	case discovery.Disabled:
		d.Status, d.Reason = statusDisabled, c.Reason
	case discovery.Shadowed:
		d.Status, d.Reason, d.ShadowedBy = statusShadowed, c.Reason, c.By.Dir
	case discovery.Held:
		d.held(r, c)
	default:
		d.loaded(r, c, running[c.Dir])
	}
	return d
}

func (d *diagnosis) invalid(c *discovery.Candidate) {
	d.Status, d.Error = statusError, c.Reason
	var file *schemas.FileError
	switch {
	case errors.As(c.Err, &file):
		d.Faults, d.faultText, d.warningFaults = file.Problems, file.Render(), false
	case c.Err != nil:
		d.Error = c.Err.Error()
	}
}

// held says who holds it back: the policy with its decision, or the settings.
func (d *diagnosis) held(r *runcmd.Rehearsal, c *discovery.Candidate) {
	d.Status, d.Reason = statusHeld, c.Reason
	if decision, ok := r.Held(c); ok {
		d.Reason, d.Remedy = fmt.Sprintf("%s (%s)", decision.Reason, decision.By), decision.Remedy
	} else {
		d.Status = statusDisabled
	}
}

// states are the words for how a start went.
var states = map[extension.State]status{
	extension.StateReady: statusOK, extension.StateAutoReady: statusAuto, extension.StateLateReady: statusLate,
	extension.StateFailed: statusError,
}

// loaded reports on an extension that was started, or that runs nothing.
func (d *diagnosis) loaded(r *runcmd.Rehearsal, c *discovery.Candidate, s extension.Status) {
	if decision, ok := r.Policy().Load(c); ok {
		for _, w := range decision.Warnings {
			d.note("%s", w.Message)
		}
	}
	switch c.Manifest.Kind() {
	case manifest.ThemeOnly:
		d.Status = statusTheme
	case manifest.SkillOnly:
		d.Status = statusSkill
	default:
		d.started(s)
		d.walls(r, c, s)
		d.refused(r, c)
	}
	d.alive = d.Status != statusError && d.Status != statusNotReady
	if d.alive && d.Status != statusLate && len(d.Warnings)+len(d.Faults) > 0 {
		d.Status = statusWarning
	}
}

func (d *diagnosis) started(s extension.Status) {
	known := false
	if d.Status, known = states[s.State]; !known {
		d.Status = statusNotReady
	}
	d.Log, d.HelloName, d.Withheld = s.LogPath, s.HelloName, s.Withheld
	d.Error = strings.TrimSuffix(s.Error, "\nlog: "+s.LogPath)
	d.Events, d.Intercepts, d.Capabilities = s.Observes, s.Intercepts, s.Capabilities
	d.Commands, d.Tools = registrations(s.Commands), registrations(s.Tools)
	if s.State != extension.StateFailed && s.StartTime > 0 {
		ms := (s.LaunchTime + s.StartTime).Milliseconds()
		d.StartMillis = &ms
	}
	d.Warnings = s.Warnings
	for _, text := range s.Messages {
		if !slices.Contains(s.Warnings, text) {
			d.note("%s", text)
		}
	}
}

func registrations(all []extension.Registration) (out []registration) {
	for _, r := range all {
		by := r.By
		if by == "" {
			by = "zot"
		}
		if r.Active {
			by = ""
		}
		out = append(out, registration{Name: r.Name, Active: r.Active, By: by, Deferred: r.Deferred})
	}
	return out
}

// walls says what holds the extension, as far as that is less than it asks for.
func (d *diagnosis) walls(r *runcmd.Rehearsal, c *discovery.Candidate, s extension.Status) {
	if b := r.Policy().Bound(c); b != nil {
		d.Unenforced = slices.Clone(b.Subject().Unenforced)
	}
	if c.Manifest.Transport == manifest.WASI {
		d.wasm(r, c, s)
	}
}

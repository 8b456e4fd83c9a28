package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
)

// The answers to the question about a project, in the order shown.
const (
	trustNone = iota
	trustOnce
	trustAlways
)

// askTrust asks whether what the project brings may act, where something is
// there that its user has not approved, and then loads it.
func (d *desk) askTrust(ctx context.Context) {
	defer d.run.texts.settle()
	more := d.settle(ctx, d.run.planner.workspace())
	d.run.planner.answered(more)
	if !more {
		return
	}
	if _, err := d.run.host.Reload(ctx, ""); err != nil {
		d.run.host.Publish(event.Notice{Level: "error", Text: "loading the project's extensions: " + err.Error()})
	}
}

// settle asks about the project, and then about each extension that a policy or
// the mode wants asked about, and reports whether more may load than before.
func (d *desk) settle(ctx context.Context, w *workspace.Workspace) bool {
	more := d.settleTrust(ctx, w)
	if more {
		if fresh, err := d.run.w.Again(); err == nil {
			w = fresh
		}
	}
	return d.settleLoads(ctx, w) || more
}

// settleTrust asks where there is something to ask, and reports whether more may
// act than before. What is agreed to is what was shown: bytes that changed while
// the question stood are asked about again.
func (d *desk) settleTrust(ctx context.Context, w *workspace.Workspace) bool {
	found, g, err := w.Judge(d.run.flags.Ext, d.run.flags.NoExt, version.Number)
	if err != nil || g.Bundle == nil {
		return false
	}
	texts := d.run.texts.held(w)
	if g.Change().None() && len(texts) == 0 {
		return false
	}
	if _, never := g.Set.NeverTrust(); never {
		return false
	}
	switch d.question(ctx, trustAsk(w.ProjectRoot, found, g, texts)) {
	case trustAlways:
		if err = g.Approve(g.Agreed(time.Now())); err == nil {
			d.run.w.Agree(nil)
		}
	case trustOnce:
		d.run.w.Agree(g.Agreed(time.Now()))
	default:
		return false
	}
	if err != nil {
		d.run.host.Publish(event.Notice{Level: "error", Text: "trusting this project: " + err.Error()})
	}
	return err == nil
}

// question puts an ask on the screen and waits; a question that is withdrawn
// counts as refused.
func (d *desk) question(ctx context.Context, ask tui.Ask) int {
	answer := make(chan int, 1)
	ask.Answer = func(option int) { answer <- option }
	ask.Withdrawn = ctx.Done()
	select {
	case d.asks <- ask:
	case <-ctx.Done():
		return ask.Cancel
	}
	select {
	case option := <-answer:
		return option
	case <-ctx.Done():
		return ask.Cancel
	}
}

// trustAsk is the question about a project: what it would start, how, with
// which rights, and which settings it would change. Of one that was approved
// before it shows only what goes beyond that.
func trustAsk(root string, found discovery.Plan, g *gate.Gate, texts []string) tui.Ask {
	title := "this project brings extensions and settings of its own; may they act?"
	switch {
	case g.Approved != nil:
		title = "this project changed since you agreed; may it act as it is now?"
	case onlyTexts(g.Change()):
		title = "this project brings instructions for the model; may it follow them?"
	}
	options := []dialog.Option{{Label: "no, load none of it"}, {Label: "yes, this time"}}
	if !g.Identity.Session { // a home folder is no project
		options = append(options, dialog.Option{Label: "yes, and remember it", Detail: "until the files, rights or settings change"})
	}
	return tui.Ask{
		Kind: dialog.Trust, Title: title, Cwd: root, Body: trustBody(found, g, texts),
		Options: options, Default: trustNone, Cancel: trustNone,
	}
}

// onlyTexts tells whether all there is to ask about is what the model is told.
func onlyTexts(c trust.Change) bool {
	told := func(file string) bool { return gate.IsInstructions(file) || gate.IsSkill(file) }
	c.Files = slices.DeleteFunc(slices.Clone(c.Files), told)
	return c.None()
}

func trustBody(found discovery.Plan, g *gate.Gate, texts []string) []string {
	body := slices.Clone(texts)
	change := g.Change()
	for _, c := range found.Candidates {
		ext, ok := g.Bundle.Extensions[c.Name]
		if !ok || c.Manifest == nil {
			continue
		}
		if lines := extensionLines(c, ext, change, g); len(lines) > 0 {
			body = append(body, lines...)
		}
	}
	for _, s := range change.Settings {
		body = append(body, "setting "+s)
	}
	for _, p := range change.Policy {
		body = append(body, "policy: "+p)
	}
	for _, f := range change.Files {
		if g.Approved != nil {
			body = append(body, "changed file "+f)
		}
	}
	return printable(body)
}

// printable makes lines with text from strangers fit to be shown.
func printable(lines []string) []string {
	for i, line := range lines {
		lines[i] = schemas.Printable(line)
	}
	return lines
}

// extensionLines describes one extension, as far as it was not approved.
func extensionLines(c *discovery.Candidate, ext trust.Extension, change trust.Change, g *gate.Gate) []string {
	started := slices.Contains(change.Started, c.Name)
	rights := change.Rights[c.Name]
	if !started && len(rights) == 0 {
		return nil
	}
	argv, err := json.Marshal(append([]string{c.Manifest.Exec}, c.Manifest.Args...))
	if err != nil {
		argv = []byte("?")
	}
	lines := []string{fmt.Sprintf("extension %s (%s) from %s", c.Name, c.Manifest.Transport, g.Claimed(c))}
	if digest := g.DigestOf(c); digest != "" {
		lines = append(lines, "  digest "+digest)
	}
	if started {
		lines = append(lines, "  starts "+string(argv))
		for _, name := range slices.Sorted(maps.Keys(c.Manifest.Env)) {
			lines = append(lines, "  with "+name+"="+c.Manifest.Env[name])
		}
	}
	if ext.Permissions != nil && ext.Permissions.All {
		lines = append(lines, "  may do whatever you may: files, network, programs, credentials")
	} else {
		var words []string
		for _, a := range rights {
			words = append(words, a.String())
		}
		sort.Strings(words)
		lines = append(lines, "  asks for "+strings.Join(words, ", "))
	}
	if held := workspace.Enforced(c, ext.Permissions); len(held) > 0 {
		lines = append(lines, "  held to that by "+strings.Join(held, ", "))
	}
	if b := g.Bound(c); b != nil {
		for _, u := range b.Subject().Unenforced {
			lines = append(lines, "  not enforced here: "+u)
		}
	}
	if d, ok := g.Load(c); ok && d.Verdict == policies.Deny {
		lines = append(lines, "  would not load even so: "+gate.Sentence(d))
	}
	return lines
}

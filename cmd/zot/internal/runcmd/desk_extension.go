package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/tui"
)

// Extensions implements tui.Extensions.
func (d *desk) Extensions(context.Context) ([]tui.ExtensionRow, error) {
	found, err := d.run.w.Extensions(d.run.flags.Ext, d.run.flags.NoExt, version.Number)
	if err != nil {
		return nil, err
	}
	running := map[string]tui.ExtensionRow{}
	for _, s := range d.run.host.Extensions().Status() {
		running[s.Name] = tui.ExtensionRow{
			State: string(s.State), Detail: s.Error, Commands: len(s.Commands), Tools: len(s.Tools),
		}
	}
	var rows []tui.ExtensionRow
	for _, c := range found.Candidates {
		row := tui.ExtensionRow{State: string(c.State), Detail: c.Reason}
		if r, ok := running[c.Name]; ok && c.State == discovery.Load {
			row = r
		}
		row.Name, row.Source = c.Name, string(c.Scope)
		if c.Manifest != nil {
			row.Version, row.Theme = c.Manifest.Version, c.Manifest.Theme != ""
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Reload implements tui.Extensions. What of the project changed since its user
// agreed, and what else is to be asked about, is asked about first.
func (d *desk) Reload(ctx context.Context, name string) (tui.ReloadReport, error) {
	if w, err := d.run.w.Again(); err == nil {
		d.settle(ctx, w)
	}
	r, err := d.run.host.Reload(ctx, name)
	out := tui.ReloadReport{Stopped: r.Stopped, Loaded: r.Loaded, Ready: r.Ready}
	for _, f := range r.Errors {
		out.Errors = append(out.Errors, f.Name+": "+f.Err.Error())
	}
	return out, err
}

// Skills implements tui.Skills.
func (d *desk) Skills(context.Context) ([]tui.SkillRow, error) {
	var rows []tui.SkillRow
	for _, s := range d.run.texts.skills().ForUser() {
		rows = append(rows, tui.SkillRow{Name: s.Name, Description: s.Description, Source: string(s.Source)})
	}
	return rows, nil
}

// UseSkill implements tui.Skills.
func (d *desk) UseSkill(_ context.Context, name, args string) error {
	text, err := d.run.useSkill(name, args)
	if err != nil {
		return err
	}
	d.run.host.Submit(host.Prompt{Text: text})
	return nil
}

// Shell implements tui.Shell: the command runs as the bash tool runs one, and
// goes along with the next prompt.
func (d *desk) Shell(ctx context.Context, line string) (output string, status int, err error) {
	for _, t := range d.run.ownTools() {
		if t.Spec().Name != "bash" {
			continue
		}
		args, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			return "", 0, err
		}
		r, err := t.Run(ctx, tool.Call{ID: "shell", Name: "bash", Args: args})
		if err != nil {
			return "", 0, err
		}
		output = message.TextOf(r.Content)
		if r.IsError {
			status = 1
		}
		d.mu.Lock()
		d.shell = append(d.shell, fmt.Sprintf("I ran `%s`:\n%s", line, strings.TrimSpace(output)))
		d.mu.Unlock()
		return output, status, nil
	}
	return "", 0, fmt.Errorf("this session has no shell")
}

// SetPermissions implements tui.Permissions.
func (d *desk) SetPermissions(_ context.Context, mode string) (string, error) {
	switch mode {
	case "yolo":
		d.run.host.Guard().AllowAll(true)
		return "tools run without asking, for this session; what a policy denies stays denied", nil
	case "ask":
		d.run.host.Guard().AllowAll(false)
		return "tools ask again where the settings say so", nil
	case "jail", "unjail":
		if err := d.run.jail.set(mode == "jail"); err != nil {
			return "", err
		}
		return "jail " + d.run.jail.words(), nil
	}
	return "", fmt.Errorf("this session cannot be put in %s", mode)
}

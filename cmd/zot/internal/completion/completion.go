// Package completion teaches the shell what may stand where on zot's command
// line: names of extensions, providers, models, themes and settings, and the
// values that a setting can have. [Add] goes through the finished tree of
// commands, so that the commands themselves know nothing of it.
//
// Completing never fails and never writes: where something cannot be read,
// there is nothing to offer.
package completion

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/session"
	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/schemas"
)

// Deps is what completing needs from outside.
type Deps struct {
	// Open finds the place to work in; home and cwd are the values of the
	// flags, or empty.
	Open    func(home, cwd string) (*workspace.Workspace, error)
	Version string
}

type complete = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

const plain = cobra.ShellCompDirectiveNoFileComp

// Add teaches root and the commands below it. Commands that are not there are
// passed over.
func Add(root *cobra.Command, d Deps) {
	for path, fn := range map[string]complete{
		"ext remove": d.names, "ext enable": d.names, "ext disable": d.names, "ext update": d.names, "ext logs": d.names,
		"ext lock": d.names, "policy explain": first(d.names),
		"config get": first(d.keys), "config show": first(d.keys), "config unset": first(d.keys), "config set": d.assignment,
		"config schema": first(schemaNames), "login": first(d.keyed), "logout": first(d.keyed),
		"sessions show": first(d.sessions), "sessions fork": first(d.sessions), "sessions export": first(d.sessions),
		"sessions rename": first(d.sessions), "sessions remove": d.sessions,
		"skills pin": first(d.skills), "skills unpin": first(d.skills),
	} {
		if cmd := find(root, path); cmd != nil {
			cmd.ValidArgsFunction = fn
		}
	}
	d.flags(root)
}

// find returns the command at a path, or nil.
func find(root *cobra.Command, path string) *cobra.Command {
	at := root
	for name := range strings.FieldsSeq(path) {
		i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
		if i < 0 {
			return nil
		}
		at = at.Commands()[i]
	}
	return at
}

// flags teaches the values of flags, wherever a flag of that name is.
func (d Deps) flags(cmd *cobra.Command) {
	modes := words(policies.ModeNames()...)
	for name, fn := range map[string]complete{
		"model": d.models, "provider": d.providers, "tools": words("read", "write", "edit", "bash", "skill"),
		"reasoning": words("off", "minimal", "low", "medium", "high", "xhigh", "max"),
		"ext":       folders, "cwd": folders, "home": folders,
		"layer": words("user", "project", "local", "user-project"), "mode": modes, "policy-mode": modes,
		"schema": schemaNames, "update": d.names, "session": d.sessions,
	} {
		if f := cmd.LocalFlags().Lookup(name); f != nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(name, fn) // it fails only where there is one already
		}
	}
	for _, sub := range cmd.Commands() {
		d.flags(sub)
	}
}

// first completes only the first argument.
func first(fn complete) complete {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, plain
		}
		return fn(cmd, args, typed)
	}
}

func words(all ...string) complete {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return all, plain }
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func schemaNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return schemas.Names(), plain
}

// described is a word with what it means, on one line and without what could
// reach the terminal.
func described(word, meaning string) string {
	if meaning == "" {
		return word
	}
	return word + "\t" + schemas.Printable(meaning)
}

// open finds the place that the flags typed so far mean.
func (d Deps) open(cmd *cobra.Command) (*workspace.Workspace, bool) {
	value := func(name string) string {
		if f := cmd.Flag(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	w, err := d.Open(value("home"), value("cwd"))
	return w, err == nil
}

// names offers the extensions that are there.
func (d Deps) names(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, ok := d.open(cmd)
	if !ok {
		return nil, plain
	}
	found, err := w.Extensions(nil, false, d.Version)
	if err != nil {
		return nil, plain
	}
	var out []string
	for _, c := range found.Candidates {
		if c.Manifest != nil && !slices.Contains(args, c.Name) {
			out = append(out, described(c.Name, c.Manifest.Description))
		}
	}
	return out, plain
}

// sessions offers the conversations of the folder, the latest first.
func (d Deps) sessions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, ok := d.open(cmd)
	if !ok {
		return nil, cobra.ShellCompDirectiveDefault
	}
	infos, _ := session.NewStore(w.Home.SessionsDir()).List(w.CWD) // what can be read of them
	var out []string
	for _, i := range infos {
		if !slices.Contains(args, i.ID) {
			out = append(out, described(i.ID, i.Name()))
		}
	}
	return out, cobra.ShellCompDirectiveKeepOrder // and files
}

// skills offers those that the user can call.
func (d Deps) skills(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, ok := d.open(cmd)
	if !ok {
		return nil, plain
	}
	var out []string
	for _, s := range runcmd.Skills(w).ForUser() {
		out = append(out, described(s.Name, s.Description))
	}
	return out, plain
}

func (d Deps) catalogue(cmd *cobra.Command) *provider.Catalogue {
	w, ok := d.open(cmd)
	if !ok {
		return provider.Builtin()
	}
	c, _ := runcmd.Catalogue(w) // what can be read of it
	return c
}

func (d Deps) providers(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, p := range d.catalogue(cmd).Providers() {
		if p.ID != provider.DemoID {
			out = append(out, described(p.ID, p.Name))
		}
	}
	return out, plain
}

// keyed offers the providers that want a key.
func (d Deps) keyed(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, p := range d.catalogue(cmd).Providers() {
		if p.NeedsKey {
			out = append(out, described(p.ID, p.Name))
		}
	}
	return out, plain
}

// models offers those of the provider that was typed before, or all.
func (d Deps) models(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c := d.catalogue(cmd)
	want := ""
	if f := cmd.Flag("provider"); f != nil && f.Value.String() != "" {
		if info, ok := c.Provider(f.Value.String()); ok {
			want = info.ID
		}
	}
	var out []string
	for _, p := range c.Providers() {
		if want != "" && p.ID != want || p.ID == provider.DemoID {
			continue
		}
		for _, m := range c.Models(p.ID) {
			out = append(out, described(m.ID, m.Name+", "+p.Name))
		}
	}
	return out, plain
}

// keys offers the names of settings. Those with a star are offered for the
// names that are in use.
func (d Deps) keys(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	out := map[string]string{}
	for _, k := range config.Keys() {
		if !strings.Contains(k.Name, "*") {
			out[k.Name] = k.Doc
		}
	}
	if w, ok := d.open(cmd); ok {
		for _, e := range w.Settings.Entries() {
			out[config.FormatPath(e.Path)] = e.Key.Doc
		}
		for _, name := range slices.Sorted(maps.Keys(w.Settings.Config.Providers)) {
			for _, k := range config.Keys() {
				if rest, ok := strings.CutPrefix(k.Name, "providers.*."); ok && !strings.Contains(rest, "*") {
					out[config.FormatPath([]string{"providers", name, rest})] = k.Doc
				}
			}
		}
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(out)) {
		lines = append(lines, described(name, out[name]))
	}
	return lines, plain
}

// assignment offers a setting and then the values that it can have.
func (d Deps) assignment(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return d.keys(cmd, args, typed)
	case 1:
		return d.values(cmd, strings.TrimPrefix(args[0], "+"))
	}
	return nil, plain
}

func (d Deps) values(cmd *cobra.Command, name string) ([]string, cobra.ShellCompDirective) {
	switch name {
	case "theme":
		return d.themes(cmd)
	case "model":
		return d.models(cmd, nil, "")
	case "provider":
		return d.providers(cmd, nil, "")
	case "extensions.disabled":
		return d.names(cmd, nil, "")
	}
	for _, k := range config.Keys() {
		if k.Name != name {
			continue
		}
		switch {
		case k.Type == config.Bool:
			return []string{"true", "false"}, plain
		case k.Type == config.Path || k.Type == config.PathList:
			return nil, cobra.ShellCompDirectiveDefault
		}
		return k.Enum, plain
	}
	return nil, plain
}

// themes offers those that can be chosen.
func (d Deps) themes(cmd *cobra.Command) ([]string, cobra.ShellCompDirective) {
	out := []string{"auto", "dark", "light"}
	dir := ""
	var bundles []theme.Bundle
	if w, ok := d.open(cmd); ok {
		dir = w.Home.ThemesDir()
		if found, err := w.Extensions(nil, false, d.Version); err == nil {
			for _, c := range found.Loading() {
				bundles = append(bundles, theme.Bundle{Extension: c.Name, Dir: c.Dir})
			}
		}
	}
	sources, _ := theme.Sources(dir, bundles)
	for _, s := range sources {
		out = append(out, described(s.Name, s.Description))
	}
	return out, plain
}

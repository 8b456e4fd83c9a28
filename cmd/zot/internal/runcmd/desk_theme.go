package runcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/tui"
)

// themeBundles are the extensions that load and may bring a theme.
func (d *desk) themeBundles() []theme.Bundle {
	found, err := d.run.w.Extensions(d.run.flags.Ext, d.run.flags.NoExt, version.Number)
	if err != nil {
		return nil // the planner reports it
	}
	var all []theme.Bundle
	for _, c := range found.Loading() {
		if c.Manifest.Theme != "" {
			all = append(all, theme.Bundle{Extension: c.Name, Dir: c.Dir})
		}
	}
	return all
}

// Themes implements tui.Themes.
func (d *desk) Themes(context.Context) ([]tui.ThemeRow, error) {
	sources, problems := theme.Sources(d.run.w.Home.ThemesDir(), d.themeBundles())
	for _, p := range problems {
		d.run.host.Publish(event.Notice{Level: "warn", Text: p.Error()})
	}
	var rows []tui.ThemeRow
	for _, s := range sources {
		rows = append(rows, tui.ThemeRow{Name: s.Name, Description: describe(s)})
	}
	return rows, nil
}

func describe(s theme.Source) string {
	switch {
	case s.Extension != "" && s.Description != "":
		return "from extension " + s.Extension + " — " + s.Description
	case s.Extension != "":
		return "from extension " + s.Extension
	}
	return s.Description
}

// LoadTheme implements tui.Themes. What of a theme cannot be used is said, and
// the rest of it holds.
func (d *desk) LoadTheme(_ context.Context, name string) (*theme.Theme, error) {
	t, problems, err := theme.Open(name, d.run.w.Home.ThemesDir(), d.themeBundles())
	if err != nil {
		return nil, err
	}
	for _, p := range problems {
		d.run.host.Publish(event.Notice{Level: "warn", Text: fmt.Sprintf("theme %s: %s", name, p)})
	}
	return t, nil
}

// SaveTheme implements tui.Themes.
func (d *desk) SaveTheme(_ context.Context, name string) error {
	home := d.run.w.Home
	return config.Set(home, home.ConfigFile(), config.MustPath("theme"), name)
}

// Report implements tui.Reports.
func (d *desk) Report(ctx context.Context, topic, args string) (string, error) {
	switch topic {
	case "config", "settings":
		return d.reportConfig(), nil
	case "policy", "trust":
		return d.reportPolicy(), nil
	case "doctor":
		return d.reportDoctor(ctx, args), nil
	}
	return "", errors.New("run `zot " + topic + "` in a shell for this")
}

func (d *desk) reportConfig() string {
	text := "| setting | value | set by |\n|---|---|---|\n"
	for _, e := range d.run.w.Settings.Entries() {
		text += fmt.Sprintf("| %s | `%s` | %s |\n", config.FormatPath(e.Path), e.Literal(), e.Origin)
	}
	return text
}

// reportPolicy says what of the extensions may load and why not.
func (d *desk) reportPolicy() string {
	g, _ := d.run.planner.decisions()
	if g == nil {
		return "nothing was decided yet"
	}
	mode, by := g.Set.Mode()
	text := fmt.Sprintf("mode **%s**, by %s\n\n", mode, by)
	found, _, err := d.run.w.Judge(d.run.flags.Ext, d.run.flags.NoExt, version.Number)
	if err != nil {
		return text + err.Error()
	}
	status, _ := heldBack(found, g)
	for _, h := range status.Held {
		text += "- " + schemas.Printable(heldLine(h)) + "\n"
	}
	if len(status.Held) == 0 {
		text += "nothing is held back\n"
	}
	return text
}

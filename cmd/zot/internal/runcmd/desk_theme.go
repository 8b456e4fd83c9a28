package runcmd

import (
	"context"
	"fmt"

	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/theme"
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
	return d.writeSetting(config.MustPath("theme"), &name)
}

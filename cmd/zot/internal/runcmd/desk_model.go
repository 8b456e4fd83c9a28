package runcmd

import (
	"context"

	"github.com/patriceckhart/zot/runtime/auth"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/tui"
)

// Models implements tui.Models.
func (d *desk) Models(ctx context.Context) ([]tui.ModelRow, error) {
	catalogue, err := d.run.connect.catalogue()
	if err != nil {
		return nil, err
	}
	// What services say now is there the next time: nobody waits for a network.
	go d.run.connect.refreshLive(context.WithoutCancel(ctx), catalogue) // ends within liveTime
	var rows []tui.ModelRow
	for _, p := range catalogue.Providers() {
		note := ""
		if p.NeedsKey && !d.hasKey(p) {
			note = "no key: /login " + p.ID
		}
		for _, m := range catalogue.Models(p.ID) {
			rows = append(rows, tui.ModelRow{
				Provider: p.ID, ID: m.ID, Name: m.Name, ContextWindow: m.Context, Note: note,
			})
		}
	}
	return rows, nil
}

func (d *desk) hasKey(p provider.Info) bool {
	_, err := d.run.connect.store.Lookup(context.Background(), auth.Query{Provider: p.ID, Env: p.KeyEnv})
	return err == nil || d.run.flags.APIKey != ""
}

// SetModel implements tui.Models.
func (d *desk) SetModel(_ context.Context, name, id string) error {
	if err := d.run.host.SetModel(name, id); err != nil {
		return err
	}
	d.refresh()
	return nil
}

// Accounts implements tui.Accounts.
func (d *desk) Accounts(ctx context.Context) ([]tui.AccountRow, error) {
	catalogue, err := d.run.connect.catalogue()
	if err != nil {
		return nil, err
	}
	var rows []tui.AccountRow
	for _, p := range catalogue.Providers() {
		row := tui.AccountRow{Provider: p.ID, Name: p.Name}
		if len(p.KeyEnv) > 0 {
			row.Env = p.KeyEnv[0]
		}
		if !p.NeedsKey {
			row.Note = "needs no key"
		}
		if cred, err := d.run.connect.store.Lookup(ctx, auth.Query{Provider: p.ID, Env: p.KeyEnv}); err == nil {
			row.LoggedIn, row.From = true, cred.Source
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Login implements tui.Accounts.
func (d *desk) Login(_ context.Context, name, key string) error {
	if err := d.run.connect.store.SetKey(name, auth.NewSecret(key)); err != nil {
		return err
	}
	d.refresh()
	return nil
}

// Logout implements tui.Accounts.
func (d *desk) Logout(_ context.Context, name string) error {
	names := []string{name}
	if name == "all" {
		entries, err := d.run.connect.store.Entries()
		if err != nil {
			return err
		}
		names = nil
		for _, e := range entries {
			names = append(names, e.Provider)
		}
	}
	for _, n := range names {
		if _, err := d.run.connect.store.Remove(n); err != nil {
			return err
		}
	}
	return nil
}

// Compact implements tui.Compactor.
func (d *desk) Compact(ctx context.Context, instructions string) error {
	return d.run.host.SubmitCompact(instructions).Wait(ctx)
}

// Clear implements tui.Clearer.
func (d *desk) Clear(context.Context) error { return d.run.host.Clear() }

// Aside implements tui.Aside.
func (d *desk) Aside(ctx context.Context, question string, onText func(string)) error {
	return d.run.host.Aside(ctx, question, onText)
}

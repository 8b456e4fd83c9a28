package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/cmd/zot/internal/names"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/tui"
)

// Settings implements tui.Settings: every setting that a user can make, with
// what holds now.
func (d *desk) Settings(context.Context) ([]tui.SettingRow, error) {
	w, err := d.run.w.Again()
	if err != nil {
		return nil, err
	}
	set := map[string][]config.Entry{} // by the name of the key, stars and all
	for _, e := range w.Settings.Entries() {
		set[e.Key.Name] = append(set[e.Key.Name], e)
	}
	var rows []tui.SettingRow
	for _, k := range config.Keys() {
		if !k.Layers.Has(config.User) {
			continue
		}
		if len(set[k.Name]) == 0 && !strings.Contains(k.Name, "*") {
			rows = append(rows, tui.SettingRow{Key: k.Name, Doc: k.Doc, Options: optionsOf(k)})
		}
		for _, e := range set[k.Name] {
			rows = append(rows, tui.SettingRow{
				Key: config.FormatPath(e.Path), Value: typed(e), From: e.Origin.String(), Doc: k.Doc,
				Options: optionsOf(k), Own: e.Layer == config.User,
			})
		}
	}
	return rows, nil
}

func optionsOf(k config.Key) []string {
	if k.Type == config.Bool {
		return []string{"true", "false"}
	}
	return k.Enum
}

// typed is a value as one would type it: text without its quotes.
func typed(e config.Entry) string {
	literal := e.Literal()
	var text string
	if json.Unmarshal([]byte(literal), &text) == nil {
		return text
	}
	return literal
}

// SaveSetting implements tui.Settings.
func (d *desk) SaveSetting(_ context.Context, key string, value *string) (tui.Saved, error) {
	path, err := config.ParsePath(key)
	if err != nil {
		return tui.Saved{}, err
	}
	doubt, err := d.lookUp(path, value)
	if err != nil {
		return tui.Saved{}, err
	}
	if err := d.writeSetting(path, value); err != nil {
		return tui.Saved{}, err
	}
	w, err := d.run.w.Again()
	if err != nil {
		return tui.Saved{}, err
	}
	saved := tui.Saved{Options: d.options("", nil, &w.Settings.Config), Note: doubt}
	if other := deciderNote(w, path); other != "" {
		saved.Note = strings.TrimPrefix(saved.Note+"; "+other, "; ")
	}
	switch {
	case key == "jail":
		err = d.run.jail.set(w.Settings.Config.Jail)
	case key == "ui.altScreen" || !live(key):
		saved.Note = strings.TrimPrefix(saved.Note+"; it holds from the next start", "; ")
	}
	return saved, err
}

// lookUp looks up what a value names that is to be saved, as zot config set does:
// it is an error, or a doubt, or empty where all is there.
func (d *desk) lookUp(path []string, value *string) (doubt string, err error) {
	if value == nil || !names.Names(path) {
		return "", nil
	}
	v, err := config.FileValue(config.User, path, *value)
	if err != nil {
		return "", err
	}
	places := names.Places{Workspace: d.run.w, Version: version.Number, Catalogue: Catalogue}
	found, err := places.Save(path, v)
	if found == nil {
		return "", err
	}
	return found.Error(), nil
}

// writeSetting changes one value of the user's own settings.
func (d *desk) writeSetting(path []string, value *string) error {
	home := d.run.w.Home
	file, err := d.run.w.ConfigOptions().FileOf(config.User)
	if err != nil {
		return err
	}
	if value == nil {
		_, err := config.Unset(home, file, path)
		return err
	}
	v, err := config.FileValue(config.User, path, *value)
	if err != nil {
		return err
	}
	return config.Set(home, file, path, v)
}

// live reports whether the interface goes by a setting at once.
func live(key string) bool {
	return key == "theme" || strings.HasPrefix(key, "ui.") || strings.HasPrefix(key, "keymap.")
}

// deciderNote says where another layer than the user's own decides.
func deciderNote(w *workspace.Workspace, path []string) string {
	e, ok := w.Settings.Effective(path)
	if !ok || e.Layer <= config.User {
		return ""
	}
	return fmt.Sprintf("%s still holds, from %s", e.Literal(), e.Origin)
}

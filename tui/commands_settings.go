package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
)

func settingsCommand() builtin {
	c := def("config", "[key [value]]", "see and change settings", (*Model).settings)
	c.aliases = []string{"settings"}
	c.complete = settingArgs
	return c
}

// settingArgs offers the settings, and the values of those that have few.
func settingArgs(ctx context.Context, rt Runtime) ([]choice, error) {
	s, ok := rt.(Settings)
	if !ok {
		return nil, nil
	}
	rows, err := s.Settings(ctx)
	var out []choice
	for _, r := range rows {
		out = append(out, choice{text: screen.Line(r.Key), detail: screen.Line(r.Value)})
		for _, v := range r.Options {
			out = append(out, choice{text: screen.Line(r.Key + " " + v), detail: screen.Line(r.Doc)})
		}
	}
	return out, err
}

// settings opens the dialog, or saves a value at once.
func (m *Model) settings(args string) {
	s, ok := need[Settings](m, "changing settings")
	if !ok {
		return
	}
	key, value, given := strings.Cut(strings.TrimSpace(args), " ")
	if given {
		value = strings.TrimSpace(value)
		m.saveSetting(s, key, &value, nil)
		return
	}
	openLater(m, "settings", s.Settings, func(m *Model, rows []SettingRow) dialog.Dialog {
		return newSettingsList(m, s, rows).picker.Filter(key)
	})
}

// settingsList is the dialog of all settings.
type settingsList struct {
	m      *Model
	source Settings
	rows   []SettingRow
	picker *dialog.Picker
}

func newSettingsList(m *Model, source Settings, rows []SettingRow) *settingsList {
	l := &settingsList{m: m, source: source, rows: rows}
	l.picker = &dialog.Picker{Title: "settings", Hint: "enter changes, ctrl+x resets, esc closes", Items: settingItems(rows),
		About: func(i int) string { return l.rows[i].Doc },
		Extra: map[string]func(int) bool{
			"enter":  func(i int) bool { l.change(l.rows[i]); return false },
			"ctrl+x": func(i int) bool { l.reset(l.rows[i]); return false },
		}}
	return l
}

func settingItems(rows []SettingRow) []dialog.Item {
	var items []dialog.Item
	for _, r := range rows {
		value := r.Value
		if value == "" {
			value = "not set"
		}
		items = append(items, dialog.Item{Label: r.Key, Detail: value + "  " + r.From, Search: r.Key + " " + r.Doc})
	}
	return items
}

// change asks for another value, in the way that fits the setting.
func (l *settingsList) change(r SettingRow) {
	back := func() { l.m.dialog = l.picker }
	save := func(value string) {
		back()
		l.m.saveSetting(l.source, r.Key, &value, l.refresh)
	}
	switch {
	case slices.Equal(r.Options, []string{"true", "false"}):
		save(map[bool]string{true: "false", false: "true"}[r.Value == "true"])
	case len(r.Options) > 0:
		p := &dialog.Picker{Title: r.Key, Hint: "enter saves, esc goes back", Cancelled: back,
			Pick: func(i int) { save(r.Options[i]) }, About: func(int) string { return r.Doc }}
		for _, o := range r.Options {
			p.Items = append(p.Items, dialog.Item{Label: o})
		}
		l.m.dialog = p.Start(slices.Index(r.Options, r.Value))
	default:
		l.m.dialog = (&dialog.Input{Title: r.Key, Help: r.Doc, Done: save, Cancelled: back}).Set(r.Value)
	}
}

func (l *settingsList) reset(r SettingRow) {
	if !r.Own {
		l.m.status.set(l.m, "", screen.Line(r.Key)+" is not set by you", 2*time.Second)
		return
	}
	l.m.saveSetting(l.source, r.Key, nil, l.refresh)
}

// refresh shows what holds after a change; the mark and the filter stay.
func (l *settingsList) refresh() {
	later(l.m, "", l.source.Settings, func(_ *Model, rows []SettingRow) {
		at := l.picker.Marked()
		l.rows = rows
		l.picker.Replace(settingItems(rows))
		l.picker.Start(at)
	})
}

// saveSetting saves a value, or takes it out, and goes by it from now on.
func (m *Model) saveSetting(s Settings, key string, value *string, then func()) {
	later(m, "", func(ctx context.Context) (Saved, error) { return s.SaveSetting(ctx, key, value) }, func(m *Model, saved Saved) {
		m.prefer(saved.Options)
		text := screen.Line(key) + " saved"
		if saved.Note != "" {
			text += "; " + screen.Line(saved.Note)
		}
		m.status.set(m, "success", text, 5*time.Second)
		if then != nil {
			then()
		}
	})
}

// prefer goes by those options that can change while the interface runs.
func (m *Model) prefer(opt Options) {
	o := &m.opt
	o.Mouse, o.Notify, o.Images, o.AllFiles = opt.Mouse, opt.Notify, opt.Images, opt.AllFiles
	if o.Transcript != opt.Transcript {
		o.Transcript = opt.Transcript
		m.transcript.SetOptions(opt.Transcript)
	}
	o.HistorySize = opt.HistorySize
	m.history.Limit(opt.HistorySize)
	var problems []string
	o.Keys = opt.Keys
	m.keys, problems = keys.NewMap(opt.Keys)
	for _, p := range problems {
		m.transcript.Say("warn", p)
	}
	m.preferTheme(opt.Theme)
}

// preferTheme shows the theme of the settings, unless it is shown already.
func (m *Model) preferTheme(name string) {
	next := m.opt
	next.Theme = name
	l := newLook(next, m.env)
	if l.named != "" {
		if l.named != m.opt.Theme {
			m.opt.Theme = l.named
			m.do(m.loadTheme(l.named))
		}
		return
	}
	m.opt.Theme = ""
	if l.auto { // the terminal has said already, if it does
		l.light, l.asked = m.look.light, m.look.asked
	}
	l.profile = m.look.profile
	m.look = l
	m.relook()
}

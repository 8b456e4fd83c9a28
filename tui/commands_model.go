package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
)

// modelCommands are about who answers, and with which key.
func modelCommands() []builtin {
	model := def("model", "[name]", "pick a model", (*Model).pickModel)
	model.complete = listArgs(Models.Models, func(r ModelRow) choice { return choice{text: r.ID, detail: r.Provider} })
	login := def("login", "[provider]", "keep a key for a provider", (*Model).login)
	login.complete = listArgs(Accounts.Accounts, func(r AccountRow) choice { return choice{text: r.Provider, detail: r.Name} })
	logout := def("logout", "[provider|all]", "forget the key of a provider", (*Model).logout)
	logout.complete = login.complete
	model.stops, login.stops, logout.stops = true, true, true
	jail := def("jail", "", "confine tools to the project", permission("jail"))
	unjail := def("unjail", "", "let tools leave the project", permission("unjail"))
	yolo := def("yolo", "[off]", "run tools without asking; policy still holds", func(m *Model, args string) {
		if strings.TrimSpace(args) == "off" {
			permission("ask")(m, "")
			return
		}
		permission("yolo")(m, "")
	})
	yolo.complete = fixedArgs("off: ask again")
	return []builtin{model, login, logout, jail, unjail, yolo}
}

func permission(mode string) func(*Model, string) {
	return func(m *Model, _ string) {
		if p, ok := need[Permissions](m, "changing permissions"); ok {
			later(m, "", func(ctx context.Context) (string, error) { return p.SetPermissions(ctx, mode) },
				func(m *Model, text string) { m.transcript.Say("", screen.Clean(text)) })
		}
	}
}

func (m *Model) pickModel(name string) {
	models, ok := need[Models](m, "a list of models")
	if !ok {
		return
	}
	set := func(r ModelRow) {
		later(m, "", nothing(func(ctx context.Context) error { return models.SetModel(ctx, r.Provider, r.ID) }),
			func(m *Model, _ struct{}) {
				m.transcript.Say("", fmt.Sprintf("model: %s (%s)", screen.Line(r.ID), screen.Line(r.Provider)))
			})
	}
	if name != "" {
		later(m, "", models.Models, func(m *Model, rows []ModelRow) {
			if i := oneModel(rows, name); i >= 0 {
				set(rows[i])
				return
			}
			m.modelPicker(rows, set, name)
		})
		return
	}
	m.opens++
	n := m.opens
	later(m, "models", models.Models, func(m *Model, rows []ModelRow) {
		if m.opens == n && m.dialog == nil {
			m.modelPicker(rows, set, "")
		}
	})
}

// oneModel finds the model that name means, or -1 where it means several.
func oneModel(rows []ModelRow, name string) int {
	found := -1
	for i, r := range rows {
		if r.ID == name || r.Provider+"/"+r.ID == name {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func (m *Model) modelPicker(rows []ModelRow, set func(ModelRow), filter string) {
	p := &dialog.Picker{Title: "models", Hint: "enter picks", Pick: func(i int) { set(rows[i]) }}
	start := 0
	for i, r := range rows {
		detail := r.Provider
		if r.ContextWindow > 0 {
			detail += fmt.Sprintf(", %dk", r.ContextWindow/1000)
		}
		if r.Provider == m.state.Provider && r.ID == m.state.Model {
			detail, start = detail+", in use", i
		}
		label := r.ID
		if r.Name != "" && r.Name != r.ID {
			label += " " + r.Name
		}
		p.Items = append(p.Items, dialog.Item{Label: label, Detail: detail, Note: r.Note})
	}
	p.Start(start)
	if filter != "" {
		p.Filter(filter)
	}
	m.dialog = p
}

func (m *Model) login(args string) {
	provider, _, _ := strings.Cut(args, " ") // a key has no place on a line that is shown
	acc, ok := need[Accounts](m, "keeping keys")
	if !ok {
		return
	}
	openLater(m, "", acc.Accounts, func(m *Model, rows []AccountRow) dialog.Dialog {
		i := slices.IndexFunc(rows, func(r AccountRow) bool { return r.Provider == provider })
		if i >= 0 && rows[i].Note == "" {
			return m.keyInput(acc, rows[i])
		}
		p := &dialog.Picker{Title: "keep a key for", Pick: func(i int) { m.dialog = m.keyInput(acc, rows[i]) }}
		for _, r := range rows {
			p.Items = append(p.Items, dialog.Item{Label: r.Provider, Detail: accountDetail(r), Note: r.Note})
		}
		return p.Filter(provider)
	})
}

func accountDetail(r AccountRow) string {
	if r.LoggedIn {
		return strings.TrimSpace(r.Name + "  key from " + r.From)
	}
	return r.Name
}

func (m *Model) keyInput(acc Accounts, r AccountRow) dialog.Dialog {
	help := "the key is kept in zot's home, readable by you alone"
	if r.Env != "" {
		help += "; " + r.Env + " works too"
	}
	return &dialog.Input{Title: "key for " + r.Provider, Help: help, Secret: true, Done: func(key string) {
		key = strings.TrimSpace(key)
		if key == "" {
			return
		}
		later(m, "", nothing(func(ctx context.Context) error { return acc.Login(ctx, r.Provider, key) }),
			func(m *Model, _ struct{}) { m.transcript.Say("success", "key kept for "+screen.Line(r.Provider)) })
	}}
}

func (m *Model) logout(provider string) {
	acc, ok := need[Accounts](m, "keeping keys")
	if !ok {
		return
	}
	forget := func(name string) {
		later(m, "", nothing(func(ctx context.Context) error { return acc.Logout(ctx, name) }),
			func(m *Model, _ struct{}) { m.transcript.Say("", "forgot the key of "+screen.Line(name)) })
	}
	if provider != "" {
		forget(provider)
		return
	}
	openLater(m, "", acc.Accounts, func(m *Model, rows []AccountRow) dialog.Dialog {
		rows = slices.DeleteFunc(rows, func(r AccountRow) bool { return !r.LoggedIn })
		p := &dialog.Picker{Title: "forget the key of", Pick: func(i int) { forget(rows[i].Provider) }}
		for _, r := range rows {
			p.Items = append(p.Items, dialog.Item{Label: r.Provider, Detail: accountDetail(r)})
		}
		return p
	})
}

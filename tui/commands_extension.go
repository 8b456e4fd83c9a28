package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
)

// extensionCommands are about extensions, skills and themes.
func extensionCommands() []builtin {
	rel := def("reload-ext", "[name]", "stop and start extensions again", (*Model).reloadExtensions)
	rel.stops = true
	rel.complete = listArgs(Extensions.Extensions, func(r ExtensionRow) choice { return choice{text: r.Name, detail: r.State} })
	ext := def("ext", "", "list extensions and their state", (*Model).listExtensions)
	skills := def("skills", "", "pick a skill to use", (*Model).pickSkill)
	theme := def("theme", "[name]", "pick a theme, with a preview", (*Model).pickTheme)
	theme.complete = listArgs(Themes.Themes, func(r ThemeRow) choice { return choice{text: r.Name, detail: r.Description} })
	return []builtin{rel, ext, skills, theme}
}

// reloadStatus is how long the outcome of a reload is in the status line.
const reloadStatus = 5 * time.Second

func (m *Model) reloadExtensions(name string) {
	e, ok := need[Extensions](m, "reloading extensions")
	if !ok {
		return
	}
	later(m, "reloading", func(ctx context.Context) (ReloadReport, error) { return e.Reload(ctx, name) }, func(m *Model, r ReloadReport) {
		m.transcript.ClearLasting(failureKey(name))
		text := fmt.Sprintf("reloaded: %d stopped, %d loaded (%d ready)", r.Stopped, r.Loaded, r.Ready)
		level := "success"
		if n := len(r.Errors); n > 0 {
			text += fmt.Sprintf(", %d failed: %s", n, strings.Join(r.Errors, "; "))
			level = "error"
		}
		m.status.set(m, level, text, reloadStatus)
		for _, failure := range r.Errors {
			name, why, _ := strings.Cut(failure, ": ")
			m.extensionFailed(name, why)
		}
		if m.opt.Theme != "" {
			m.do(m.loadTheme(m.opt.Theme))
		}
	})
}

// extensionFailed says that an extension could not be loaded, or has died. That
// stays in view until it loads or the conversation is cleared.
func (m *Model) extensionFailed(name, why string) {
	m.transcript.Lasting(failureKey(name), "error", "extension "+screen.Line(name)+": "+why)
}

// failureKey is the key of what an extension's failure left in view; without a
// name it begins the keys of all.
func failureKey(name string) string {
	if name == "" {
		return "failed/"
	}
	return "failed/" + strings.ToLower(name) + "/"
}

func (m *Model) listExtensions(string) {
	e, ok := need[Extensions](m, "a list of extensions")
	if !ok {
		return
	}
	openLater(m, "", e.Extensions, func(m *Model, rows []ExtensionRow) dialog.Dialog {
		if len(rows) == 0 {
			return readerOf("extensions", "no extensions are installed; zot ext install brings one")
		}
		var b strings.Builder
		b.WriteString("| extension | state | commands | tools | from |\n|---|---|--:|--:|---|\n")
		for _, r := range rows {
			state := r.State
			if r.Detail != "" {
				state += ": " + r.Detail
			}
			fmt.Fprintf(&b, "| %s %s | %s | %d | %d | %s |\n", cell(r.Name), cell(r.Version), cell(state), r.Commands, r.Tools, cell(r.Source))
		}
		return readerOf("extensions", b.String())
	})
}

// cell makes text safe for a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`).Replace(screen.Line(s))
}

func (m *Model) pickSkill(string) {
	s, ok := need[Skills](m, "a list of skills")
	if !ok {
		return
	}
	openLater(m, "", s.Skills, func(m *Model, rows []SkillRow) dialog.Dialog {
		p := &dialog.Picker{Title: "skills", Hint: "enter puts it into the prompt", Pick: func(i int) {
			m.composer.SetText("/skill:" + rows[i].Name + " ")
		}}
		for _, r := range rows {
			p.Items = append(p.Items, dialog.Item{Label: r.Name, Detail: strings.TrimSpace(r.Description + "  " + r.Source)})
		}
		return p
	})
}

func (m *Model) useSkill(name, args string) {
	s, ok := need[Skills](m, "skills")
	if !ok {
		return
	}
	if !m.state.Ready {
		m.transcript.Say("warn", m.noModel())
		return
	}
	m.transcript.ClearAllNotes()
	later(m, "", nothing(func(ctx context.Context) error { return s.UseSkill(ctx, name, args) }), nil)
}

func (m *Model) pickTheme(name string) {
	t, ok := need[Themes](m, "changing the theme")
	if !ok {
		return
	}
	if name != "" {
		m.chooseTheme(t, name)
		return
	}
	before := m.look.theme
	openLater(m, "", t.Themes, func(m *Model, rows []ThemeRow) dialog.Dialog {
		preview := 0
		p := &dialog.Picker{Title: "themes", Hint: "enter keeps, esc goes back",
			Pick:      func(i int) { preview++; m.chooseTheme(t, rows[i].Name) },
			Cancelled: func() { preview++; m.setTheme(before) },
			Moved: func(i int) {
				preview++
				n, row := preview, rows[i]
				later(m, "", func(ctx context.Context) (*theme.Theme, error) { return t.LoadTheme(ctx, row.Name) }, func(m *Model, th *theme.Theme) {
					if preview == n {
						m.setTheme(th)
					}
				})
			}}
		start := 0
		for i, r := range rows {
			p.Items = append(p.Items, dialog.Item{Label: r.Name, Detail: r.Description})
			if r.Name == before.Name {
				start = i
			}
		}
		return p.Start(start)
	})
}

// chooseTheme shows a theme and remembers it. One that cannot be read leaves
// everything as it is, and a note.
func (m *Model) chooseTheme(t Themes, name string) {
	later(m, "", func(ctx context.Context) (*theme.Theme, error) {
		th, err := t.LoadTheme(ctx, name)
		if err != nil {
			return th, err
		}
		return th, t.SaveTheme(ctx, name)
	}, func(m *Model, th *theme.Theme) {
		m.opt.Theme = name
		m.setTheme(th)
	})
}

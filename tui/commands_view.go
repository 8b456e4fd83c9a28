package tui

import (
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
)

// viewCommands are about the screen and what is on it.
func viewCommands() []builtin {
	cp := def("copy", "[answer|code|all] [FILE]", "copy the last answer or code to the clipboard, or to a file", (*Model).copy)
	cp.complete = fixedArgs("answer: the last answer", "code: its last code block", "all: the conversation")
	exit := def("exit", "", "leave zot", func(m *Model, _ string) { m.quit(nil) })
	exit.aliases = []string{"quit", "q"}
	find := def("find", "[text]", "find in the conversation", (*Model).find)
	help := def("help", "", "commands and keys", (*Model).help)
	help.aliases = []string{"?", "keys"}
	image := def("image", "[number]", "show a picture of the conversation, where the terminal can", (*Model).showImage)
	return []builtin{cp, exit, find, help, image}
}

func (m *Model) copy(args string) {
	what, file, _ := strings.Cut(strings.TrimSpace(args), " ")
	var text string
	switch what {
	case "", "answer":
		what, text = "answer", m.transcript.LastAnswer()
	case "code":
		text = m.transcript.LastCode()
	case "all":
		text = m.transcript.PlainText()
	default:
		m.transcript.Say("warn", "/copy knows answer, code and all")
		return
	}
	if text == "" {
		m.status.set(m, "warn", "there is no "+what+" to copy", 2*time.Second)
		return
	}
	if file = strings.TrimSpace(file); file != "" {
		m.do(work(func() func(*Model) {
			err := os.WriteFile(file, []byte(text+"\n"), 0o600)
			return func(m *Model) {
				if err != nil {
					m.transcript.Say("error", err.Error())
					return
				}
				m.status.set(m, "success", "written to "+screen.Line(file), 3*time.Second)
			}
		}))
		return
	}
	m.do(tea.SetClipboard(text))
	m.status.set(m, "success", fmt.Sprintf("%s copied (%d characters); /copy %s FILE writes a file", what, len([]rune(text)), what), 3*time.Second)
}

// find looks for text, upwards from what is in view.
func (m *Model) find(text string) {
	if text != "" {
		if !m.transcript.Find(text, false) {
			m.status.set(m, "warn", "not found: "+screen.Line(text), 2*time.Second)
		}
		return
	}
	look := func(down bool) func(string) {
		return func(text string) {
			if !m.transcript.Find(text, down) {
				m.status.set(m, "warn", "not found", time.Second)
			}
		}
	}
	m.dialog = &dialog.Input{Title: "find", Help: "enter and up look upwards, down looks downwards, esc ends",
		Done:  func(text string) { look(false)(text); m.dialog = m.findAgain(text) },
		Extra: map[string]func(string){"up": look(false), "down": look(true)}}
}

func (m *Model) findAgain(text string) dialog.Dialog {
	m.find("")
	in := m.dialog.(*dialog.Input)
	return in.Set(text)
}

func (m *Model) help(string) {
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range m.allCommands() {
		what := c.Description
		if c.Extension != "" {
			what = strings.TrimSpace(what + " (" + c.Extension + ")")
		}
		fmt.Fprintf(&b, "| %s | %s |\n", cell(strings.TrimSpace("/"+c.Name+" "+c.Args)), cell(what))
	}
	b.WriteString("| /skill:NAME | use a skill |\n| !COMMAND | run a command; the model sees its output |\n| @FILE | name a file |\n")
	b.WriteString("\n| key | what it does |\n|---|---|\n")
	for _, k := range m.keys.Bindings {
		if len(k.Keys) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", cell(strings.Join(k.Keys, ", ")), cell(k.Help))
		}
	}
	m.dialog = readerOf("help", b.String())
}

func (m *Model) pickHistory() {
	items := m.history.Items()
	p := &dialog.Picker{Title: "sent before", Pick: func(i int) { m.composer.SetText(items[i]) }}
	for _, text := range items {
		p.Items = append(p.Items, dialog.Item{Label: screen.Line(text), Search: text})
	}
	m.dialog = p
}

package tui

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/tui/screen"
)

// A builtin is a command of the interface's own. Those of one theme share a
// file: commands_session.go, commands_model.go, …
type builtin struct {
	command.Command
	aliases []string
	// stops says that the command ends a turn at work first.
	stops    bool
	run      func(m *Model, args string)
	complete completer
}

var (
	builtinList []builtin
	builtinOnce sync.Once
)

// builtins lists all of them by name.
func builtins() []builtin {
	builtinOnce.Do(func() {
		for _, list := range [][]builtin{sessionCommands(), modelCommands(), extensionCommands(), viewCommands(), reportCommands()} {
			builtinList = append(builtinList, list...)
		}
		sort.Slice(builtinList, func(i, j int) bool { return builtinList[i].Name < builtinList[j].Name })
	})
	return builtinList
}

// BuiltinCommands lists the commands of the interface, for those who must know
// which names are taken.
func BuiltinCommands() []command.Command {
	var out []command.Command
	for _, b := range builtins() {
		out = append(out, b.Command)
	}
	return out
}

// IsCommand tells whether the interface has a command of that name, which may
// be a second one of it.
func IsCommand(name string) bool {
	_, ok := builtinNamed(name)
	return ok
}

func builtinNamed(name string) (builtin, bool) {
	name = command.Fold(name)
	for _, b := range builtins() {
		if b.Name == name {
			return b, true
		}
		for _, a := range b.aliases {
			if a == name {
				return b, true
			}
		}
	}
	return builtin{}, false
}

func def(name, args, help string, run func(*Model, string)) builtin {
	return builtin{Command: command.Command{Name: name, Args: args, Description: help}, run: run}
}

// command runs a command, built in or of an extension.
func (m *Model) command(name, args string) {
	if b, ok := builtinNamed(name); ok {
		if b.stops {
			m.stop()
		}
		m.complete.forgetArgs()
		b.run(m, args)
		m.refresh()
		return
	}
	if skill, ok := strings.CutPrefix(command.Fold(name), skillPrefix); ok {
		m.useSkill(skill, args)
		return
	}
	for _, c := range m.rt.Commands() {
		if command.Fold(c.Name) == command.Fold(name) {
			m.extensionCommand(c, args)
			return
		}
	}
	if m.loading[0] > 0 { // one that is on its way may have it; the runtime waits for it
		m.extensionCommand(command.Command{Name: name}, args)
		return
	}
	m.unknownCommand(name)
}

func (m *Model) unknownCommand(name string) {
	text := fmt.Sprintf("no command is named /%s", screen.Line(name))
	if near := nearest(name, m.allCommands()); near != "" {
		text += "; did you mean /" + near + "?"
	}
	m.transcript.Say("warn", text+" (nothing was sent; /help lists the commands)")
}

// nearest finds a name at most two letters away.
func nearest(name string, all []command.Command) string {
	best, at := 3, ""
	for _, c := range all {
		if d := distance(command.Fold(name), command.Fold(c.Name)); d < best {
			best, at = d, c.Name
		}
	}
	return at
}

// distance counts the letters to insert, delete or replace.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			prev, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, prev+cost)
		}
	}
	return row[len(b)]
}

// extensionCommand runs a command of an extension beside the screen.
func (m *Model) extensionCommand(c command.Command, args string) {
	rt := m.rt
	stoppable(m, "/"+screen.Line(c.Name), func(ctx context.Context) (Outcome, error) {
		out, err := rt.RunCommand(ctx, c.Name, args)
		if out.Extension == "" {
			out.Extension = c.Extension
		}
		return out, err
	}, (*Model).outcome)
}

// outcome does what a command of an extension asked for.
func (m *Model) outcome(o Outcome) {
	switch o.Action {
	case "prompt":
		switch text := strings.TrimSpace(o.Text); {
		case text == "":
		case !m.state.Ready:
			m.transcript.Say("warn", m.noModel())
		default:
			m.submit(Prompt{Text: text})
		}
	case "insert":
		m.composer.Insert(o.Text)
		m.edited()
		m.complete.close()
	case "display":
		m.transcript.Display(o.Extension, o.Text)
	}
}

// need finds an ability of the runtime, or says that it is not there.
func need[A any](m *Model, what string) (A, bool) {
	a, ok := m.rt.(A)
	if !ok {
		m.transcript.Say("warn", what+" is not available here")
	}
	return a, ok
}

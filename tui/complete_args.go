package tui

import (
	"context"
	"strings"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/tui/screen"
)

// argCache keeps what commands offered as arguments.
type argCache map[string][]choice

// arguments offers what may follow a command.
func (c *completion) arguments(m *Model, name, typed string) {
	b, ok := builtinNamed(name)
	if !ok || b.complete == nil {
		return
	}
	all, ok := c.args[b.Name]
	if !ok {
		c.fetchArgs(m, b.Name, b.complete)
		return
	}
	c.kind, c.replace = ' ', len([]rune(typed))
	low := strings.ToLower(typed)
	more := strings.Contains(typed, " ") // a second word: only those that have one
	for _, ch := range all {
		if strings.Contains(ch.text, " ") == more && strings.Contains(strings.ToLower(ch.text), low) && ch.text != typed {
			c.items = append(c.items, ch)
		}
	}
	if len(c.items) == 0 {
		c.kind = 0
	}
}

// skills offers the names behind "/skill:".
func (c *completion) skills(m *Model, before string) {
	all, ok := c.args[skillPrefix]
	if !ok {
		c.fetchArgs(m, skillPrefix, listArgs(Skills.Skills, func(r SkillRow) choice {
			return choice{text: "/" + skillPrefix + r.Name, detail: r.Description, more: true}
		}))
		return
	}
	low := strings.ToLower(before)
	for _, ch := range all {
		if strings.HasPrefix(strings.ToLower(ch.text), low) {
			c.items = append(c.items, ch)
		}
	}
	if len(c.items) > 0 {
		c.kind, c.replace = '/', len([]rune(before))
	}
}

const skillPrefix = "skill:"

func (c *completion) fetchArgs(m *Model, name string, fetch completer) {
	if c.args == nil {
		c.args = argCache{}
	}
	cache := c.args // what was forgotten meanwhile is not of interest
	cache[name] = nil
	rt, ctx := m.rt, m.ctx
	m.do(work(func() func(*Model) {
		list, err := fetch(ctx, rt)
		if err != nil {
			list = nil // the command itself will say what is wrong
		}
		return func(m *Model) {
			cache[name] = list
			m.complete.update(m)
		}
	}))
}

// forgetArgs makes the next completion fetch anew: models, themes and sessions
// come and go.
func (c *completion) forgetArgs() { c.args = nil }

// A completer lists what may follow a command. A choice of two words is offered
// once the second is being typed.
type completer func(context.Context, Runtime) ([]choice, error)

// also offers what several completers do; one that fails offers nothing.
func also(all ...completer) completer {
	return func(ctx context.Context, rt Runtime) ([]choice, error) {
		var out []choice
		for _, f := range all {
			list, _ := f(ctx, rt)
			out = append(out, list...)
		}
		return out, nil
	}
}

func fixedArgs(words ...string) completer {
	return func(context.Context, Runtime) ([]choice, error) {
		var out []choice
		for _, w := range words {
			text, detail, _ := strings.Cut(w, ": ")
			out = append(out, choice{text: text, detail: detail})
		}
		return out, nil
	}
}

// listArgs offers one argument per row of a list that the runtime has.
func listArgs[A, T any](list func(A, context.Context) ([]T, error), one func(T) choice) completer {
	return func(ctx context.Context, rt Runtime) ([]choice, error) {
		a, ok := rt.(A)
		if !ok {
			return nil, nil
		}
		rows, err := list(a, ctx)
		var out []choice
		for _, r := range rows {
			ch := one(r)
			ch.text, ch.detail = screen.Line(ch.text), screen.Line(ch.detail)
			out = append(out, ch)
		}
		return out, err
	}
}

// allCommands lists the built-in commands and those of extensions, which lose
// where the names are the same.
func (m *Model) allCommands() []command.Command {
	var out []command.Command
	for _, b := range builtins() {
		out = append(out, b.Command)
	}
	for _, c := range m.rt.Commands() {
		if _, taken := builtinNamed(c.Name); !taken {
			out = append(out, c)
		}
	}
	return out
}

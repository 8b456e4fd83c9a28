package tui

import (
	"context"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/markdown"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// reportCommands show what the runtime has to say about itself.
func reportCommands() []builtin {
	report := func(name, args, help string) builtin {
		return def(name, args, help, func(m *Model, args string) { m.report(name, args) })
	}
	trust := report("trust", "[status|revoke]", "what of this project is trusted")
	trust.complete = fixedArgs("status: what holds", "revoke: ask again next time")
	policy := report("policy", "[show|check|explain EXT]", "what tools and extensions may do, and why")
	policy.complete = also(
		fixedArgs("show: the policy of all layers", "check: look for mistakes in it", "explain: why an extension may load, or not"),
		listArgs(Extensions.Extensions, func(r ExtensionRow) choice { return choice{text: "explain " + r.Name, detail: r.State} }))
	doctor := report("doctor", "[subject|network]", "check the installation, the terminal and the theme")
	doctor.complete = fixedArgs("terminal", "settings", "model", "policy", "extensions", "theme", "sandbox", "network: ask the model's provider as well")
	return []builtin{
		policy, trust, doctor, settingsCommand(),
		def("cost", "", "tokens and cost so far", (*Model).cost),
	}
}

func (m *Model) report(topic, args string) {
	if r, ok := need[Reports](m, "/"+topic); ok {
		openLater(m, "/"+topic, func(ctx context.Context) (string, error) { return r.Report(ctx, topic, args) },
			func(_ *Model, text string) dialog.Dialog { return readerOf(topic, text) })
	}
}

// readerOf shows a text of zot's own, in Markdown.
func readerOf(title, text string) *dialog.Reader {
	text = screen.Clean(text)
	return &dialog.Reader{Title: title, Draw: func(width int, s *style.Sheet) []string {
		return markdown.Render(text, markdown.Options{Width: width, Sheet: s})
	}}
}

func (m *Model) cost(string) {
	var parts []string
	if m.state.ContextWindow > 0 {
		parts = append(parts, fmt.Sprintf("context: %d of %d tokens", m.state.ContextUsed, m.state.ContextWindow))
	} else if m.state.ContextUsed > 0 {
		parts = append(parts, fmt.Sprintf("context: %d tokens", m.state.ContextUsed))
	}
	u := m.usage
	if u.Known {
		parts = append(parts, fmt.Sprintf("session: %d in, %d out, %d read from cache, %d written to it", u.Input, u.Output, u.CacheRead, u.CacheWrite))
	}
	switch {
	case m.state.CostKnown:
		parts = append(parts, fmt.Sprintf("cost: $%.4f", m.state.CostUSD))
	default:
		parts = append(parts, "cost: not known for "+orModel(m.state.Model))
	}
	m.transcript.Say("", strings.Join(parts, "\n"))
}

func orModel(name string) string {
	if name == "" {
		return "this model"
	}
	return screen.Line(name)
}

// welcome stands on an empty screen until the first prompt.
func (m *Model) welcome() {
	if !m.transcript.Empty() {
		return
	}
	head := strings.TrimSpace("zot " + m.opt.Version)
	if m.state.Model != "" {
		head += "  " + m.state.Model
	}
	m.transcript.Say("", head+"\n"+m.state.Cwd)
	m.transcript.Say("", "/ for commands, @ for files, ! for the shell, /help for keys")
	if m.state.Demo {
		m.transcript.Say("", "this is the demo model: answers are made up here and nothing is asked over the network")
	} else if !m.state.Ready {
		m.transcript.Say("warn", m.noModel())
	}
}

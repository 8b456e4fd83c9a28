package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/composer"
)

// send acts on what is in the prompt: a command, a line for the shell, or a
// prompt for the model.
func (m *Model) send() {
	if strings.HasSuffix(m.composer.Before(), "\\") {
		m.composer.ReplaceBefore(1, "\n")
		m.edited()
		return
	}
	text := strings.TrimSpace(m.composer.Text())
	images := m.composer.Images()
	if text == "" && len(images) == 0 {
		return
	}
	if name, args, ok := command.Parse(text); ok && len(images) == 0 {
		m.sent(text)
		m.command(name, args)
		return
	}
	if line, ok := strings.CutPrefix(text, "!"); ok && strings.TrimSpace(line) != "" && len(images) == 0 {
		m.runShell(text, strings.TrimSpace(line))
		return
	}
	m.refresh()
	if !m.state.Ready {
		m.transcript.Say("warn", m.noModel())
		return
	}
	m.sent(text)
	m.submit(Prompt{Text: text, Images: images})
}

// submit hands a prompt to the runtime. Notes are of the prompt before.
func (m *Model) submit(p Prompt) {
	m.transcript.ClearAllNotes()
	m.transcript.Bottom()
	m.rt.Submit(p)
	m.refresh()
}

// sent empties the prompt and remembers what was in it.
func (m *Model) sent(text string) {
	m.history.Add(remembered(text))
	if m.opt.HistoryFile != "" {
		m.do(appendHistory(m.opt.HistoryFile, remembered(text)))
	}
	m.composer = composer.Composer{}
	m.complete.close()
	m.complete.dismissed = false
}

// remembered is what history keeps of text: nothing too long, and no key that
// was typed after /login.
func remembered(text string) string {
	if len(text) > maxHistoryEntry {
		return ""
	}
	if name, _, ok := command.Parse(text); ok && command.Fold(name) == "login" {
		return "/login"
	}
	return text
}

func (m *Model) noModel() string {
	if m.state.Hint != "" {
		return m.state.Hint
	}
	return "no model is set up: /login keeps a key, a provider's variable holds one, and `zot demo` needs none"
}

// shell is a command of the user's own at work.
type shell struct {
	cancel context.CancelFunc
	n      int
}

func (m *Model) runShell(text, line string) {
	sh, ok := m.rt.(Shell)
	if !ok {
		m.transcript.Say("warn", "commands cannot be run from here")
		return
	}
	if m.shell.cancel != nil {
		m.transcript.Say("warn", "a command is still running; esc stops it")
		return
	}
	m.sent(text)
	m.transcript.ClearAllNotes()
	m.shell.n++
	id := fmt.Sprintf("shell-%d", m.shell.n)
	args, _ := json.Marshal(map[string]string{"command": line}) // a map of strings cannot fail
	m.transcript.Call(event.ToolCall{ID: id, Name: "!", Args: args})
	m.transcript.Bottom()
	ctx, cancel := context.WithCancel(m.ctx)
	m.shell.cancel = cancel
	m.since = time.Now()
	m.tick()
	started := time.Now()
	m.do(work(func() func(*Model) {
		out, exit, err := sh.Shell(ctx, line)
		return func(m *Model) {
			cancel()
			m.shell.cancel = nil
			res := event.ToolResult{ID: id, Name: "!", Executed: true, Duration: time.Since(started)}
			switch {
			case errors.Is(err, context.Canceled):
				res.IsError, res.Status = true, "stopped"
			case err != nil:
				res.IsError = true
				out += "\n" + err.Error()
			case exit != 0:
				res.IsError, res.Status = true, fmt.Sprintf("exit %d", exit)
			}
			res.Content = []message.Block{message.Text{Text: out}}
			m.transcript.Result(res)
		}
	}))
}

// Package tuitest holds what tests of the interface need: a runtime that does
// what the test says ([Runtime]), a driver that runs the model without a
// terminal ([Driver]), and a terminal in memory ([Terminal]).
package tuitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/tui"
)

// Runtime is a runtime without a model: it records what it is asked, and says
// what the test has it say. Its fields may be set before it is used; after that
// only through its methods.
type Runtime struct {
	Events chan event.Event
	Asks   chan tui.Ask

	St        tui.State
	Msgs      []message.Message
	Cmds      []command.Command
	ModelRows []tui.ModelRow
	SessRows  []tui.SessionRow
	TreeRows  []tui.TreeRow
	SkillRows []tui.SkillRow
	ThemeList map[string]*theme.Theme
	ExtRows   []tui.ExtensionRow
	// OnExtensions is called before ExtRows are handed out; it may wait.
	OnExtensions func()
	AccRows      []tui.AccountRow
	ReloadWith   tui.ReloadReport
	SetRows      []tui.SettingRow
	// OnCommand answers a command of an extension; nil answers "noop".
	OnCommand func(ctx context.Context, name, args string) (tui.Outcome, error)
	// OnSubmit is told of every prompt that is not queued, on a goroutine of its
	// own; or nil.
	OnSubmit func(tui.Prompt)
	// OnAside answers what is asked aside; nil answers at once.
	OnAside func(ctx context.Context, q string, onText func(string)) error
	// OnShell runs a line for the shell.
	OnShell func(ctx context.Context, line string) (string, int, error)

	mu    sync.Mutex
	queue []string
	sent  []tui.Prompt
	calls []string
}

// New returns a runtime with a model that is ready.
func New() *Runtime {
	return &Runtime{
		Events: make(chan event.Event, 256), Asks: make(chan tui.Ask, 16),
		St: tui.State{Provider: "test", Model: "test-model", Ready: true, Cwd: "/work/project", ContextWindow: 100000},
	}
}

func (r *Runtime) call(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
}

// Calls lists what was asked besides prompts, in order: "cancel", "panel key
// todo/1 rune x", "model a/b".
func (r *Runtime) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Sent lists the prompts.
func (r *Runtime) Sent() []tui.Prompt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// Emit reports events.
func (r *Runtime) Emit(evs ...event.Event) {
	for _, ev := range evs {
		r.Events <- ev
	}
}

// Set changes the state.
func (r *Runtime) Set(f func(*tui.State)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.St)
}

// Begin starts to answer text: the prompt enters the transcript.
func (r *Runtime) Begin(text string) {
	r.Set(func(s *tui.State) { s.Busy = true })
	r.Emit(event.UserMessage{Message: message.Message{Role: message.User, Content: []message.Block{message.Text{Text: text}}}},
		event.TurnStart{Step: 1}, event.AssistantStart{})
}

// End ends the answer with its whole text.
func (r *Runtime) End(text string) {
	r.Set(func(s *tui.State) { s.Busy = false })
	r.Emit(event.AssistantMessage{Visible: text}, event.TurnEnd{Stop: "end_turn"}, event.Done{})
}

// The methods of tui.Runtime.

func (r *Runtime) State() tui.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.St
}

func (r *Runtime) Transcript() []message.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Msgs
}

func (r *Runtime) Submit(p tui.Prompt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.St.Busy {
		r.queue = append(r.queue, p.Text)
		return
	}
	r.St.Busy = true
	r.sent = append(r.sent, p)
	if r.OnSubmit != nil {
		go r.OnSubmit(p) // ends when the test's function does
	}
}

func (r *Runtime) Queue() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.queue)
}

func (r *Runtime) TakeBackQueue() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queue
	r.queue = nil
	return q
}

func (r *Runtime) Cancel() {
	r.call("cancel")
	r.Set(func(s *tui.State) { s.Busy = false })
	r.Emit(event.TurnEnd{Stop: "aborted"}, event.Done{})
}

func (r *Runtime) Commands() []command.Command { return r.Cmds }

func (r *Runtime) RunCommand(ctx context.Context, name, args string) (tui.Outcome, error) {
	r.call("command %s %q", name, args)
	if r.OnCommand == nil {
		return tui.Outcome{Action: "noop"}, nil
	}
	return r.OnCommand(ctx, name, args)
}

func (r *Runtime) PanelKey(ext, id, key, text string) {
	if text != "" {
		key += " " + text
	}
	r.call("panel key %s/%s %s", ext, id, key)
}

func (r *Runtime) PanelClosed(ext, id string) { r.call("panel closed %s/%s", ext, id) }

func (r *Runtime) PanelResize(ext, id string, w, h int) {
	r.call("panel size %s/%s %dx%d", ext, id, w, h)
}

// The abilities.

func (r *Runtime) Models(context.Context) ([]tui.ModelRow, error) { return r.ModelRows, nil }

func (r *Runtime) SetModel(_ context.Context, provider, id string) error {
	r.call("model %s/%s", provider, id)
	r.Set(func(s *tui.State) { s.Provider, s.Model = provider, id })
	return nil
}

func (r *Runtime) Sessions(context.Context) ([]tui.SessionRow, error) { return r.SessRows, nil }

func (r *Runtime) Resume(_ context.Context, path string) error {
	r.call("resume %s", path)
	return nil
}

func (r *Runtime) NewSession(context.Context) error {
	r.call("new session")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Msgs = nil
	return nil
}

func (r *Runtime) Fork(_ context.Context, id string) error {
	r.call("fork %s", id)
	return nil
}

func (r *Runtime) Tree(context.Context) ([]tui.TreeRow, error) { return r.TreeRows, nil }

func (r *Runtime) Export(_ context.Context, path string) (string, error) {
	r.call("export %s", path)
	return "/out/session.md", nil
}

func (r *Runtime) Import(_ context.Context, path string) error {
	r.call("import %s", path)
	return nil
}

func (r *Runtime) Clear(context.Context) error {
	r.call("clear")
	return nil
}

func (r *Runtime) Compact(_ context.Context, what string) error {
	r.call("compact %s", what)
	return nil
}

func (r *Runtime) Skills(context.Context) ([]tui.SkillRow, error) { return r.SkillRows, nil }

func (r *Runtime) UseSkill(_ context.Context, name, args string) error {
	r.call("skill %s %q", name, args)
	return nil
}

func (r *Runtime) Settings(context.Context) ([]tui.SettingRow, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.SetRows), nil
}

func (r *Runtime) SaveSetting(_ context.Context, key string, value *string) (tui.Saved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.SetRows, func(s tui.SettingRow) bool { return s.Key == key })
	if i < 0 {
		return tui.Saved{}, fmt.Errorf("there is no setting %q", key)
	}
	row := &r.SetRows[i]
	row.Value, row.Own, row.From = "", value != nil, "built-in"
	if value != nil {
		row.Value, row.From = *value, "user"
	}
	saved := tui.Saved{Options: Options(r)}
	saved.Options.Transcript.ShowThinking = key == "ui.showThinking" && row.Value == "true"
	return saved, nil
}

func (r *Runtime) Themes(context.Context) ([]tui.ThemeRow, error) {
	var rows []tui.ThemeRow
	for name := range r.ThemeList {
		rows = append(rows, tui.ThemeRow{Name: name})
	}
	slices.SortFunc(rows, func(a, b tui.ThemeRow) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return rows, nil
}

func (r *Runtime) LoadTheme(_ context.Context, name string) (*theme.Theme, error) {
	t, ok := r.ThemeList[name]
	if !ok {
		return t, fmt.Errorf("no theme is named %q", name)
	}
	return t, nil
}

func (r *Runtime) SaveTheme(_ context.Context, name string) error {
	r.call("theme %s", name)
	return nil
}

func (r *Runtime) Extensions(context.Context) ([]tui.ExtensionRow, error) {
	if r.OnExtensions != nil {
		r.OnExtensions()
	}
	return r.ExtRows, nil
}

func (r *Runtime) Reload(_ context.Context, name string) (tui.ReloadReport, error) {
	r.call("reload %s", name)
	return r.ReloadWith, nil
}

func (r *Runtime) Accounts(context.Context) ([]tui.AccountRow, error) { return r.AccRows, nil }

func (r *Runtime) Login(_ context.Context, provider, key string) error {
	r.call("login %s %s", provider, key)
	return nil
}

func (r *Runtime) Logout(_ context.Context, provider string) error {
	r.call("logout %s", provider)
	return nil
}

func (r *Runtime) SetPermissions(_ context.Context, mode string) (string, error) {
	r.call("permissions %s", mode)
	return "permissions: " + mode, nil
}

func (r *Runtime) Report(_ context.Context, topic, args string) (string, error) {
	r.call("report %s %s", topic, args)
	return "# " + topic + "\n\nfine", nil
}

func (r *Runtime) Aside(ctx context.Context, q string, onText func(string)) error {
	if r.OnAside != nil {
		return r.OnAside(ctx, q, onText)
	}
	onText("aside answer to " + q)
	return nil
}

func (r *Runtime) Shell(ctx context.Context, line string) (string, int, error) {
	r.call("shell %s", line)
	if r.OnShell == nil {
		return "", 0, errors.New("no shell here")
	}
	return r.OnShell(ctx, line)
}

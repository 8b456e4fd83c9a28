package runcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/runtime/tool/builtin"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
)

// A desk is the session as the terminal interface sees it: tui.Runtime and its
// abilities, of which each theme has a file.
type desk struct {
	run    *run
	asks   chan tui.Ask
	events *feed

	mu    sync.Mutex // guards below
	busy  bool
	state tui.State // what refresh found of the model
	shell []string  // commands the user ran, for the next prompt
}

// refresh looks which model can be asked. It may run a command that prints a
// key, so it is not called from the screen.
func (d *desk) refresh() {
	conn, err := d.run.host.Connection()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.state
	if err != nil {
		s.Ready, s.Hint = false, hintOf(err)
		return
	}
	s.Ready, s.Hint = true, ""
	s.Provider, s.Model, s.ContextWindow = conn.Provider, conn.ID, conn.ContextWindow
	s.Demo = conn.Provider == provider.DemoID
}

func hintOf(err error) string {
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.KindNoModel {
		return "no model is configured: /login PROVIDER keeps a key, a variable like OPENAI_API_KEY gives one, and `zot demo` shows all of this without"
	}
	return err.Error()
}

// State implements tui.Runtime.
func (d *desk) State() tui.State {
	h := d.run.host
	d.mu.Lock()
	s := d.state
	s.Busy = d.busy
	d.mu.Unlock()
	u := h.Usage()
	s.Cwd, s.SessionID = d.run.w.CWD, h.SessionID()
	s.ContextUsed, s.CostUSD, s.CostKnown = h.ContextUsed(), u.CostUSD, u.Known
	s.Permissions = d.permissions()
	return s
}

// permissions are the words for how tools are confined, besides the usual.
func (d *desk) permissions() string {
	var words []string
	if d.run.jail.active() {
		words = append(words, "jail")
	}
	if d.run.host.Guard().AllowsAll() {
		words = append(words, "yolo")
	}
	return strings.Join(words, ", ")
}

// Transcript implements tui.Runtime.
func (d *desk) Transcript() []message.Message { return d.run.host.Transcript() }

// Submit implements tui.Runtime. What the user ran with "!" goes along.
func (d *desk) Submit(p tui.Prompt) {
	d.mu.Lock()
	notes := d.shell
	d.shell = nil
	d.busy = true
	d.mu.Unlock()
	if len(notes) > 0 {
		p.Text = strings.Join(append(notes, p.Text), "\n\n")
	}
	d.run.host.Submit(host.Prompt{Text: d.run.withPins(p.Text), Images: p.Images})
}

// Queue implements tui.Runtime.
func (d *desk) Queue() []string { return d.run.host.Queue() }

// TakeBackQueue implements tui.Runtime.
func (d *desk) TakeBackQueue() []string {
	var texts []string
	for _, p := range d.run.host.TakeBack() {
		texts = append(texts, p.Text)
	}
	return texts
}

// Cancel implements tui.Runtime.
func (d *desk) Cancel() { d.run.host.Cancel() }

// Commands implements tui.Runtime.
func (d *desk) Commands() []command.Command { return d.run.host.Commands() }

// RunCommand implements tui.Runtime. A name that nobody has may be that of an
// extension which is still loading, so that is waited for.
func (d *desk) RunCommand(ctx context.Context, name, args string) (tui.Outcome, error) {
	o, err := d.run.host.RunCommand(ctx, name, args)
	if errors.Is(err, extension.ErrUnknownCommand) {
		d.run.host.WaitReady(ctx)
		o, err = d.run.host.RunCommand(ctx, name, args)
	}
	out := tui.Outcome{Action: "noop", Extension: o.Extension}
	switch {
	case errors.Is(err, extension.ErrUnknownCommand):
		return out, fmt.Errorf("unknown command /%s — type /help to see the list", name)
	case err != nil:
		return out, err
	case o.Prompt != "":
		out.Action, out.Text = "prompt", o.Prompt
	case o.Insert != "":
		out.Action, out.Text = "insert", o.Insert
	case o.Panel:
		out.Action = "open_panel"
	}
	return out, nil // what is displayed comes as an event
}

// PanelKey implements tui.Runtime.
func (d *desk) PanelKey(ext, id, key, text string) {
	d.run.host.Extensions().PanelKey(ext, id, key, text)
}

// PanelClosed implements tui.Runtime.
func (d *desk) PanelClosed(ext, id string) { d.run.host.Extensions().PanelClosed(ext, id) }

// PanelResize implements tui.Runtime.
func (d *desk) PanelResize(ext, id string, width, height int) {
	d.run.host.Extensions().PanelResize(ext, id, width, height)
}

// The answers to the question about a tool call, in the order shown.
const (
	answerYes = iota
	answerTool
	answerAll
	answerNo
	answerBecause
)

// Confirm implements guard.Asker: it puts the question on the screen.
func (d *desk) Confirm(ctx context.Context, q guard.Question) (guard.Answer, error) {
	var reason string // set before the answer
	option := d.question(ctx, tui.Ask{
		Kind: dialog.Confirm, From: q.Extension, Title: "run " + q.Call.Name + "?",
		Command: exact(q), Cwd: d.run.w.CWD, Body: append(q.Changes, reasonLines(q.Reason)...),
		Options: []dialog.Option{
			{Label: "yes"},
			{Label: "yes, and later calls of " + q.Remember, Detail: "in this conversation"},
			{Label: "yes, and all later calls", Detail: "in this conversation; what a policy wants asked is asked again"},
			{Label: "no"},
			{Label: "no, and say why", Takes: "reason, for the model"},
		},
		Cancel: answerNo, Default: answerYes, Text: func(text string) { reason = text },
	})
	if ctx.Err() != nil {
		return guard.Answer{}, ctx.Err()
	}
	return guard.Answer{
		Allow: option < answerNo, Always: option == answerTool, Everything: option == answerAll, Reason: reason,
	}, nil
}

// maySubmit asks whether a prompt that an extension submits may run.
func (d *desk) maySubmit(ctx context.Context, e event.ExtSubmit) bool {
	const yes, no = 0, 1
	option := d.question(ctx, tui.Ask{
		Kind: dialog.Confirm, From: e.Extension, Title: "submit this prompt?", Command: e.Text,
		Options: []dialog.Option{{Label: "yes"}, {Label: "no"}}, Cancel: no, Default: no,
	})
	return ctx.Err() == nil && option == yes
}

// exact is what would run, to the letter: the command of bash, else the
// arguments.
func exact(q guard.Question) string {
	if q.Call.Name == "bash" {
		if line, err := builtin.CommandLine(q.Call.Args); err == nil {
			return line
		}
	}
	return string(q.Call.Args)
}

func reasonLines(reason string) []string {
	if reason == "" {
		return nil
	}
	return strings.Split(reason, "\n")
}

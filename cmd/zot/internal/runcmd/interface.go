package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/plain"
	"github.com/patriceckhart/zot/tui/transcript"
)

// runInterface opens the terminal interface.
func runInterface(ctx context.Context, f *Flags, words []string, s *iostreams.Streams) error {
	ui := &desk{asks: make(chan tui.Ask), events: newFeed()}
	a, err := assemble(f, s, face{interactive: true, asker: ui, commands: builtinCommand})
	if err != nil {
		return err
	}
	ui.run = a
	defer a.close(ctx)
	defer a.host.Subscribe(ui.events.put)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make(chan event.Event)
	go ui.relay(ctx, out) // ends with ctx
	a.announce()
	a.planner.ask()
	a.host.Start()
	ui.lookForModel()
	opts := ui.options(strings.Join(words, " "), out, &a.w.Settings.Config)
	opts.Ready = func() { go ui.askTrust(ctx) } // ends with ctx
	if f.Plain || tui.NeedsPlain(os.Environ(), s.In, s.Out) {
		if s.InTerminal && s.OutTerminal {
			go ui.askTrust(ctx) // ends with ctx
		} else {
			a.planner.answered(false)
			a.texts.settle() // nobody is there, so what is not trusted stays held back
		}
		return signalled(plain.Run(ctx, opts))
	}
	return signalled(tui.Run(ctx, opts))
}

// signalled gives the end by a signal the exit status that shells expect.
func signalled(err error) error {
	var sig tui.SignalError
	if errors.As(err, &sig) {
		return &exit.Error{Code: exit.ForSignal(sig.Signal), Err: err, Silent: true}
	}
	return err
}

// lookForModel finds the model before the first frame, unless that takes long:
// a command may have to print the key.
func (d *desk) lookForModel() {
	d.mu.Lock()
	d.state.Ready = true // until more is known
	d.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends by itself: a connection is made, not used
		d.refresh()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(150 * time.Millisecond):
	}
}

func (d *desk) options(prefill string, events <-chan event.Event, cfg *config.Config) tui.Options {
	return tui.Options{
		Runtime: d, Events: events, Asks: d.asks, Prefill: prefill, Version: version.Number,
		Keys: cfg.Keymap, Theme: cfg.Theme, Mouse: cfg.UI.Mouse, Notify: cfg.UI.Notifications,
		MainScreen: cfg.UI.AltScreen == "never", Images: cfg.UI.InlineImages, AllFiles: !cfg.UI.RespectGitignore,
		Transcript: transcript.Options{
			Compact: cfg.UI.Compact, Unfolded: !cfg.UI.CollapseTools, ShowThinking: cfg.UI.ShowThinking,
			Timestamps: cfg.UI.Timestamps, FlatTools: cfg.UI.ToolRender == "flat",
		},
		HistorySize: orNone(cfg.UI.History), HistoryFile: d.historyFile(),
		Farewell: d.farewell,
	}
}

// historyFile is where typed prompts are kept; empty where none are.
func (d *desk) historyFile() string {
	if d.run.w.Settings.Config.UI.History == 0 {
		return ""
	}
	return d.run.w.Home.Path("history", d.run.projectID()+".jsonl")
}

// builtinCommand reports whether the interface has a command of that name.
func builtinCommand(name string) bool {
	for _, c := range tui.BuiltinCommands() {
		if command.Fold(c.Name) == command.Fold(name) {
			return true
		}
	}
	return false
}

// farewell says how to go on with the conversation.
func (d *desk) farewell() string {
	if d.run.kept == nil || len(d.run.host.Transcript()) == 0 {
		return ""
	}
	return fmt.Sprintf("saved; go on with it: zot --session %s", d.run.kept.Meta().ID)
}

// A feed holds events until the interface takes them, so that whoever reports
// one never waits for the screen. It is bounded by the run itself: the
// interface merges what waits.
type feed struct {
	mu     sync.Mutex
	events []event.Event
	wake   chan struct{} // holds one token while there is something
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

func (f *feed) put(e event.Event) {
	f.mu.Lock()
	f.events = append(f.events, e)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed) take() []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}

// relay hands events to the interface, in order, and acts on those that are
// the runtime's own business.
func (d *desk) relay(ctx context.Context, out chan<- event.Event) {
	for {
		select {
		case <-d.events.wake:
		case <-ctx.Done():
			return
		}
		for _, e := range d.events.take() {
			d.note(ctx, e)
			for _, shown := range inWords(e) {
				select {
				case out <- shown:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// note keeps what the status line shows, and carries out a submission.
func (d *desk) note(ctx context.Context, e event.Event) {
	switch e := e.(type) {
	case event.UserMessage:
		d.setBusy(true)
	case event.Done:
		d.setBusy(false)
	case event.ModelChanged:
		go d.refresh()
	case event.ExtSubmit:
		if !e.Ask {
			d.Submit(tui.Prompt{Text: e.Text})
			return
		}
		go func() { // ends with the answer, or with the interface
			if d.maySubmit(ctx, e) {
				d.Submit(tui.Prompt{Text: e.Text})
			}
		}()
	}
}

func (d *desk) setBusy(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = on
}

// inWords turns what the interface has no picture of into notices.
func inWords(e event.Event) []event.Event {
	status, ok := e.(event.PolicyStatus)
	if !ok {
		return []event.Event{e}
	}
	var notices []event.Event
	for _, h := range status.Held {
		notices = append(notices, event.Notice{Level: "warn", Text: heldLine(h)})
	}
	return notices
}

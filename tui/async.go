package tui

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/transcript"
)

// doneMsg carries what to do, on the program's goroutine, with the result of
// something that was done beside it.
type doneMsg struct{ apply func(*Model) }

// work runs f beside the screen and what it returns on the screen's goroutine.
// A panic of f becomes an orderly end.
func work(f func() func(*Model)) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = fatalMsg{fmt.Errorf("%v\n%s", r, debug.Stack())}
			}
		}()
		if apply := f(); apply != nil {
			return doneMsg{apply}
		}
		return nil
	}
}

func (m *Model) done(msg doneMsg) {
	msg.apply(m)
	m.refresh()
}

// later runs f beside the screen, with label in the status line meanwhile. An
// error becomes a note; anything else is handed to then.
func later[T any](m *Model, label string, f func(context.Context) (T, error), then func(*Model, T)) {
	if label != "" {
		m.status.set(m, "", label+"…", time.Minute)
	}
	ctx := m.ctx
	m.do(work(func() func(*Model) {
		v, err := f(ctx)
		return func(m *Model) {
			if label != "" {
				m.status.clear()
			}
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					m.transcript.Say("error", screen.Clean(err.Error()))
				}
				return
			}
			if then != nil {
				then(m, v)
			}
		}
	}))
}

// stoppable is later for what may take long and can be given up: Esc and Ctrl+C
// end its context.
func stoppable[T any](m *Model, label string, f func(context.Context) (T, error), then func(*Model, T)) {
	ctx, cancel := context.WithCancel(m.ctx)
	if !m.working() {
		m.since = time.Now()
	}
	m.taskID++
	id := m.taskID
	m.tasks[id] = cancel
	end := func(m *Model) {
		cancel()
		delete(m.tasks, id)
	}
	m.do(work(func() func(*Model) {
		v, err := f(ctx)
		return func(m *Model) {
			end(m)
			switch {
			case errors.Is(err, context.Canceled):
				m.transcript.Say("", label+" stopped")
			case err != nil:
				m.transcript.Say("error", screen.Clean(err.Error()))
			case then != nil:
				then(m, v)
			}
		}
	}))
	m.tick()
}

// stopTasks gives up what was started by stoppable, and reports whether there
// was anything.
func (m *Model) stopTasks() bool {
	for _, cancel := range m.tasks {
		cancel()
	}
	return len(m.tasks) > 0
}

// nothing adapts a function that returns an error alone.
func nothing(f func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }
}

// openLater opens the dialog that build makes of a list which has to be
// fetched first, unless another was asked for since.
func openLater[T any](m *Model, label string, f func(context.Context) (T, error), build func(*Model, T) dialog.Dialog) {
	m.opens++
	n := m.opens
	later(m, label, f, func(m *Model, v T) {
		if m.opens == n && m.dialog == nil {
			m.dialog = build(m, v)
		}
	})
}

type jobMsg struct {
	job  transcript.Job
	rows []string
}

// runJobs draws beside the screen what would hold it up.
func (m *Model) runJobs() {
	for _, j := range m.transcript.TakeJobs() {
		m.do(func() tea.Msg { return jobMsg{j, j.Run()} })
	}
}

package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/patriceckhart/zot/tui/paint"
)

// Modes that the interface sets beside those of the program: the wheel must not
// walk the history on terminals that turn it into arrow keys. The mode before
// is saved and restored.
const (
	enterModes = "\x1b[?1007s\x1b[?1007l"
	leaveModes = "\x1b[?1007r"
	// exitModes repeats what the program restores by itself: a frame that was
	// cut short by the end must not leave a hidden cursor or a held screen.
	exitModes = leaveModes + "\x1b[?7h\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?25h"
)

// A SignalError is the end by a signal from outside.
type SignalError struct{ Signal os.Signal }

func (e SignalError) Error() string { return "ended by " + e.Signal.String() }

// NeedsPlain reports whether the line-oriented surface should be used instead:
// the terminal cannot place its cursor, or there is none.
func NeedsPlain(env []string, in io.Reader, out io.Writer) bool {
	if e := readEnvironment(env); e.dumb {
		return true
	}
	i, iok := in.(*os.File)
	o, ook := out.(*os.File)
	return !iok || !ook || !term.IsTerminal(i.Fd()) || !term.IsTerminal(o.Fd())
}

// Run opens the interface and returns when the user has left it, ctx has ended
// or a signal came; the terminal is as it was before, whichever it was. Open
// questions are refused then. The error is nil when the user left, ctx's when
// that ended, and a [SignalError] after a signal.
func Run(ctx context.Context, opt Options) (err error) {
	if opt.Env == nil {
		opt.Env = os.Environ()
	}
	if opt.Input == nil {
		opt.Input = os.Stdin
	}
	if opt.Output == nil {
		opt.Output = os.Stdout
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := New(ctx, opt)
	input, pause := wrapInput(opt.Input, m.pastes)
	m.input = pause
	p := m.program(ctx, input)
	defer m.Connect(ctx, p.Send)()
	stop := signals(ctx, p)
	defer stop()
	go func() { // ends with ctx, which Run cancels
		<-ctx.Done()
		p.Send(quitMsg{ctx.Err()})
	}()
	_, err = p.Run()
	cancel()
	if pause != nil {
		pause.pause()
	}
	_, _ = io.WriteString(opt.Output, m.farewellPictures()+exitModes) // the terminal may be gone
	return m.leave(err)
}

// program makes the program around m. On the alternate screen frames are painted
// row by row, which costs a fraction of the program's own drawing by cells; on
// the first screen, where rows that have left it belong to the shell, the
// program draws.
func (m *Model) program(ctx context.Context, input io.Reader, more ...tea.ProgramOption) *tea.Program {
	out := m.opt.Output
	if !m.opt.MainScreen {
		m.screen = paint.New(out, paint.Options{Rewrite: runtime.GOOS == "windows"})
		out = m.screen.Output()
	}
	p := tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithInput(input), tea.WithOutput(out), tea.WithEnvironment(m.opt.Env),
		tea.WithFPS(30), tea.WithoutSignalHandler(), tea.WithFilter(filter)}, more...)...)
	if m.screen != nil {
		go func() { // ends with ctx
			defer recovered(p.Send)
			m.screen.Run(ctx)
		}()
	}
	return p
}

// Connect carries events and questions to send until ctx ends; [Run] does it
// with its program. The function that comes back refuses what is unanswered.
func (m *Model) Connect(ctx context.Context, send func(tea.Msg)) (close func()) {
	asks := &askLedger{}
	go pump(ctx, m.opt.Events, send)
	go asks.forward(ctx, m.opt.Asks, send)
	return asks.close
}

// leave says goodbye on the screen that was there before, and why it ended.
func (m *Model) leave(err error) error {
	if f := m.opt.Farewell; f != nil && err == nil {
		if line := f(); line != "" {
			_, _ = fmt.Fprintln(m.opt.Output, line)
		}
	}
	if err != nil {
		return fmt.Errorf("the terminal interface failed: %w", err)
	}
	return m.quitErr
}

// filter drops what would change how wide the program takes text to be: our
// rows are measured in one way on every terminal.
func filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if r, ok := msg.(tea.ModeReportMsg); ok && r.Mode == ansi.ModeUnicodeCore {
		return nil
	}
	return msg
}

// signals ends the program in an orderly way; a second signal at once.
func signals(ctx context.Context, p *tea.Program) (stop func()) {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with ctx
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case s := <-ch:
				if n > 0 {
					p.Kill()
					return
				}
				go p.Send(quitMsg{SignalError{s}})
			}
		}
	}()
	return func() { signal.Stop(ch) }
}

// askLedger makes sure that every question is answered once, those too that
// arrive while the screen goes away.
type askLedger struct {
	mu     sync.Mutex
	closed bool
	refuse []func()
}

func (l *askLedger) forward(ctx context.Context, in <-chan Ask, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case a, ok := <-in:
			if !ok {
				return
			}
			l.add(&a)
			send(askMsg{a})
		}
	}
}

func (l *askLedger) add(a *Ask) {
	answer := a.Answer
	var once sync.Once
	a.Answer = func(n int) {
		once.Do(func() {
			if answer != nil {
				answer(n)
			}
		})
	}
	refuse := func() { a.Answer(a.Cancel) }
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		refuse()
		return
	}
	l.refuse = append(l.refuse, refuse)
	if len(l.refuse) > 1000 { // long answered, most of them; once makes it harmless to forget
		l.refuse = l.refuse[500:]
	}
}

func (l *askLedger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, f := range l.refuse {
		f()
	}
	l.refuse = nil
}

// Package plain is the line-oriented surface of zot: for screen readers,
// terminals that cannot place their cursor, and no terminal at all.
//
// It writes whole lines, one after the other, and never a control sequence.
// Who speaks stands before each: "you:", "zot:", "tool:", "[extension]".
// Questions and lists are numbered and answered by typing the number. It reads
// lines as the terminal hands them over, so editing is the terminal's own.
package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/screen"
)

// surface is the state of one run. Everything happens on one goroutine, the one
// of loop; what takes time runs beside it and comes back through results.
type surface struct {
	ctx     context.Context
	rt      tui.Runtime
	opt     tui.Options
	out     io.Writer
	writeTo error // the first failure of out

	results   chan func()
	asks      []*dialog.Question
	choosing  *choice
	panel     *panel
	printer   printer
	busy      bool
	stopped   bool
	sawDone   bool      // the last event of the prompt has arrived
	overSince time.Time // when the runtime said that it is over
	waiting   int       // results that are still to come
	lastInt   time.Time
	over      bool
	ended     bool // the input has
	err       error
}

// Run opens the surface and returns when the user has left, the input has ended
// and everything asked is answered, ctx has ended or a signal came. Open
// questions are refused then.
func Run(ctx context.Context, opt tui.Options) error {
	if opt.Input == nil {
		opt.Input = os.Stdin
	}
	if opt.Output == nil {
		opt.Output = os.Stdout
	}
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(sig)
	return run(ctx, opt, sig)
}

func run(ctx context.Context, opt tui.Options, sig <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &surface{ctx: ctx, rt: opt.Runtime, opt: opt, out: opt.Output, results: make(chan func())}
	s.printer.line = s.line
	lines := make(chan string)
	go readLines(ctx, opt.Input, lines)
	s.greet()
	s.loop(lines, sig)
	for _, q := range s.asks {
		q.Cancel()
	}
	if s.err == nil && opt.Farewell != nil {
		if text := opt.Farewell(); text != "" {
			s.line("%s", text)
		}
	}
	return s.err
}

// maxLine is the longest line that is read; a longer one ends the input.
const maxLine = 16 << 20

// readLines ends with the input, or after the next line once ctx has ended.
func readLines(ctx context.Context, in io.Reader, out chan<- string) {
	defer close(out)
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxLine)
	for sc.Scan() {
		select {
		case out <- strings.TrimRight(sc.Text(), "\r"):
		case <-ctx.Done():
			return
		}
	}
}

func (s *surface) loop(lines <-chan string, sig <-chan os.Signal) {
	events, asks := s.opt.Events, s.opt.Asks
	for !s.over {
		s.refresh()
		if s.ended && !s.busy && s.waiting == 0 && len(s.asks) == 0 && len(s.rt.Queue()) == 0 && len(events) == 0 {
			return
		}
		var quiet <-chan time.Time
		if s.panel != nil && s.panel.changed {
			quiet = time.After(panelQuiet)
		}
		var late <-chan time.Time
		if !s.overSince.IsZero() {
			late = time.After(doneWithin - time.Since(s.overSince))
		}
		select {
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
			return
		case <-late:
		case n := <-sig:
			s.signal(n)
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			s.event(ev)
		case a, ok := <-asks:
			if !ok {
				asks = nil
				continue
			}
			s.ask(a)
		case f := <-s.results:
			f()
		case l, ok := <-lines:
			if !ok {
				lines, s.ended = nil, true
				s.inputEnded()
				continue
			}
			s.input(l)
		case <-quiet:
			s.printPanel()
		}
	}
}

// line writes one line; a surface that cannot be written to is over.
func (s *surface) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	for _, l := range strings.Split(screen.Clean(text), "\n") {
		if _, err := io.WriteString(s.out, strings.TrimRight(l, " ")+"\n"); err != nil && s.writeTo == nil {
			s.writeTo = err
			s.err, s.over = fmt.Errorf("writing: %w", err), true
		}
	}
}

func (s *surface) greet() {
	st := s.rt.State()
	s.line("%s", strings.TrimSpace("zot "+s.opt.Version)+", line by line. /help lists commands, /exit leaves.")
	switch {
	case st.Demo:
		s.line("demo model: answers are made up here and nothing is asked over the network")
	case !st.Ready:
		s.line("%s", hint(st))
	default:
		s.line("model: %s", st.Model)
	}
	for _, m := range s.rt.Transcript() {
		if text := strings.TrimSpace(m.Text()); text != "" {
			s.printer.whole(map[string]string{"user": "you", "assistant": "zot"}[string(m.Role)], text)
		}
	}
	if s.opt.Prefill != "" {
		s.line("not sent: %s", s.opt.Prefill)
	}
}

func hint(st tui.State) string {
	if st.Hint != "" {
		return st.Hint
	}
	return "no model is set up: /login PROVIDER keeps a key, a provider's variable holds one, and zot demo needs none"
}

// doneWithin is how long the last event of a prompt is waited for once the
// runtime says that it is over.
const doneWithin = 3 * time.Second

// refresh says when a prompt is over: its last event has arrived by then.
func (s *surface) refresh() {
	busy := s.rt.State().Busy
	switch {
	case busy:
		s.overSince = time.Time{}
	case s.busy && !s.sawDone:
		if s.overSince.IsZero() {
			s.overSince = time.Now()
		}
		busy = time.Since(s.overSince) < doneWithin
	}
	if busy && !s.busy {
		s.sawDone = false
	}
	if s.busy && !busy {
		s.printer.flush()
		if s.stopped {
			s.line("stopped.")
		} else {
			s.line("ready.")
		}
		s.stopped, s.overSince = false, time.Time{}
	}
	s.busy = busy
}

func (s *surface) signal(n os.Signal) {
	if n != os.Interrupt {
		s.err, s.over = tui.SignalError{Signal: n}, true
		return
	}
	switch {
	case len(s.asks) > 0:
		s.asks[0].Cancel()
		s.nextAsk()
	case s.choosing != nil:
		s.choosing = nil
		s.line("nothing was chosen.")
	case s.panel != nil:
		s.closePanel()
	case s.busy:
		s.stop()
	case time.Since(s.lastInt) < 2*time.Second:
		s.over = true
	default:
		s.lastInt = time.Now()
		s.line("press ctrl+c again to leave, or type /exit.")
	}
}

// stop ends the turn. What was queued is shown and dropped: a line cannot be
// put back into the terminal's own editing.
func (s *surface) stop() {
	s.stopped = true
	for _, text := range s.rt.TakeBackQueue() {
		s.line("not sent: %s", text)
	}
	s.rt.Cancel()
}

// inputEnded refuses what nobody can answer any more.
func (s *surface) inputEnded() {
	for len(s.asks) > 0 {
		s.asks[0].Cancel()
		s.nextAsk()
	}
	s.choosing = nil
	if s.panel != nil {
		s.closePanel()
	}
}

// input acts on a line: an answer, a choice, a key for a panel, a command, a
// prompt.
func (s *surface) input(l string) {
	switch {
	case len(s.asks) > 0:
		s.answer(l)
	case s.choosing != nil:
		s.choose(l)
	case s.panel != nil:
		s.panelLine(l)
	default:
		s.prompt(l)
	}
}

func (s *surface) prompt(l string) {
	text := strings.TrimSpace(l)
	if text == "" {
		return
	}
	if name, args, ok := command.Parse(text); ok {
		s.command(command.Fold(name), args)
		return
	}
	if sh, ok := s.rt.(tui.Shell); ok && strings.HasPrefix(text, "!") && len(text) > 1 {
		beside(s, func(ctx context.Context) (string, error) {
			out, exit, err := sh.Shell(ctx, strings.TrimSpace(text[1:]))
			if err == nil && exit != 0 {
				out += fmt.Sprintf("\nexit status %d", exit)
			}
			return out, err
		}, func(out string) { s.line("%s", strings.TrimRight(screen.CleanOutput(out), "\n")) })
		return
	}
	if !s.rt.State().Ready {
		s.line("%s", hint(s.rt.State()))
		return
	}
	if s.busy {
		s.line("queued.")
	}
	s.rt.Submit(tui.Prompt{Text: text})
}

// beside runs f on a goroutine that ends with it, and then on the surface's.
func beside[T any](s *surface, f func(context.Context) (T, error), then func(T)) {
	s.waiting++
	go func() {
		v, err := f(s.ctx)
		done := func() {
			s.waiting--
			switch {
			case errors.Is(err, context.Canceled):
			case err != nil:
				s.line("error: %s", err.Error())
			case then != nil:
				then(v)
			}
		}
		select {
		case s.results <- done:
		case <-s.ctx.Done():
		}
	}()
}

func (s *surface) event(ev event.Event) {
	switch e := ev.(type) {
	case event.TurnStart:
		s.sawDone = false
	case event.Done:
		s.sawDone = true
	case event.ExtPanelOpen:
		s.openPanel(e)
	case event.ExtPanelRender:
		if p := s.panel; p != nil && p.ext == e.Extension && p.id == e.ID {
			p.set(e.Title, e.Lines, e.Footer)
		}
	case event.ExtPanelClose:
		if p := s.panel; p != nil && p.ext == e.Extension && (e.ID == "" || e.ID == p.id) {
			s.panel = nil
			s.line("panel closed.")
		}
	case event.Error:
		if !s.stopped {
			s.printer.whole("error", e.Message)
		}
	default:
		s.printer.event(ev)
	}
}

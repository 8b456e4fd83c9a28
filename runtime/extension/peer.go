package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/transports"
)

// A State says where an extension is in its life.
type State string

// The states of an extension, in the words that doctor prints.
const (
	StateStarting  State = "starting"
	StateGreeted   State = "not ready"     // hello came, ready did not yet
	StateReady     State = "ok"            // it said ready
	StateAutoReady State = "auto-ready"    // it registered and then fell silent
	StateLateReady State = "ready-timeout" // it said nothing in time and counts as ready
	StateBundle    State = "bundle"        // theme or skills only: nothing runs
	StateFailed    State = "error"         // it did not start, or died
	StateStopped   State = "stopped"
)

// A peer is an entry that runs, from its launch until nothing of it is left.
type peer struct {
	m     *Manager
	entry Entry
	log   *logFile
	pend  *pending
	bounds

	// life ends with the extension, and with it what it had zot do.
	life context.Context
	die  context.CancelFunc

	// settled is closed when the peer is ready or never will be; gone when
	// nothing of it is left.
	settled, gone chan struct{}
	settleOnce    sync.Once

	// greeted is the reader's own.
	greeted bool
	noise   map[string]bool

	// Guarded by m.mu.
	rank       int
	stray      string // the first line before its hello that was no frame, quoted
	state      State
	err        error // why it failed
	cause      error // why it was disconnected from here; the first one counts
	stopping   bool
	conn       transports.Conn // nil until launched
	stream     *stream         // likewise, and not changed after
	out        *outbox         // nil until launched
	hello      extproto.Hello
	caps       map[string]bool
	observes   map[string]bool
	intercepts map[string]bool
	early      []extproto.Event // events of before it was ready
	commands   []*commandReg
	tools      []*toolReg
	messages   []string
	warnings   []string // those of messages that were visible
	autoReady  *time.Timer
	live       map[string]*liveCall               // tool calls it works on, by host id
	ownCalls   map[string]context.CancelCauseFunc // call_tool it waits for, by its id
	requests   int                                // host services it waits for
	walls      <-chan struct{}                    // closed when all is heard of the walls; of the goroutine of run
	launchTime time.Duration
	started    time.Time
	readyAt    time.Time
}

func newPeer(m *Manager, e Entry, rank int) *peer {
	life, die := context.WithCancel(m.ctx)
	logs := m.opts.LogDir
	if e.Launch == nil {
		logs = "" // nothing runs, so nothing is said
	}
	p := &peer{
		m: m, entry: e, rank: rank, state: StateStarting, life: life, die: die,
		log:     openLog(logs, e.Name, m.opts.Limits.LogBytes).keeping(m.opts.Limits.LogFiles),
		pend:    newPending(),
		settled: make(chan struct{}), gone: make(chan struct{}),
		noise: map[string]bool{}, caps: map[string]bool{},
		observes: map[string]bool{}, intercepts: map[string]bool{},
		live: map[string]*liveCall{}, ownCalls: map[string]context.CancelCauseFunc{},
	}
	p.scope.Store(newScope(e.Rights))
	return p
}

// run is the life of a peer. It ends when the extension is gone.
func (p *peer) run(ctx context.Context) {
	defer close(p.gone)
	defer p.die()
	defer func() { _ = p.log.Close() }()
	if p.entry.Launch == nil {
		p.m.update(func(*effects) { p.state = StateBundle })
		p.settle()
		return
	}
	p.log.printf("starting %s %s at %s", p.entry.Name, p.entry.Version, time.Now().Format(time.RFC3339))
	conn, err := p.launch(ctx)
	if err != nil {
		p.down(p.withLog(fmt.Sprintf("%s: %v", p.entry.Exec, err)))
		return
	}
	hello := time.AfterFunc(p.m.opts.Timeouts.Hello, p.helloOverdue)
	defer hello.Stop()
	err = p.read()
	// The exit status belongs in the message where the extension left by itself;
	// what then cannot be written to it any more is no cause.
	cause := p.disconnected()
	exit := p.leave(conn, err)
	p.awaitWalls()
	if exit.Limit != "" {
		p.metLimit(exit.Limit, exit.Reason)
	}
	p.down(p.explain(err, cause, exit))
}

// launch starts the process; few do at a time, so that a machine with little
// room is not flooded.
func (p *peer) launch(ctx context.Context) (transports.Conn, error) {
	select {
	case p.m.launching <- struct{}{}:
		defer func() { <-p.m.launching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	began := time.Now()
	conn, err := p.entry.Launch(ctx, p.log)
	if err != nil {
		return nil, err
	}
	p.walls = p.hearWalls(conn)
	// The outbox may fail while the manager is locked, hence the goroutine; it
	// ends within leaveTime.
	out := newOutbox(conn, p.m.opts.Limits, p.m.opts.Timeouts.Write, func(err error) { go p.unwritable(conn, err) })
	stopping := false
	p.m.update(func(*effects) {
		p.conn, p.stream, p.out, p.started = conn, newStream(conn), out, time.Now()
		p.launchTime = p.started.Sub(began)
		stopping = p.stopping
	})
	if stopping {
		p.disconnect(errors.New("stopped while it started"))
	}
	return conn, nil
}

// helloOverdue disconnects an extension that has not said hello by now.
func (p *peer) helloOverdue() {
	p.m.mu.Lock()
	late := p.state == StateStarting
	p.m.mu.Unlock()
	if late {
		p.disconnect(fmt.Errorf("no hello within %s%s", p.m.opts.Timeouts.Hello, p.instead()))
	}
}

// instead says what came in place of a hello, if anything did.
func (p *peer) instead() string {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return p.strayText()
}

// strayText is instead for those who hold the manager's mutex.
func (p *peer) strayText() string {
	if p.stray == "" {
		return ""
	}
	return fmt.Sprintf("; what it wrote is no frame of JSON: %s", p.stray)
}

// leave ends a connection that is read no more. An extension whose stream
// ended is on its way out and gets a moment, so that its own exit status is
// what is reported; one that did wrong gets none.
func (p *peer) leave(conn transports.Conn, readErr error) transports.Exit {
	var grace transports.Grace
	if errors.Is(readErr, io.EOF) && p.disconnected() == nil {
		grace.Exit = leaveTime
	}
	if p.isStopping() { // it has its grace already
		t := p.m.opts.Timeouts
		grace = transports.Grace{Exit: t.Exit, Term: t.Term}
	}
	return conn.Stop(context.Background(), grace)
}

// leaveTime is how long an extension may live after its output has ended.
const leaveTime = time.Second

// unwritable ends the connection to an extension that nothing can be written
// to. One that has closed its input is most likely leaving, and gets a moment,
// so that its own exit status is what is reported; one that is being stopped
// has a reason already.
func (p *peer) unwritable(conn transports.Conn, err error) {
	switch {
	case errors.Is(err, transports.ErrClosed):
		return
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errQueueFull):
		p.disconnect(err)
		return
	}
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	select {
	case <-conn.Done(): // the reader takes it down
	case <-timer.C:
		p.disconnect(err)
	}
}

// disconnect ends the connection for a reason; the reader then takes the peer
// down. It never blocks.
func (p *peer) disconnect(cause error) {
	var conn transports.Conn
	p.m.mu.Lock()
	if p.cause == nil {
		p.cause = cause
	}
	conn = p.conn
	p.m.mu.Unlock()
	if conn != nil {
		go conn.Stop(context.Background(), transports.Grace{}) // ends by itself: the process is killed
	}
}

func (p *peer) disconnected() error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return p.cause
}

// explain puts the end of a connection in words: what zot did to it, or how it
// left, with the last lines it wrote to its standard error.
func (p *peer) explain(readErr, cause error, exit transports.Exit) error {
	var what string
	var tooLong *transports.FrameTooLongError
	switch {
	case errors.As(readErr, &tooLong):
		what = fmt.Sprintf("disconnected: %v", readErr)
	case errors.As(readErr, new(*protocolError)):
		what = readErr.Error()
	case cause != nil:
		what = "disconnected: " + cause.Error()
	case !p.greeted:
		what = "it ended before its hello" + p.instead() + ": " + ending(exit)
	default:
		what = "it ended: " + ending(exit)
	}
	if tail := strings.TrimSpace(exit.StderrTail); tail != "" {
		what += "\nlast lines on its standard error:\n" + indent(lastLines(tail, 5))
	}
	return p.withLog(what)
}

// ending says how an extension left, by its code where a limit ended it.
func ending(exit transports.Exit) string {
	if exit.Limit == "" {
		return exit.String()
	}
	return fmt.Sprintf("%s: %s", policies.CodeLimit, exit)
}

// withLog is an error that says where more may stand.
func (p *peer) withLog(what string) error {
	if p.log.path != "" {
		what += "\nlog: " + p.log.path
	}
	return errors.New(what)
}

// A protocolError is a fault of the extension that ends the connection.
type protocolError struct{ text string }

func (e *protocolError) Error() string { return e.text }

// down takes the peer out of everything: its waiters fail, its panel closes,
// its names go to whoever is next.
func (p *peer) down(err error) {
	if p.isStopping() {
		p.log.printf("stopped")
	} else {
		p.log.printf("%s", err)
	}
	failure := fmt.Errorf("extension %s disconnected: %s", p.entry.Name, strings.TrimPrefix(err.Error(), "disconnected: "))
	p.pend.failAll(failure)
	p.die()
	p.m.update(func(fx *effects) {
		if p.autoReady != nil {
			p.autoReady.Stop()
		}
		if p.out != nil {
			p.out.close(failure)
		}
		if p.stopping {
			p.state = StateStopped
		} else {
			p.state, p.err = StateFailed, err
			fx.emit(event.ExtFailed{Extension: p.entry.Name, Message: err.Error()})
		}
		p.m.closePanelOf(p, fx)
		p.m.dir.drop(p, fx)
	})
	p.settle()
}

func (p *peer) isStopping() bool {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return p.stopping
}

// settle marks the peer as ready, or as one that never will be.
func (p *peer) settle() {
	p.settleOnce.Do(func() {
		close(p.settled)
		p.m.reportLoading()
	})
}

// becomeReady ends the registration window.
func (p *peer) becomeReady(s State) {
	first := false
	p.m.update(func(fx *effects) {
		if p.state != StateGreeted {
			return
		}
		first = true
		p.state, p.readyAt = s, time.Now()
		if p.autoReady != nil {
			p.autoReady.Stop()
		}
		if p.m.session != nil {
			p.m.tell(p, *p.m.session)
		}
		for _, e := range p.early {
			p.m.tell(p, e)
		}
		p.early = nil
	})
	if !first {
		return
	}
	switch s {
	case StateAutoReady:
		p.diagnose(false, "no ready frame; it counts as ready after %s of silence", p.m.opts.Timeouts.AutoReady)
	case StateLateReady:
		p.diagnose(true, "no ready frame within %s; going on without waiting for more", p.m.opts.Timeouts.Ready)
	}
	p.settle()
}

// isReady reports whether events and questions may be sent. m.mu is held.
func (p *peer) isReady() bool {
	return p.state == StateReady || p.state == StateAutoReady || p.state == StateLateReady
}

// diagnose notes something about the extension: in its log, for doctor, and,
// where visible, for the user.
func (p *peer) diagnose(visible bool, format string, args ...any) {
	p.m.update(func(fx *effects) { p.remark(fx, visible, fmt.Sprintf(format, args...)) })
}

// remark is diagnose where m.mu is held.
func (p *peer) remark(fx *effects, visible bool, text string) {
	fx.after(func() { p.log.printf("%s", text) })
	// The log has them all; of an extension that never stops doing wrong the
	// first are enough to know.
	if len(p.messages) < maxMessages {
		p.messages = append(p.messages, text)
	}
	if visible && len(p.warnings) < maxMessages {
		p.warnings = append(p.warnings, text)
	}
	if visible {
		fx.emit(event.ExtNotify{Extension: p.entry.Name, Level: extproto.LevelWarn, Message: text})
	}
}

// maxMessages is how many diagnostics of an extension are kept for doctor.
const maxMessages = 200

// post encodes and queues a frame without waiting for it to be written.
func (p *peer) post(f extproto.Frame) {
	line, err := extproto.Encode(f)
	if err != nil {
		p.log.printf("%v", err)
		return
	}
	if out := p.outbox(); out != nil {
		_ = out.post(line) // a failure takes the peer down by itself
	}
}

// outbox returns the peer's outbox, or nil before it was launched.
func (p *peer) outbox() *outbox {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return p.out
}

func lastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

package extension

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/transports"
)

// A Manager runs the extensions of one session. All methods are safe for
// concurrent use.
type Manager struct {
	opts      Options
	launching chan struct{} // bounds how many start at a time
	ctx       context.Context
	cancel    context.CancelFunc
	reloading sync.Mutex // one start, reload or stop at a time

	emitting sync.Mutex // held by who hands events on; taken before mu

	mu       sync.Mutex    // guards all below and what peer says it guards
	events   []event.Event // to hand on, in the order of the changes behind them
	stopped  bool          // Stop was called: nothing starts any more
	peers    []*peer       // in rank order
	failures []Failure
	dir      directory
	panel    *openPanel
	session  *extproto.Event // the session_start to tell, once one is open
	sequence uint64
	info     sessionInfo
}

type sessionInfo struct{ id, cwd string }

// New returns a manager that runs nothing yet.
func New(opts Options) *Manager {
	opts = opts.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{
		opts: opts, ctx: ctx, cancel: cancel,
		launching: make(chan struct{}, max(8, 4*runtime.NumCPU())),
	}
	m.dir.m = m
	return m
}

// effects collects what a change of state causes outside the lock.
type effects struct {
	m            *Manager
	afterwards   []func()
	toolsChanged bool
}

// emit hands an event on once the lock is free. Events arrive in the order of
// the changes that caused them, whoever made these.
func (fx *effects) emit(e event.Event) { fx.m.events = append(fx.m.events, e) }

// after runs f once the lock is free.
func (fx *effects) after(f func()) { fx.afterwards = append(fx.afterwards, f) }

// update is the one door to the manager's state: it runs f under the lock and
// then, without it, what f caused.
func (m *Manager) update(f func(*effects)) {
	fx := effects{m: m}
	m.mu.Lock()
	before := len(m.events)
	f(&fx)
	due := len(m.events) > before // not those of others: Observe comes from within Emit
	m.mu.Unlock()
	for _, f := range fx.afterwards {
		f()
	}
	if due {
		m.handOn()
	}
	if fx.toolsChanged {
		m.opts.ToolsChanged()
	}
}

// handOn emits what is due. When it returns, all that was due at its call has
// been emitted, by whomever.
func (m *Manager) handOn() {
	m.emitting.Lock()
	defer m.emitting.Unlock()
	m.mu.Lock()
	events := m.events
	m.events = nil
	m.mu.Unlock()
	for _, e := range events {
		m.opts.Emit(e)
	}
}

// emit hands on an event that goes with no change of state.
func (m *Manager) emit(e event.Event) { m.update(func(fx *effects) { fx.emit(e) }) }

// Start starts every extension of the plan and returns at once. After Stop it
// does nothing.
func (m *Manager) Start() {
	m.reloading.Lock()
	defer m.reloading.Unlock()
	m.start(m.opts.Plan())
}

// start makes the plan's peers and runs them. The caller holds m.reloading.
func (m *Manager) start(plan Plan) {
	var fresh []*peer
	m.update(func(fx *effects) {
		if m.stopped {
			return
		}
		m.failures = plan.Failures
		m.peers = nil
		for rank, e := range plan.Entries {
			p := newPeer(m, e, rank)
			m.peers = append(m.peers, p)
			fresh = append(fresh, p)
		}
		for _, f := range plan.Failures {
			fx.emit(event.ExtFailed{Extension: f.Name, Message: f.Err.Error()})
		}
	})
	for _, p := range fresh {
		go p.run(m.ctx) // ends with the extension, at the latest in stopPeers
	}
	m.reportLoading()
}

// reportLoading tells the face how many extensions are still starting.
func (m *Manager) reportLoading() {
	m.update(func(fx *effects) {
		if len(m.peers) == 0 {
			return
		}
		loading := 0
		for _, p := range m.peers {
			select {
			case <-p.settled:
			default:
				loading++
			}
		}
		fx.emit(event.ExtState{Loading: loading, Total: len(m.peers)})
	})
}

// WaitReady waits until every extension, or each of the named ones, is ready or
// has failed, or ctx ends; it names those that were still on their way then.
func (m *Manager) WaitReady(ctx context.Context, names ...string) (late []string) {
	return m.wait(ctx, names, func(p *peer) chan struct{} { return p.settled })
}

// WaitGone waits until nothing is left of any extension, or of the named ones.
// It returns those that still run when ctx ended.
func (m *Manager) WaitGone(ctx context.Context, names ...string) (alive []string) {
	return m.wait(ctx, names, func(p *peer) chan struct{} { return p.gone })
}

// wait waits for a channel of every extension, or of the named ones, to be
// closed, and returns those of which it was not when ctx ended.
func (m *Manager) wait(ctx context.Context, names []string, of func(*peer) chan struct{}) (others []string) {
	for _, p := range m.snapshot() {
		if len(names) > 0 && !slices.Contains(names, p.entry.Name) {
			continue
		}
		select {
		case <-of(p):
			continue
		default:
		}
		select {
		case <-of(p):
		case <-ctx.Done():
			others = append(others, p.entry.Name)
		}
	}
	return others
}

func (m *Manager) snapshot() []*peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.peers)
}

func (m *Manager) helloAck(e Entry) extproto.HelloAck {
	h := m.opts.Host()
	ack := extproto.HelloAck{
		ProtocolVersion: extproto.Version,
		ZotVersion:      h.ZotVersion, Provider: h.Provider, Model: h.Model, CWD: h.CWD,
		ExtensionDir: e.Dir, DataDir: e.DataDir,
	}
	if e.RunDir != "" {
		ack.ExtensionDir = e.RunDir
	}
	if m.opts.CallTool != nil {
		ack.Capabilities = append(ack.Capabilities, extproto.CapCallTool)
	}
	if m.opts.Request != nil {
		ack.Capabilities = append(ack.Capabilities, extproto.CapRequest)
	}
	return ack
}

// Stop ends every extension: shutdown, closed input, and after the grace
// SIGTERM and SIGKILL. When ctx ends the remaining steps are taken at once. It
// returns when nothing of them is left.
func (m *Manager) Stop(ctx context.Context) {
	m.update(func(*effects) { m.stopped = true })
	m.reloading.Lock()
	defer m.reloading.Unlock()
	m.stopPeers(ctx, m.snapshot())
	m.cancel()
}

// stopPeers stops the given peers side by side.
func (m *Manager) stopPeers(ctx context.Context, peers []*peer) {
	var wg sync.WaitGroup
	for _, p := range peers {
		wg.Go(func() { p.stop(ctx) })
	}
	wg.Wait()
}

// stop ends one extension and waits until it is gone.
func (p *peer) stop(ctx context.Context) {
	var conn transports.Conn
	var out *outbox
	p.m.update(func(*effects) {
		p.stopping = true
		conn, out = p.conn, p.out
	})
	if conn != nil {
		// "When zot exits, it sends shutdown and waits"; one that does not even
		// read does not get to hold up the rest.
		quick, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		if line, err := extproto.Encode(extproto.Shutdown{}); err == nil {
			_, _ = out.send(quick, line)
		}
		cancel()
		t := p.m.opts.Timeouts
		conn.Stop(ctx, transports.Grace{Exit: t.Exit, Term: t.Term})
	}
	<-p.gone
}

// A Report says what a reload did.
type Report struct {
	Stopped, Loaded, Ready int
	Errors                 []Failure
}

// ErrUnknownExtension is wrapped by Reload for a name that no plan knows.
var ErrUnknownExtension = errors.New("no such extension")

// ErrStopped is returned by Reload after Stop.
var ErrStopped = errors.New("the extensions are stopped")

// Reload stops extensions, reads the plan again and starts them: all of them,
// or with a name only the one so called. It waits until they are ready, or ctx
// ends. Calls in flight on what is stopped fail.
func (m *Manager) Reload(ctx context.Context, name string) (Report, error) {
	report, err := m.restart(ctx, name)
	if err != nil {
		return Report{}, err
	}
	m.WaitReady(ctx) // not under the lock of restart, so that Stop need not wait
	m.report(&report, name)
	m.emit(event.ExtReloaded{
		Stopped: report.Stopped, Loaded: report.Loaded, Ready: report.Ready, Failed: len(report.Errors),
	})
	return report, nil
}

// restart stops and starts, and says what it stopped.
func (m *Manager) restart(ctx context.Context, name string) (Report, error) {
	m.reloading.Lock()
	defer m.reloading.Unlock()
	if m.isStopped() {
		return Report{}, ErrStopped
	}
	plan := m.opts.Plan()
	var old, kept []*peer
	for _, p := range m.snapshot() {
		if name == "" || strings.EqualFold(p.entry.Name, name) {
			old = append(old, p)
		} else {
			kept = append(kept, p)
		}
	}
	if name != "" && len(old) == 0 && !plan.has(name) {
		return Report{}, ErrUnknownExtension
	}
	m.stopPeers(context.WithoutCancel(ctx), old)
	var report Report
	for _, p := range old {
		if p.conn != nil {
			report.Stopped++
		}
	}
	if name == "" {
		m.start(plan)
	} else {
		m.startOne(plan, kept, name)
	}
	return report, nil
}

func (m *Manager) isStopped() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

func (p Plan) has(name string) bool {
	return slices.ContainsFunc(p.Entries, func(e Entry) bool { return strings.EqualFold(e.Name, name) }) ||
		slices.ContainsFunc(p.Failures, func(f Failure) bool { return strings.EqualFold(f.Name, name) })
}

// startOne starts the entry called name at its rank among those that run on.
func (m *Manager) startOne(plan Plan, kept []*peer, name string) {
	running := make(map[string]*peer, len(kept))
	for _, p := range kept {
		running[strings.ToLower(p.entry.Name)] = p
	}
	var fresh []*peer
	m.update(func(fx *effects) {
		if m.stopped {
			return
		}
		m.peers = nil
		for rank, e := range plan.Entries {
			p := running[strings.ToLower(e.Name)]
			if p == nil && strings.EqualFold(e.Name, name) {
				p = newPeer(m, e, rank)
				fresh = append(fresh, p)
			}
			if p != nil {
				p.rank = rank
				m.peers = append(m.peers, p)
				delete(running, strings.ToLower(e.Name))
			}
		}
		// What runs but is no longer in the plan runs on until all is reloaded.
		for _, p := range kept {
			if running[strings.ToLower(p.entry.Name)] == p {
				p.rank = len(m.peers)
				m.peers = append(m.peers, p)
			}
		}
		m.failures = slices.DeleteFunc(m.failures, func(f Failure) bool { return strings.EqualFold(f.Name, name) })
		for _, f := range plan.Failures {
			if strings.EqualFold(f.Name, name) {
				m.failures = append(m.failures, f)
				fx.emit(event.ExtFailed{Extension: f.Name, Message: f.Err.Error()})
			}
		}
		m.dir.resort(fx)
	})
	for _, p := range fresh {
		go p.run(m.ctx)
	}
	m.reportLoading()
}

// report counts what came of a reload.
func (m *Manager) report(r *Report, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if name != "" && !strings.EqualFold(p.entry.Name, name) {
			continue
		}
		switch {
		case p.isReady() || p.state == StateBundle:
			r.Loaded++
			r.Ready++
		case p.state == StateFailed:
			r.Errors = append(r.Errors, Failure{Name: p.entry.Name, Err: p.err})
		default:
			r.Loaded++
		}
	}
	for _, f := range m.failures {
		if name == "" || strings.EqualFold(f.Name, name) {
			r.Errors = append(r.Errors, f)
		}
	}
}

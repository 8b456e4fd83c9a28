package ext

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// drainWait bounds how long the end of a run waits for handlers. It is half of
// the two seconds after which zot becomes insistent.
const drainWait = time.Second

// capabilities are what this SDK understands, said in hello.
var capabilities = []string{
	extproto.CapCommands, extproto.CapTools, extproto.CapEvents, extproto.CapPanels,
	extproto.CapToolCancel, extproto.CapCallTool,
}

// run is one connection to a host.
type run struct {
	e       *Extension
	out     *output
	ctx     context.Context
	cancel  context.CancelCauseFunc
	greeted bool // the handshake is done; guarded by e.mu

	handlers sync.WaitGroup // what runs the author's code
	handOn   atomic.Pointer[func()]
	events   serial

	mu      sync.Mutex // guards all below
	over    bool       // nothing new enters
	calls   map[string]context.CancelFunc
	waiting map[string]chan extproto.Frame // requests to the host, by id
	lastID  int
}

// Run speaks the protocol on standard input and output until zot says shutdown
// or closes the input, and returns nil then. It returns an error where the
// handshake or a pipe failed.
func (e *Extension) Run() error { return e.RunIO(context.Background(), os.Stdin, os.Stdout) }

// RunIO is [Extension.Run] on any two streams. It also returns, with ctx's
// error, when ctx ends; a read of in that is blocked then stays so until the
// caller closes in. An extension runs once.
func (e *Extension) RunIO(ctx context.Context, in io.Reader, out io.Writer) error {
	r, err := e.begin(ctx, out)
	if err != nil {
		return err
	}
	end := r.converse(in)
	r.finish(end.shutdown)
	return end.err
}

// begin makes the run of the extension.
func (e *Extension) begin(ctx context.Context, w io.Writer) (*run, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil {
		return nil, errors.New("the extension has been run already")
	}
	r := &run{e: e, calls: map[string]context.CancelFunc{}, waiting: map[string]chan extproto.Frame{}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.out = &output{w: w, fail: r.cancel}
	e.run = r
	return r, nil
}

// acknowledged keeps what the host told, sends what had to wait for it, and
// gives the author the chance to register more.
func (r *run) acknowledged(f extproto.HelloAck) {
	e := r.e
	host := HostInfo{ProtocolVersion: f.ProtocolVersion, ZotVersion: f.ZotVersion, Provider: f.Provider,
		Model: f.Model, CWD: f.CWD, ExtensionDir: f.ExtensionDir, DataDir: f.DataDir, Capabilities: f.Capabilities}
	e.mu.Lock()
	e.host, r.greeted = host, true
	held, onHello := e.held, e.onHello
	e.held = nil
	e.mu.Unlock()
	for _, h := range held {
		e.push(h)
	}
	if onHello != nil {
		func() {
			defer e.caught("OnHello", nil)
			onHello(host)
		}()
	}
}

// announce sends all registrations and then ready: commands, tools, and one
// subscription, each in the order in which they were made.
func (r *run) announce() {
	e := r.e
	e.mu.Lock()
	e.announced = true
	var frames []extproto.Frame
	for _, key := range e.commands.order {
		frames = append(frames, e.commands.byKey[key].frame())
	}
	for _, key := range e.tools.order {
		frames = append(frames, e.tools.byKey[key].frame())
	}
	sub := extproto.Subscribe{Events: e.events.order, Intercept: e.hooks.names()}
	e.mu.Unlock()
	if len(sub.Events)+len(sub.Intercept) > 0 {
		frames = append(frames, sub)
	}
	for _, f := range append(frames, extproto.Ready{}) {
		e.push(f)
	}
}

// finish tells handlers to stop and gives them a moment to, so that an answer
// that is about to be sent still goes out and the acknowledgement is last.
func (r *run) finish(shutdown bool) {
	r.cancel(ErrEnded)
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	idle := make(chan struct{})
	go func() { // ends with the last handler
		r.handlers.Wait()
		close(idle)
	}()
	timer := time.NewTimer(drainWait)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
		r.e.Logf("handlers are still running %v after the end", drainWait)
	}
	r.e.mu.Lock()
	onExit := r.e.onExit
	r.e.mu.Unlock()
	if onExit != nil {
		func() {
			defer r.e.caught("OnShutdown", nil)
			onExit()
		}()
	}
	if shutdown {
		r.reply(extproto.ShutdownAck{})
	}
	r.out.close()
}

// caught turns a panic of the author's code into a log entry with its stack,
// and calls then, if not nil, with the panic's value.
func (e *Extension) caught(where string, then func(v any)) {
	v := recover()
	if v == nil {
		return
	}
	e.Logf("panic in %s: %v\n%s", where, v, debug.Stack())
	if then != nil {
		then(v)
	}
}

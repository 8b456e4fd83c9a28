package ext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
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

	handlers sync.WaitGroup
	events   serial

	mu      sync.Mutex // guards all below
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
	lines := r.read(in)
	shutdown, err := r.serve(lines)
	r.finish(shutdown)
	return err
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

// input is a line from the host, or how the stream ended.
type input struct {
	line []byte
	err  error
}

// read reads ahead one line, so that a run can end while a read is blocked.
// Its goroutine ends with the stream, or with the next line after the run.
func (r *run) read(in io.Reader) <-chan input {
	lines := make(chan input)
	go func() {
		src := extproto.NewReader(in)
		for {
			line, err := src.Next()
			select {
			case lines <- input{line, err}:
			case <-r.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// next returns the next line. The error is io.EOF when the host has closed.
func (r *run) next(lines <-chan input) ([]byte, error) {
	select {
	case in := <-lines:
		if in.err != nil && !errors.Is(in.err, io.EOF) {
			return nil, fmt.Errorf("reading from zot: %w", in.err)
		}
		return in.line, in.err
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// serve runs the conversation to its end. It tells whether the end was a
// shutdown frame, which wants an answer.
func (r *run) serve(lines <-chan input) (shutdown bool, err error) {
	hello := extproto.Hello{Name: r.e.name, Version: r.e.version, Capabilities: capabilities}
	if err := r.out.write(hello); err != nil {
		return false, context.Cause(r.ctx)
	}
	if shutdown, err := r.greet(lines); err != nil || shutdown {
		return shutdown, err
	}
	r.announce()
	for {
		line, err := r.next(lines)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if r.dispatch(line) {
			return true, nil
		}
	}
}

// greet waits for hello_ack. Lines that are no frame known to this SDK are
// passed over, as they are later.
func (r *run) greet(lines <-chan input) (shutdown bool, err error) {
	for {
		line, err := r.next(lines)
		if errors.Is(err, io.EOF) {
			return false, errors.New("zot closed the connection before hello_ack")
		}
		if err != nil {
			return false, err
		}
		frame, err := extproto.DecodeFromHost(line)
		if err != nil {
			r.e.Logf("waiting for hello_ack: %v", err)
			continue
		}
		switch f := frame.(type) {
		case extproto.HelloAck:
			r.acknowledged(f)
			return false, nil
		case extproto.Shutdown:
			return true, nil
		default:
			return false, fmt.Errorf("the first frame from zot is %s, not hello_ack", f.FrameType())
		}
	}
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

// Package rpc serves a session to a program: commands come as lines of JSON,
// responses and events go back the same way. docs/rpc.md is the manual and
// packages/agent/rpcproto the wire.
//
//	err := rpc.Serve(ctx, rpc.Options{Host: h, In: os.Stdin, Out: os.Stdout, Version: "1.2.3"})
//
// One process serves one session. Commands are answered in the order they
// come, those that wait for an extension when they are through; a prompt is
// answered at once and reported in events that end with done, and one that
// comes while another runs waits for its turn. The end of the input ends the
// process once nothing runs or waits.
//
// The way of a command: reader.go finds the line, answer.go and extension.go
// carry it out, writer.go puts the response and the events out. asker.go holds
// the questions that the client answers, hello.go the handshake.
package rpc

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/rpc/wire"
)

// Options are the settings of a server.
type Options struct {
	Host    *host.Host // not started yet
	In      io.Reader
	Out     io.Writer
	Version string // of zot
	// Token, where not empty, must come in a hello before anything else.
	Token string
	// Models lists what get_models answers. Nil lists none.
	Models func() []rpcproto.Model
	// Chosen names the provider and model that would be asked, where they
	// cannot be connected to: a credential is missing, say. Nil names none.
	Chosen func() (provider, model string)
	// OnStart is called when events reach the client, before the host starts.
	// Nil is allowed.
	OnStart func()
	// Asker is the one the host's guard asks. Nil answers no confirmations.
	Asker *Asker
}

// stopTime bounds how long a prompt has to stop when zot is told to end.
const stopTime = 2 * time.Second

// A server is one conversation with a client.
type server struct {
	opts        Options
	out         *writer
	open        bool   // the token was shown, or none is needed
	unsubscribe func() // nil before begin

	// idle is held while a prompt is put in line, and by what must not run
	// beside one.
	idle   sync.Mutex
	asides sync.WaitGroup // commands that are answered from a goroutine
}

// Serve serves until the input ends and nothing runs any more; its error then
// is nil, whatever became of the prompts. It returns early with an error when
// ctx ends, the input or output fails, or the client shows no token (ErrAuth).
// The host is started here, so that nothing an extension says is lost, and not
// before the client may hear it.
func Serve(ctx context.Context, opts Options) error {
	s := &server{opts: opts, out: newWriter(ctx, opts.Out), open: opts.Token == ""}
	err := s.serve(ctx)
	if closeErr := s.out.close(ctx); err == nil {
		err = closeErr
	}
	if s.unsubscribe != nil {
		s.unsubscribe()
	}
	return err
}

// begin lets the client hear the session, and starts it.
func (s *server) begin() {
	if s.unsubscribe != nil {
		return
	}
	s.unsubscribe = s.opts.Host.Subscribe(s.event)
	if s.opts.OnStart != nil {
		s.opts.OnStart()
	}
	s.opts.Host.Start()
}

// event passes on what happens in the session.
func (s *server) event(e event.Event) {
	if q, ok := e.(event.ConfirmationRequested); ok && s.opts.Asker != nil {
		s.opts.Asker.expect(q.ToolID)
	}
	if out, ok := wire.FromEvent(e); ok {
		s.out.event(out)
	}
}

func (s *server) serve(ctx context.Context) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.open {
		s.begin()
	}
	lines := make(chan line)
	ended := make(chan error, 1)
	go func() { // ends with the input; a read that blocks at exit dies with the process
		ended <- readLines(reading, s.opts.In, lines)
	}()
	for {
		select {
		case l := <-lines:
			if err := s.line(reading, l); err != nil {
				return err
			}
		case err := <-ended:
			if err != nil {
				return err
			}
			return s.finish(ctx)
		case <-s.out.failed:
			return nil // the writer says why
		case <-ctx.Done():
			return s.stop(ctx)
		}
	}
}

// line answers one command. An error ends the process.
func (s *server) line(ctx context.Context, l line) error {
	c, err := l.command()
	if !s.open && (err != nil || c.Type != rpcproto.CmdHello) {
		return s.refuse(c)
	}
	switch {
	case err != nil:
		s.fail(c, err)
	case c.Type == rpcproto.CmdHello:
		return s.hello(c)
	default:
		s.answer(ctx, c)
	}
	return nil
}

// finish waits, once the input has ended, for what is under way.
func (s *server) finish(ctx context.Context) error {
	if s.opts.Asker != nil {
		s.opts.Asker.leave()
	}
	over := make(chan struct{})
	go func() { // ends with the commands and prompts under way
		defer close(over)
		s.asides.Wait()
		_ = s.opts.Host.WaitIdle(ctx)
	}()
	select {
	case <-over:
		return ctx.Err()
	case <-s.out.failed:
		return nil
	case <-ctx.Done():
		return s.stop(ctx)
	}
}

// stop cancels the prompt that runs, so that the client hears of its end, and
// drops those that wait.
func (s *server) stop(ctx context.Context) error {
	s.opts.Host.TakeBack()
	s.opts.Host.Cancel()
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	_ = s.opts.Host.WaitIdle(wait) // what does not stop in time is left behind
	return ctx.Err()
}

func (s *server) succeed(c rpcproto.Command, data any) {
	r, err := rpcproto.Succeed(c, data)
	if err != nil {
		r = rpcproto.Fail(c, err.Error())
	}
	s.out.response(r)
}

func (s *server) fail(c rpcproto.Command, err error) {
	s.out.response(rpcproto.Fail(c, err.Error()))
}

// reply answers with data, or with the error that stood in its way.
func (s *server) reply(c rpcproto.Command, data any, err error) {
	if err != nil {
		s.fail(c, err)
		return
	}
	s.succeed(c, data)
}

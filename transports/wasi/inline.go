package wasi

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// startInline runs the module within this process: a function on pipes in
// memory, which the end of its context interrupts wherever it is.
func startInline(ctx context.Context, o Options) (*Conn, error) {
	started := make(chan error, 1)
	conn := memory.New(func(guest context.Context, s memory.Stdio) error {
		return runInline(guest, o, s, started)
	}, memory.Options{Stderr: o.Stderr, MaxFrame: o.MaxFrame})
	select {
	case err := <-started:
		if err == nil {
			return &Conn{Conn: conn}, nil
		}
		conn.Stop(ctx, transports.Grace{})
		return nil, err
	case <-ctx.Done():
		go conn.Stop(ctx, transports.Grace{}) // compiling ends when it is through
		return nil, context.Cause(ctx)
	}
}

// runInline is the function. It sends why the module did not start, or nil
// when it does.
func runInline(ctx context.Context, o Options, s memory.Stdio, started chan<- error) error {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	defer context.AfterFunc(ctx, func() { // wake the guest where it waits
		for _, stream := range []any{s.In, s.Out} {
			stream.(interface{ Break(error) }).Break(io.ErrClosedPipe)
		}
	})()

	dir, err := cacheFor(o).get(ctx, o.Module, variantInline, func(ctx context.Context, dir string) error {
		return engine.Compile(ctx, o.Module, dir, o.MemPages, true)
	})
	if err != nil {
		started <- err
		return err
	}
	var activity engine.Activity
	var late atomic.Bool
	c := o.config()
	c.Stdin, c.Stdout, c.Stderr = s.In.(engine.Input), s.Out, s.Err
	c.Cache, c.Interruptible, c.Activity = dir, true, &activity
	running := false
	c.Ready = func() {
		running = true
		started <- nil
		go activity.Watch(o.CallMax, ctx.Done(), func() { late.Store(true); interrupt() })
	}
	out, err := engine.Run(ctx, c)
	if errors.Is(err, engine.ErrDamagedCache) {
		cacheFor(o).remove(dir)
		c.Cache = ""
		out, err = engine.Run(ctx, c)
	}
	if err != nil {
		if !running {
			started <- err
		}
		return err
	}
	return inlineExit(o, out, late.Load())
}

func inlineExit(o Options, out engine.Outcome, late bool) error {
	switch {
	case late:
		return memory.ExitError{Signal: "killed", Reason: reasonCallMax(o.CallMax)}
	case out.Interrupted:
		return memory.ExitError{Signal: "killed"}
	}
	return memory.ExitError{Code: out.Code, Reason: out.Reason}
}

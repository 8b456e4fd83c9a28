package wasi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// startInline runs the module within this process: a function on pipes in
// memory, which the end of its context interrupts wherever it is.
func startInline(ctx context.Context, o Options) (*Conn, error) {
	conn, dir, err := startInlineFromCache(ctx, o)
	if errors.Is(err, engine.ErrDamagedCache) {
		cacheFor(o).remove(dir)
		conn, _, err = startInlineFromCache(ctx, o)
	}
	return conn, err
}

func startInlineFromCache(ctx context.Context, o Options) (conn *Conn, dir string, err error) {
	variant := variantInline
	if o.testOnlyUninterruptible {
		variant = variantRunner
	}
	dir, err = compiled(ctx, o, variant)
	if err != nil {
		return nil, "", err
	}
	loaded := func() {}
	if dir == "" { // no cache, but compiling here is no option
		if dir, err = os.MkdirTemp("", "zot-wasi-"); err != nil {
			return nil, "", fmt.Errorf("a folder for the compiled module: %w", err)
		}
		loaded = func() { _ = os.RemoveAll(dir) }
		if err := compileAside(ctx, o, variantInline, dir); err != nil {
			loaded()
			return nil, "", err
		}
	}
	g := &inlineGuest{o: o, dir: dir, started: make(chan error, 1), refused: make(chan transports.Refusal, engine.MaxRefusals)}
	m := memory.New(g.run, memory.Options{Stderr: o.Stderr, MaxFrame: o.MaxFrame})
	select {
	case err = <-g.started:
		loaded()
	case <-ctx.Done():
		err = context.Cause(ctx)
		go func() { // loading ends when it is through
			m.Stop(ctx, transports.Grace{})
			loaded()
		}()
		return nil, dir, err
	}
	if err != nil {
		m.Stop(ctx, transports.Grace{})
		return nil, dir, err
	}
	return &Conn{Conn: m, refused: g.refused}, dir, nil
}

// An inlineGuest is a module as a function.
type inlineGuest struct {
	o       Options
	dir     string      // with the compiled module
	started chan error  // why it does not run, or nil when it does
	late    atomic.Bool // it has computed for too long
	refused chan transports.Refusal
}

func (g *inlineGuest) run(ctx context.Context, s memory.Stdio) error {
	defer close(g.refused)
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	defer context.AfterFunc(ctx, func() { // wake the guest where it waits
		for _, stream := range []any{s.In, s.Out} {
			stream.(interface{ Break(error) }).Break(io.ErrClosedPipe)
		}
	})()
	var activity engine.Activity
	c := g.o.config()
	c.Stdin, c.Stdout, c.Stderr = s.In.(engine.Input), s.Out, s.Err
	c.Cache, c.Interruptible, c.Activity = g.dir, !g.o.testOnlyUninterruptible, &activity
	c.Refused = func(r transports.Refusal) { g.refused <- r } // there is room for all that will be told
	c.Ready = func() {
		g.started <- nil
		go activity.Watch(g.o.CallMax, ctx.Done(), func() { g.late.Store(true); interrupt() })
	}
	out, err := engine.Run(ctx, c)
	if err != nil {
		select {
		case g.started <- err:
		default: // it had started
		}
		return err
	}
	return g.exit(out)
}

func (g *inlineGuest) exit(out engine.Outcome) error {
	switch {
	case g.late.Load():
		return memory.ExitError{Signal: "killed", Reason: reasonCallMax(g.o.CallMax), Limit: engine.LimitCPU}
	case out.Interrupted:
		return memory.ExitError{Signal: "killed"}
	}
	return memory.ExitError{Code: out.Code, Reason: out.Reason, Limit: out.Limit}
}

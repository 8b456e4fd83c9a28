// Package memory runs an extension as a function in this process, with the
// same contract as a process on pipes: for tests, and for programs that embed
// zot and bring extensions of their own.
//
//	conn := memory.New(func(ctx context.Context, s memory.Stdio) error {
//		_, err := io.Copy(s.Out, s.In)
//		return err
//	}, memory.Options{})
//
// One thing differs: a function cannot be killed. Where it ignores both the end
// of its input and the end of its context, it is cut off from its streams and
// counted as killed; its goroutine ends when it notices.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/internal/pipe"
)

// Stdio is what the function talks through. Each stream may be used from
// several goroutines. After the extension is stopped, writing fails with
// io.ErrClosedPipe. In and Out are pipes that hold 64 KiB each.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// A Program is the extension. It is done when it returns: nil is exit status
// 0, an [ExitError] what it says, any other error is status 1 and the text goes to
// standard error. A panic is status 2. ctx ends when it is asked to leave.
type Program func(ctx context.Context, s Stdio) error

// An ExitError returned by a [Program] says how it ended, in the words of
// [transports.Exit].
type ExitError struct {
	Code   int
	Signal string // for a program that was ended by something it contains, or empty
	Reason string // or empty
	Limit  string // or empty
}

func (e ExitError) Error() string { return e.exit().String() }

func (e ExitError) exit() transports.Exit {
	return transports.Exit{Code: e.Code, Signal: e.Signal, Reason: e.Reason, Limit: e.Limit}
}

// Options says how to run the function.
type Options struct {
	// Stderr gets what the function writes to its standard error; nil
	// discards. It is written to from the function's goroutines, one at a time.
	Stderr io.Writer

	// MaxFrame bounds a frame in bytes, both ways; 0 is
	// [transports.DefaultMaxFrame].
	MaxFrame int
}

// A Conn is a running function. It is a [transports.Conn].
type Conn struct {
	in, out *pipe.Pipe
	tail    transports.Tail
	ask     context.CancelFunc // ends the function's context

	readMu  sync.Mutex
	frames  *transports.FrameReader
	writeMu sync.Mutex
	writer  *transports.FrameWriter
	broken  bool        // a write failed; guarded by writeMu
	closed  atomic.Bool // CloseWrite was called

	end  sync.Once // whoever comes first says how it ended
	exit transports.Exit
	done chan struct{}
}

var _ transports.Conn = (*Conn)(nil)

// New runs the function on a goroutine of its own.
func New(program Program, o Options) *Conn {
	ctx, ask := context.WithCancel(context.Background())
	c := &Conn{in: pipe.New(), out: pipe.New(), ask: ask, done: make(chan struct{})}
	c.frames = transports.NewFrameReader(c.out, o.MaxFrame)
	c.writer = transports.NewFrameWriter(c.in, o.MaxFrame)
	go c.run(ctx, program, &stderr{tail: &c.tail, to: o.Stderr, cut: c.done})
	return c
}

func (c *Conn) run(ctx context.Context, program Program, errs io.Writer) {
	defer c.ask()
	exit := transports.Exit{Code: 2}
	defer func() { // also where the function calls runtime.Goexit
		if r := recover(); r != nil {
			fmt.Fprintf(errs, "panic: %v\n\n%s", r, debug.Stack())
		}
		c.ended(exit)
	}()
	exit = exitOf(program(ctx, Stdio{In: c.in, Out: c.out, Err: errs}), errs)
}

func exitOf(err error, errs io.Writer) transports.Exit {
	var exit ExitError
	switch {
	case err == nil:
		return transports.Exit{}
	case errors.As(err, &exit):
		return exit.exit()
	}
	fmt.Fprintln(errs, err)
	return transports.Exit{Code: 1}
}

// ended makes the end known. Only the first call counts.
func (c *Conn) ended(exit transports.Exit) {
	c.end.Do(func() {
		exit.StderrTail = c.tail.String()
		c.exit = exit
		close(c.done)
		c.out.CloseWrite()
		c.in.Break(io.ErrClosedPipe)
	})
}

// ReadFrame implements [transports.Conn].
func (c *Conn) ReadFrame() ([]byte, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	return c.frames.ReadFrame()
}

// WriteFrame implements [transports.Conn].
func (c *Conn) WriteFrame(frame []byte, deadline time.Time) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if c.broken || c.closed.Load() {
		return transports.ErrClosed
	}
	if err := c.afterEnd(); err != nil {
		return err
	}
	c.in.SetWriteDeadline(deadline)
	err := c.writer.WriteFrame(frame)
	var tooLong *transports.FrameTooLongError
	if err == nil || errors.As(err, &tooLong) || errors.Is(err, transports.ErrNotOneLine) {
		return err
	}
	c.broken = true
	if c.closed.Load() {
		return transports.ErrClosed
	}
	if ended := c.afterEnd(); ended != nil {
		return ended
	}
	return fmt.Errorf("writing a frame: %w", err)
}

// afterEnd is the error of a write to a function that has ended, or nil.
func (c *Conn) afterEnd() error {
	select {
	case <-c.done:
		return fmt.Errorf("writing a frame: the function has ended: %v", c.exit)
	default:
		return nil
	}
}

// CloseWrite implements [transports.Conn].
func (c *Conn) CloseWrite() error {
	c.closed.Store(true)
	c.in.CloseWrite()
	return nil
}

// Done implements [transports.Conn].
func (c *Conn) Done() <-chan struct{} { return c.done }

// Exit implements [transports.Conn].
func (c *Conn) Exit() transports.Exit {
	select {
	case <-c.done:
		return c.exit
	default:
		return transports.Exit{}
	}
}

// Stop implements [transports.Conn].
func (c *Conn) Stop(ctx context.Context, grace transports.Grace) transports.Exit {
	_ = c.CloseWrite()
	if !c.doneWithin(ctx, grace.Exit) {
		c.ask()
	}
	if !c.doneWithin(ctx, grace.Term) {
		c.ended(transports.Exit{Signal: "killed"})
	}
	<-c.done
	return c.exit
}

func (c *Conn) doneWithin(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// stderr is the function's standard error.
type stderr struct {
	mu   sync.Mutex
	tail *transports.Tail
	to   io.Writer // or nil
	cut  <-chan struct{}
}

func (s *stderr) Write(p []byte) (int, error) {
	select {
	case <-s.cut:
		return 0, io.ErrClosedPipe
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.tail.Write(p)
	if s.to != nil {
		if _, err := s.to.Write(bytes.Clone(p)); err != nil {
			s.to = nil
		}
	}
	return len(p), nil
}

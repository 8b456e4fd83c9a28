package ext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// patience is how long the goroutine that reads may be busy with a handler
// before another goes on reading.
const patience = 500 * time.Microsecond

// A conversation is what a run reads from the host. Its goroutine ends with the
// stream, or with the next line after the run.
type conversation struct {
	*run
	in    *extproto.Reader
	ended chan ending // gets how it ended
}

// An ending says how the host left: with a shutdown frame, which wants an
// answer; by closing the stream; or with something that is wrong.
type ending struct {
	shutdown bool
	err      error
}

// converse speaks with the host until one side ends it, or ctx does.
func (r *run) converse(in io.Reader) ending {
	hello := extproto.Hello{Name: r.e.name, Version: r.e.version, Capabilities: capabilities}
	if err := r.out.write(hello); err != nil {
		return ending{err: context.Cause(r.ctx)}
	}
	c := &conversation{run: r, in: extproto.NewReader(in), ended: make(chan ending, 1)}
	go c.begin()
	select {
	case end := <-c.ended:
		return end
	case <-r.ctx.Done():
		return ending{err: context.Cause(r.ctx)}
	}
}

// begin waits for hello_ack, registers, and reads on. Lines that are no frame
// known to this SDK are passed over, as they are later.
func (c *conversation) begin() {
	for {
		line, err := c.in.Next()
		if errors.Is(err, io.EOF) {
			c.ended <- ending{err: errors.New("zot closed the connection before hello_ack")}
			return
		}
		if err != nil {
			c.fail(err)
			return
		}
		frame, err := extproto.DecodeFromHost(line)
		if err != nil {
			c.e.Logf("waiting for hello_ack: %v", err)
			continue
		}
		switch f := frame.(type) {
		case extproto.HelloAck:
			if !c.enter() {
				return
			}
			func() {
				defer c.handlers.Done()
				c.acknowledged(f)
				c.announce()
			}()
			c.read()
		case extproto.Shutdown:
			c.ended <- ending{shutdown: true}
		default:
			c.ended <- ending{err: fmt.Errorf("the first frame from zot is %s, not hello_ack", f.FrameType())}
		}
		return
	}
}

// fail ends the conversation with an error of the stream.
func (c *conversation) fail(err error) {
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		err = fmt.Errorf("reading from zot: %w", err)
	}
	c.ended <- ending{err: err}
}

// read dispatches what comes until the end of the stream, or until a handler
// took so long that another goroutine reads now.
func (c *conversation) read() {
	for {
		line, err := c.in.Next()
		if err != nil {
			c.fail(err)
			return
		}
		if !c.enter() || !c.handle(line) {
			return
		}
	}
}

// handle acts on a line, and reports whether to read on. What a call or a
// question asks for is done right here, since to wake a goroutine takes longer
// than most answers; one that takes longer hands the reading on.
func (c *conversation) handle(line []byte) (readOn bool) {
	defer c.handlers.Done()
	answer, shutdown := c.dispatch(line)
	if shutdown {
		c.ended <- ending{shutdown: true}
		return false
	}
	if answer == nil {
		return true
	}
	var handed atomic.Bool
	handOn := func() {
		if handed.CompareAndSwap(false, true) {
			c.read()
		}
	}
	timer := time.AfterFunc(patience, handOn)
	c.handOn.Store(&handOn)
	answer()
	timer.Stop()
	return handed.CompareAndSwap(false, true)
}

// waits says that a handler is about to wait for the host, so that somebody
// else has to read.
func (r *run) waits() {
	if handOn := r.handOn.Load(); handOn != nil {
		go (*handOn)()
	}
}

// enter counts something that may run the author's code, for handlers.Done to
// take back, unless the run is over.
func (r *run) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.handlers.Add(1)
	return true
}

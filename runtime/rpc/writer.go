package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

// maxBacklog is how many bytes may wait for a client that does not read. Past
// it events wait, and with them the prompt that they are of; responses go on
// up to twice as much, so that an abort is still heard.
const maxBacklog = 64 << 20

// maxWrite is about how much goes out at once.
const maxWrite = 256 << 10

// partingTime is how long a client has to read the last lines once zot is told
// to end.
const partingTime = time.Second

// A writer puts lines out in order, from one goroutine, so that a client that
// writes before it reads cannot lock up with zot doing the same.
type writer struct {
	w      io.Writer
	failed chan struct{} // closed when the client cannot be written to any more
	done   chan struct{} // closed when all is written, or failed

	mu      sync.Mutex // guards below
	changed *sync.Cond
	lines   [][]byte
	bytes   int
	closed  bool
	hurry   bool // nobody waits for room any more
	err     error
}

// newWriter returns a writer to w. Once ctx ends nothing waits for the client.
func newWriter(ctx context.Context, w io.Writer) *writer {
	o := &writer{w: w, failed: make(chan struct{}), done: make(chan struct{})}
	o.changed = sync.NewCond(&o.mu)
	context.AfterFunc(ctx, func() { o.update(func() { o.hurry = true }) })
	go o.run() // ends when closed and written out, or failed
	return o
}

// update changes the writer's state and wakes who waits for a change.
func (o *writer) update(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
	o.changed.Broadcast()
}

func (o *writer) run() {
	defer close(o.done)
	for {
		text := o.take()
		if text == nil {
			return
		}
		if _, err := o.w.Write(text); err != nil {
			o.update(func() { o.err = fmt.Errorf("writing to the client: %w", err) })
			close(o.failed)
			return
		}
	}
}

// take waits for lines and returns those that go out next; nil means that the
// writer is closed and empty.
func (o *writer) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.lines) == 0 {
		if o.closed {
			return nil
		}
		o.changed.Wait()
	}
	var text []byte
	n := 0
	for n < len(o.lines) && len(text) < maxWrite {
		text = append(append(text, o.lines[n]...), '\n')
		o.bytes -= len(o.lines[n])
		n++
	}
	if o.lines = o.lines[n:]; len(o.lines) == 0 {
		o.lines = nil
	}
	o.changed.Broadcast()
	return text
}

// add puts a line in the queue, waiting while more than limit bytes are in it.
// After a failure lines are dropped: nobody is there to read them.
func (o *writer) add(text []byte, limit int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > limit && o.err == nil && !o.closed && !o.hurry {
		o.changed.Wait()
	}
	if o.err != nil || o.closed {
		return
	}
	o.lines = append(o.lines, text)
	o.bytes += len(text)
	o.changed.Broadcast()
}

func (o *writer) event(e rpcproto.Event) {
	if text, err := rpcproto.EncodeEvent(e); err == nil {
		o.add(text, maxBacklog)
	}
}

func (o *writer) response(r rpcproto.Response) {
	if text, err := rpcproto.EncodeResponse(r); err == nil {
		o.add(text, 2*maxBacklog)
	}
}

var errUnread = errors.New("the client does not read: its last lines were dropped")

// close writes out what waits and returns the first failure. When ctx ends the
// client has partingTime left.
func (o *writer) close(ctx context.Context) error {
	o.update(func() { o.closed = true })
	select {
	case <-o.done:
		return o.failure()
	case <-ctx.Done():
	}
	select {
	case <-o.done:
		return o.failure()
	case <-time.After(partingTime):
		return errUnread
	}
}

func (o *writer) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

package rpc

import (
	"fmt"
	"io"
	"sync"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
)

// maxBacklog is how many bytes may wait for a client that does not read; past
// it whoever has something to say waits too.
const maxBacklog = 64 << 20

// A writer puts lines out in order, from one goroutine, so that a client that
// writes before it reads cannot lock up with zot doing the same.
type writer struct {
	w io.Writer

	mu      sync.Mutex
	changed *sync.Cond
	lines   [][]byte
	bytes   int
	closed  bool
	err     error
	done    chan struct{}
}

func newWriter(w io.Writer) *writer {
	o := &writer{w: w, done: make(chan struct{})}
	o.changed = sync.NewCond(&o.mu)
	go o.run() // ends when closed and written out
	return o
}

func (o *writer) run() {
	defer close(o.done)
	for {
		o.mu.Lock()
		for len(o.lines) == 0 && !o.closed {
			o.changed.Wait()
		}
		lines := o.lines
		o.lines, o.bytes = nil, 0
		o.changed.Broadcast()
		if len(lines) == 0 {
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		o.write(lines)
	}
}

// write puts lines out; after a failure the rest is dropped, since nobody is
// there to read it.
func (o *writer) write(lines [][]byte) {
	for _, line := range lines {
		o.mu.Lock()
		failed := o.err != nil
		o.mu.Unlock()
		if failed {
			return
		}
		if _, err := o.w.Write(append(line, '\n')); err != nil {
			o.mu.Lock()
			o.err = fmt.Errorf("writing to the client: %w", err)
			o.changed.Broadcast()
			o.mu.Unlock()
		}
	}
}

func (o *writer) add(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > maxBacklog && o.err == nil && !o.closed {
		o.changed.Wait()
	}
	if o.err != nil || o.closed {
		return
	}
	o.lines = append(o.lines, line)
	o.bytes += len(line)
	o.changed.Broadcast()
}

func (o *writer) event(e rpcproto.Event) {
	if line, err := rpcproto.EncodeEvent(e); err == nil {
		o.add(line)
	}
}

func (o *writer) response(r rpcproto.Response) {
	if line, err := rpcproto.EncodeResponse(r); err == nil {
		o.add(line)
	}
}

// close writes out what waits and returns the first failure.
func (o *writer) close() error {
	o.mu.Lock()
	o.closed = true
	o.changed.Broadcast()
	o.mu.Unlock()
	<-o.done
	return o.err
}

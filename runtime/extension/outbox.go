package extension

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/patriceckhart/zot/transports"
)

// errQueueFull says that an extension reads slower than it is told things.
var errQueueFull = errors.New("it does not read: its queue is full")

// An outbox is the one ordered queue of frames to an extension. Notifications
// only enqueue; requests may wait for their own write. A frame that cannot be
// written in time, or a queue that is full, ends the connection: onFail is
// called once with the reason.
type outbox struct {
	conn    transports.Conn
	limits  Limits
	timeout time.Duration
	onFail  func(error)

	mu       sync.Mutex // guards all below
	queue    []outgoing
	bytes    int
	writing  bool          // somebody is in WriteFrame
	sent     int64         // bytes written, or being written
	consumed int64         // bytes that the extension is known to have read
	err      error         // why nothing can be sent any more
	wake     chan struct{} // holds one token while there is work
	closed   chan struct{} // closed with err
}

// roomSure is how many unread bytes every pipe has room for: a write that
// stays within it cannot block.
const roomSure = 4096

type outgoing struct {
	frame []byte
	end   int64 // where the frame ends in what was sent; known once it is its turn
	// written takes the result of the write; nil where nobody waits.
	written chan result
}

// A result is what came of a write, and where the frame ends in what was sent.
type result struct {
	end int64
	err error
}

// newOutbox starts the writer; it ends when fail or close is called.
func newOutbox(conn transports.Conn, limits Limits, timeout time.Duration, onFail func(error)) *outbox {
	o := &outbox{
		conn: conn, limits: limits, timeout: timeout, onFail: onFail,
		wake: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	go o.run()
	return o
}

// post queues a frame and returns without waiting. An overflow ends the
// connection.
func (o *outbox) post(frame []byte) error { return o.add(outgoing{frame: frame}) }

// send writes a frame in its turn and returns when it is written, ctx ends, or
// the connection is over. End is where the frame ends in what was sent.
func (o *outbox) send(ctx context.Context, frame []byte) (end int64, err error) {
	if end, ok := o.claim(len(frame)); ok {
		err := o.write(frame)
		o.release()
		return end, err
	}
	written := make(chan result, 1)
	if err := o.add(outgoing{frame: frame, written: written}); err != nil {
		return 0, err
	}
	select {
	case r := <-written:
		return r.end, r.err
	case <-o.closed:
		return 0, o.reason()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (o *outbox) add(item outgoing) error {
	o.mu.Lock()
	if o.err != nil {
		defer o.mu.Unlock()
		return o.err
	}
	if len(o.queue) >= o.limits.QueueFrames || o.bytes+len(item.frame) > o.limits.QueueBytes && len(o.queue) > 0 {
		n, bytes := len(o.queue), o.bytes
		o.mu.Unlock()
		err := fmt.Errorf("%w (%d frames, %d bytes waiting)", errQueueFull, n, bytes)
		o.fail(err)
		return err
	}
	o.queue = append(o.queue, item)
	o.bytes += len(item.frame)
	o.mu.Unlock()
	o.signal()
	return nil
}

// claim lets the caller write by itself, without the trip through the writer,
// where nothing is queued and the frame is sure to fit: what was sent and may
// still be unread leaves room for it.
func (o *outbox) claim(size int) (end int64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.writing || len(o.queue) > 0 || o.sent-o.consumed+int64(size)+1 > roomSure {
		return 0, false
	}
	o.writing = true
	o.sent += int64(size) + 1
	return o.sent, true
}

// release hands the connection back after a claim.
func (o *outbox) release() {
	o.mu.Lock()
	o.writing = false
	more := len(o.queue) > 0
	o.mu.Unlock()
	if more {
		o.signal()
	}
}

// read says that the extension has read all up to an offset: it answered what
// stands there.
func (o *outbox) read(offset int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.consumed = max(o.consumed, offset)
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// write puts one frame out. A frame over the limit is refused and harms
// nothing; any other failure ends the connection.
func (o *outbox) write(frame []byte) error {
	err := o.conn.WriteFrame(frame, time.Now().Add(o.timeout))
	var tooLong *transports.FrameTooLongError
	if err != nil && !errors.As(err, &tooLong) {
		err = fmt.Errorf("writing to it: %w", err)
		o.fail(err)
	}
	return err
}

// fail ends the outbox with a reason and reports it.
func (o *outbox) fail(err error) {
	if o.close(err) {
		o.onFail(err)
	}
}

// close ends the outbox; it reports whether it was open until now.
func (o *outbox) close(err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	o.err = err
	o.queue, o.bytes = nil, 0
	close(o.closed)
	return true
}

func (o *outbox) reason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// run writes what is queued, one frame at a time, until the outbox is closed.
func (o *outbox) run() {
	for {
		item, ok := o.next()
		if !ok {
			return
		}
		err := o.write(item.frame)
		o.release()
		if item.written != nil {
			item.written <- result{item.end, err}
		}
	}
}

// next waits for a frame to write.
func (o *outbox) next() (outgoing, bool) {
	for {
		o.mu.Lock()
		if o.err != nil {
			o.mu.Unlock()
			return outgoing{}, false
		}
		if len(o.queue) > 0 && !o.writing {
			item := o.queue[0]
			o.queue[0] = outgoing{}
			o.queue = o.queue[1:]
			o.bytes -= len(item.frame)
			o.writing = true
			o.sent += int64(len(item.frame)) + 1
			item.end = o.sent
			o.mu.Unlock()
			return item, true
		}
		o.mu.Unlock()
		select {
		case <-o.wake:
		case <-o.closed:
		}
	}
}

package extension

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// lastID numbers the requests of this process, so that an id in any log means
// one request only.
var lastID atomic.Uint64

func newID() string { return strconv.FormatUint(lastID.Add(1), 10) }

// An answer is what a request came to: a frame, or the reason why none came.
type answer struct {
	frame extproto.Frame
	err   error
}

// pending holds the requests that an extension still owes an answer to. Each
// is answered once; what comes later, or unasked, is reported as such.
type pending struct {
	mu      sync.Mutex
	waiting map[string]*waiter
	err     error // why no request can be answered any more

	// One timer serves all deadlines: it is set for the earliest, and not
	// touched when that one is answered, so that the calls of a busy extension
	// cost no timer each. next is when it fires; zero where it is not set.
	timer *time.Timer
	next  time.Time
}

type waiter struct {
	typ      string // the frame type that answers it
	ch       chan answer
	offset   int64     // where the request ends in what was sent; 0 until known
	deadline time.Time // zero: none
	late     error     // the answer at the deadline
}

func newPending() *pending { return &pending{waiting: make(map[string]*waiter)} }

// add opens a request; the channel gets exactly one answer, unless forget is
// called first.
func (p *pending) add(id, typ string) (<-chan answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	w := &waiter{typ: typ, ch: make(chan answer, 1)}
	p.waiting[id] = w
	return w.ch, nil
}

// forget abandons a request; its late answer will count as unasked.
func (p *pending) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
}

// sentAt notes where a request ends in what was sent.
func (p *pending) sentAt(id string, offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.waiting[id]; w != nil {
		w.offset = offset
	}
}

// expire answers a request with late unless it is answered within d.
func (p *pending) expire(id string, d time.Duration, late error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[id]
	if w == nil {
		return
	}
	w.deadline, w.late = time.Now().Add(d), late
	p.schedule(w.deadline)
}

// schedule has the timer fire at t, if it would not earlier. p.mu is held.
func (p *pending) schedule(t time.Time) {
	if !p.next.IsZero() && !t.Before(p.next) {
		return
	}
	p.next = t
	if p.timer == nil {
		p.timer = time.AfterFunc(time.Until(t), p.fire)
		return
	}
	p.timer.Reset(time.Until(t))
}

// fire answers what is due and sets the timer for what comes next.
func (p *pending) fire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.next = time.Time{}
	var next time.Time
	for id, w := range p.waiting {
		switch {
		case w.deadline.IsZero():
		case !w.deadline.After(now):
			delete(p.waiting, id)
			w.ch <- answer{err: w.late}
		case next.IsZero() || w.deadline.Before(next):
			next = w.deadline
		}
	}
	if !next.IsZero() {
		p.schedule(next)
	}
}

// take removes a request to hand it its answer: one value on its channel, which
// does not block. It returns nil where nobody waits for such an answer.
func (p *pending) take(id, typ string) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[id]
	if w == nil || w.typ != typ {
		return nil
	}
	delete(p.waiting, id)
	return w
}

// idle reports whether nobody waits.
func (p *pending) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) == 0
}

// failAll answers every request, now and later, with err.
func (p *pending) failAll(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	for id, w := range p.waiting {
		delete(p.waiting, id)
		w.ch <- answer{err: err}
	}
}

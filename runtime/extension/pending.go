package extension

import (
	"strconv"
	"sync"
	"sync/atomic"

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
}

type waiter struct {
	typ    string // the frame type that answers it
	ch     chan answer
	offset int64 // where the request ends in what was sent; 0 until known
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

// failAll answers every request, now and later, with err.
func (p *pending) failAll(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	for id, w := range p.waiting {
		delete(p.waiting, id)
		w.ch <- answer{err: err}
	}
}

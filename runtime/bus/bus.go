// Package bus fans the events of a session out to whoever watches: the face
// that shows them, the program on the other end of a pipe, the extensions that
// subscribed.
//
// Delivery is synchronous and in one order for all: an event is handed to each
// subscriber before the next event is. A subscriber must therefore be quick and
// never wait for the publisher; those that do slow work put the event in a
// queue of their own.
package bus

import (
	"slices"
	"sync"

	"github.com/patriceckhart/zot/runtime/event"
)

// A Bus is ready to use as its zero value and safe for concurrent use.
type Bus struct {
	mu   sync.Mutex
	subs []*subscriber
}

type subscriber struct{ fn func(event.Event) }

// Subscribe calls fn with every event published from now on, until cancel is
// called. fn must not call the bus.
func (b *Bus) Subscribe(fn func(event.Event)) (cancel func()) {
	s := &subscriber{fn: fn}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = append(b.subs, s)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.subs = slices.DeleteFunc(slices.Clone(b.subs), func(o *subscriber) bool { return o == s })
	}
}

// Publish hands e to every subscriber.
func (b *Bus) Publish(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.subs {
		s.fn(e)
	}
}

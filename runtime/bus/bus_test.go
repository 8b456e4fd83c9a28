package bus_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/patriceckhart/zot/runtime/bus"
	"github.com/patriceckhart/zot/runtime/event"
)

func TestAllSubscribersSeeOneOrder(t *testing.T) {
	var b bus.Bus
	var mu sync.Mutex
	seen := make([][]string, 3)
	for i := range seen {
		b.Subscribe(func(e event.Event) {
			mu.Lock()
			defer mu.Unlock()
			seen[i] = append(seen[i], e.(event.TextDelta).Delta)
		})
	}
	const publishers, each = 8, 50
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for n := range each {
				b.Publish(event.TextDelta{Delta: fmt.Sprintf("%d-%02d", p, n)})
			}
		})
	}
	wg.Wait()
	if len(seen[0]) != publishers*each || !slices.Equal(seen[0], seen[1]) || !slices.Equal(seen[0], seen[2]) {
		t.Errorf("they saw %d, %d and %d events, want %d in one order", len(seen[0]), len(seen[1]), len(seen[2]), publishers*each)
	}
	for p := range publishers {
		own := slices.DeleteFunc(slices.Clone(seen[0]), func(s string) bool { return s[0] != byte('0'+p) })
		if !slices.IsSorted(own) {
			t.Errorf("the events of publisher %d came as %q", p, own)
		}
	}
}

// An event reaches the subscribers in the order in which they subscribed, and
// all of them before the next event reaches any.
func TestOneEventAtATime(t *testing.T) {
	var b bus.Bus
	var got []string
	for _, name := range []string{"a", "b", "c"} {
		b.Subscribe(func(e event.Event) { got = append(got, name+e.(event.TextDelta).Delta) })
	}
	b.Publish(event.TextDelta{Delta: "1"})
	b.Publish(event.TextDelta{Delta: "2"})
	if want := []string{"a1", "b1", "c1", "a2", "b2", "c2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Who unsubscribes while an event is handed out gets it to the end; once cancel
// has returned nothing comes any more. Doing it twice harms nobody.
func TestUnsubscribeWhilePublishing(t *testing.T) {
	var b bus.Bus
	var gone atomic.Bool
	var before, after int
	inside, goOn := make(chan struct{}), make(chan struct{})
	b.Subscribe(func(event.Event) { before++ })
	cancel := b.Subscribe(func(event.Event) {
		if gone.Load() {
			t.Error("called after cancel had returned")
		}
		if before == 1 {
			close(inside)
			<-goOn
		}
	})
	b.Subscribe(func(event.Event) { after++ })
	var published, cancelled sync.WaitGroup
	published.Go(func() { b.Publish(event.Done{}) })
	<-inside
	cancelled.Go(func() {
		cancel()
		gone.Store(true)
		cancel()
	})
	close(goOn)
	published.Wait()
	cancelled.Wait()
	b.Publish(event.Done{})
	if before != 2 || after != 2 {
		t.Errorf("the others saw %d and %d events, want 2 each", before, after)
	}
}

func TestSubscribersComeAndGo(t *testing.T) {
	var b bus.Bus
	b.Publish(event.Done{}) // to nobody
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				n := 0
				cancel := b.Subscribe(func(event.Event) { n++ })
				b.Publish(event.Done{})
				cancel()
				if n == 0 {
					t.Error("a subscriber did not see what it published itself")
				}
			}
		})
	}
	wg.Wait()
}

package engine

import (
	"sync/atomic"
	"time"
)

// Activity tells how long a guest has been computing without a word: it is the
// clock of the limit on that. Its zero value is a guest at work from the first
// look on.
type Activity struct {
	// turns is even while the guest computes and odd while it waits or talks.
	// A counter costs the guest less than a look at the clock.
	turns atomic.Uint64
}

func (a *Activity) pause() {
	if a != nil {
		a.turns.Add(1)
	}
}

func (a *Activity) resume() {
	if a != nil {
		a.turns.Add(1)
	}
}

// Watch calls over when the guest has computed for longer than limit, and
// returns; or it returns when stop is closed. It looks eight times in that
// span, and so is late by an eighth at most.
func (a *Activity) Watch(limit time.Duration, stop <-chan struct{}, over func()) {
	ticker := time.NewTicker(max(limit/8, time.Millisecond))
	defer ticker.Stop()
	seen, since := a.turns.Load(), time.Now()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		turns := a.turns.Load()
		if turns != seen || turns%2 == 1 {
			seen, since = turns, time.Now()
		} else if time.Since(since) > limit {
			over()
			return
		}
	}
}

package ext

import "sync"

// maxBehind is how many events, or keys of one panel, may wait for a handler.
const maxBehind = 4096

// A serial runs functions one after the other, in order. Its goroutine lives
// as long as there is something to run.
type serial struct {
	mu      sync.Mutex // guards all below
	waiting []func()
	busy    bool
	lost    bool // something was dropped since the last one that fitted
}

// do queues fn. It reports whether fn was dropped as the first of a row,
// because too many are waiting.
func (s *serial) do(wg *sync.WaitGroup, fn func()) (firstDrop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) >= maxBehind {
		firstDrop, s.lost = !s.lost, true
		return firstDrop
	}
	s.lost = false
	s.waiting = append(s.waiting, fn)
	if !s.busy {
		s.busy = true
		wg.Go(s.drain)
	}
	return false
}

func (s *serial) drain() {
	for {
		s.mu.Lock()
		if len(s.waiting) == 0 {
			s.busy, s.waiting = false, nil
			s.mu.Unlock()
			return
		}
		fn := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.mu.Unlock()
		fn()
	}
}

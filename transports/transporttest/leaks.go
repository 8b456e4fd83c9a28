package transporttest

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

// leaks starts and stops peers of each temper, reading from some and not from
// others, and looks for what is left of them.
func (s Suite) leaks(t *testing.T) {
	names := []string{peer.Echo, peer.Dies, peer.Silent, peer.Flood}
	cycle := func(n int) {
		conn := s.Start(t, Program{Name: names[n%len(names)]})
		if n%3 == 0 && names[n%len(names)] != peer.Silent {
			_ = conn.WriteFrame([]byte("{}"), time.Now().Add(patience))
			_, _ = conn.ReadFrame()
		}
		conn.Stop(t.Context(), transports.Grace{Exit: 5 * time.Millisecond, Term: 5 * time.Millisecond})
	}
	for n := range names { // what is made once and kept is no leak
		cycle(n)
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for n := range s.Cycles {
		cycle(n)
	}
	settles(t, "goroutines", goroutines, runtime.NumGoroutine)
	settles(t, "open files", files, openFiles)
}

// settles waits for a count to be back at what it was; one more may be passing.
func settles(t *testing.T, what string, before int, count func() int) {
	t.Helper()
	end := time.Now().Add(patience)
	for count() > before+1 {
		if time.Now().After(end) {
			t.Fatalf("%d %s, were %d before", count(), what, before)
		}
		time.Sleep(time.Millisecond)
	}
}

// openFiles counts the descriptors of this process, where that can be done.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

package wasi

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
)

// mostMemory is what one Go guest in a runner may take beside its compiled
// code, by proportional share.
const mostMemory = 16 << 20

// BenchmarkFifty starts fifty modules at a time and takes the memory of their
// runners.
func BenchmarkFifty(b *testing.B) {
	if _, ok := proportional(os.Getpid()); !ok {
		b.Skip("this system tells no proportional shares of memory")
	}
	for b.Loop() {
		took, each := many(b, 50)
		b.ReportMetric(took.Seconds(), "start-s")
		b.ReportMetric(float64(each)/(1<<20), "each-MiB")
		if each > mostMemory {
			b.Errorf("a guest takes %d KiB beside its code, more than %d", each>>10, mostMemory>>10)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// The same with a few, for every run of the tests: of fewer, each has a larger
// share of what all have in common.
func TestMemoryOfAFew(t *testing.T) {
	if _, ok := proportional(os.Getpid()); !ok || raceEnabled {
		t.Skip("this system tells no proportional shares of memory, or the race detector takes most of it")
	}
	_, each := many(t, 6)
	t.Logf("%d KiB each", each>>10)
	if each > mostMemory+8<<20 {
		t.Errorf("a guest takes %d KiB beside its code", each>>10)
	}
}

// many starts n runners at a time and returns how long that took until all had
// said hello, and what each takes of memory beside its code.
func many(t testing.TB, n int) (took time.Duration, each int64) {
	t.Helper()
	o := benchOptions(t)
	started(t, start(t, o)).Stop(t.Context(), grace) // it is compiled now
	code, ok := InCache(o.Cache, o.Module, Runner)
	if !ok {
		t.Fatal("the module is not in the cache")
	}
	conns := make([]*Conn, n)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			conn, err := Start(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := conn.ReadFrame(); err != nil {
				t.Error(err)
			}
			conns[i] = conn
		})
	}
	wg.Wait()
	took = time.Since(began)
	for _, conn := range conns {
		if conn == nil {
			continue
		}
		exchange(t, conn, call)
		share, _ := proportional(conn.Conn.(*process).Pid())
		each += (share - code.Size) / int64(n)
	}
	for _, conn := range conns {
		if conn != nil {
			conn.Stop(t.Context(), transports.Grace{})
		}
	}
	return took, each
}

// proportional is the proportional share of memory of a process, in bytes.
func proportional(pid int) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// mostDelay is how long a guest in a runner may hold up anything of the host.
const mostDelay = 50 * time.Millisecond

// TestAGuestDoesNotDelayTheHost watches a clock and the garbage collector of
// the host while a guest misbehaves. On a machine where everything waits for a
// processor they are late without a guest, too, so that counts as well, and
// some rounds are worse than others; a guest in the way would delay them all.
func TestAGuestDoesNotDelayTheHost(t *testing.T) {
	for misdeed, read := range map[string]bool{"spin": false, "alloc": false, "sleep": false, "recurse": false, "burst": false, "flood": true} {
		t.Run(misdeed, func(t *testing.T) {
			o := Options{Name: "guest", Cache: cacheDir(), MemPages: 4096}
			const forEver = 1 << 30
			with, without := time.Hour, time.Hour
			for range 40 {
				without = min(without, worstDelay(5))
				conn := startLab(t, o)
				op := misdeed
				if read { // or else it is blocked soon
					op = "burst"
				}
				ask(t, conn, request{Op: op, N: forEver})
				if read {
					go readAll(conn)
				}
				with = min(with, worstDelay(5))
				conn.Stop(t.Context(), transports.Grace{})
				if with <= mostDelay {
					return
				}
			}
			t.Logf("delays of %v with the guest and %v without", with, without)
			if with-without > mostDelay {
				t.Errorf("the guest holds up the host by %v, more than %v", with-without, mostDelay)
			}
		})
	}
}

// readAll takes what a guest says until it is gone.
func readAll(conn transports.Conn) {
	for {
		if _, err := conn.ReadFrame(); err != nil {
			return
		}
	}
}

// worstDelay is the longest of so many naps and collections.
func worstDelay(n int) time.Duration {
	var all []time.Duration
	for range n {
		const nap = 5 * time.Millisecond
		began := time.Now()
		time.Sleep(nap)
		all = append(all, time.Since(began)-nap)
		began = time.Now()
		runtime.GC()
		all = append(all, time.Since(began))
	}
	return slices.Max(all)
}

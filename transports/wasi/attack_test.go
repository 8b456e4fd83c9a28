package wasi

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
)

// resident is the memory that a process holds, and held at most, in bytes.
func resident(t *testing.T, pid int) (now, peak int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("this system does not say what a process holds")
	}
	read := func(key string) int64 {
		_, rest, _ := strings.Cut(string(status), key+":")
		kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		must(t, err)
		return kib << 10
	}
	return read("VmRSS"), read("VmHWM")
}

// TestAMemoryBombStaysOutOfTheHost looks at the host's memory all the while
// that a guest takes all it can.
func TestAMemoryBombStaysOutOfTheHost(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.MemPages = 768 // 48 MiB
		limit := int64(32 << 20)
		if o.Isolation == Inline {
			limit += int64(o.MemPages) * PageSize
		}
		if raceEnabled {
			limit *= 4
		}
		conn := startLab(t, o)
		do(t, conn, request{Op: "echo"})
		before, _ := resident(t, os.Getpid())
		ask(t, conn, request{Op: "alloc"})
		most := before
		for done := false; !done; {
			select {
			case <-conn.Done():
				done = true
			case <-time.After(2 * time.Millisecond):
			}
			now, _ := resident(t, os.Getpid())
			most = max(most, now)
		}
		t.Logf("the host grew by %d MiB", (most-before)>>20)
		if most-before > limit {
			t.Errorf("the host grew by %d MiB, more than %d", (most-before)>>20, limit>>20)
		}
		if exit := conn.Exit(); exit.Limit != "memory" {
			t.Errorf("it ended with %v, limit %q", exit, exit.Limit)
		}
	})
}

// TestAGuestThatSpinsAtItsEnd begins to when its input ends, as at shutdown.
func TestAGuestThatSpinsAtItsEnd(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Args = []string{"spin-at-end"}
		conn := startLab(t, o)
		do(t, conn, request{Op: "echo"})
		began := time.Now()
		exit := conn.Stop(t.Context(), grace)
		if exit.Signal == "" || time.Since(began) > time.Minute {
			t.Errorf("after %v: exit = %v, want a violent one", time.Since(began), exit)
		}
	})
}

// TestOthersGoOnBesideMisdeeds has an extension answer while others, in runners,
// do what they can to be in the way.
func TestOthersGoOnBesideMisdeeds(t *testing.T) {
	good := startLab(t, Options{Name: "good", Cache: cacheDir()})
	for _, misdeed := range []request{{Op: "spin"}, {Op: "alloc"}, {Op: "burst", N: 1 << 30}} {
		bad := startLab(t, Options{Name: "bad", Cache: cacheDir()})
		ask(t, bad, misdeed)
		for n := range 20 {
			if got := do(t, good, request{ID: n, Op: "echo", Text: "still here"}); got.ID != n || got.Text != "still here" {
				t.Errorf("beside %s: answer %d is %+v", misdeed.Op, n, got)
			}
			runtime.GC()
		}
		bad.Stop(t.Context(), transports.Grace{})
	}
}

// TestARunnerOnlyReadsTheCache is about a guest that got out of WebAssembly: it
// must not plant code for others.
func TestARunnerOnlyReadsTheCache(t *testing.T) {
	o := Options{Mounts: []Mount{{Host: "/rw", Guest: "/rw"}, {Host: "/ro", Guest: "/ro", ReadOnly: true}}}
	p := policyFor(o, "/cache/entry")
	if !slices.Equal(p.Read, []string{"/cache/entry", "/ro"}) || !slices.Equal(p.Write, []string{"/rw"}) || p.Exec || len(p.TCP) > 0 {
		t.Errorf("the walls of a runner: %+v", p)
	}
}

// FuzzModule starts modules that are nearly good, each in a runner, for a
// moment: whatever they are, starting and stopping them works.
func FuzzModule(f *testing.F) {
	for _, body := range []string{doNothing, unreachable, callItself, loopForEver, divideZero, readOutside} {
		f.Add(program(body))
	}
	f.Add(program(doNothing, "wasi_snapshot_preview1.sched_yield"))
	f.Fuzz(func(t *testing.T, module []byte) {
		conn, err := Start(t.Context(), Options{Module: module, Name: "fuzz", MemPages: 64, CallMax: time.Second, StartMax: 20 * time.Second})
		if err != nil {
			return
		}
		conn.Stop(t.Context(), transports.Grace{Exit: 10 * time.Millisecond})
	})
}

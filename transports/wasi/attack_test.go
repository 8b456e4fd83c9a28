package wasi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/confine"
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

// TestALoopBeforeTheProgram is in the function that a module names to be run
// when it is loaded, before its program begins.
func TestALoopBeforeTheProgram(t *testing.T) {
	plain := string(program(loopForEver))
	code := strings.LastIndex(plain, "\x0a")
	module := []byte(plain[:code] + section(8, 0) + plain[code:])
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Module = module
		if exit := start(t, o).Stop(t.Context(), grace); exit.Signal == "" {
			t.Errorf("stopped: %v", exit)
		}
		o.CallMax = 100 * time.Millisecond
		if exit := awaitDone(t, start(t, o)); exit.Limit != "cpuPerCall" {
			t.Errorf("left alone: %v, limit %q", exit, exit.Limit)
		}
	})
}

// TestARunnerOnlyReadsTheCache is about a guest that got out of WebAssembly: it
// must not plant code for others.
func TestARunnerOnlyReadsTheCache(t *testing.T) {
	o := Options{Mounts: []Mount{{Host: "/rw", Guest: "/rw"}, {Host: "/ro", Guest: "/ro", ReadOnly: true}}}
	p := policyFor(o, "/cache/entry")
	if !slices.Equal(p.Read, []string{"/cache/entry", "/ro"}) || !slices.Equal(p.Write, []string{"/rw"}) || p.Exec || len(p.TCP) > 0 {
		t.Errorf("the walls of a runner: %+v", p)
	}
	if supported := confine.Supported(); !supported.Complete() {
		t.Skipf("this system cannot enforce everything: %v", supported)
	}
	o = Options{Name: "guest", Cache: filepath.Join(t.TempDir(), "cache")}
	runsFrom(t, o)
	file := code(t, o.Cache)
	before, err := os.ReadFile(file)
	must(t, err)
	out, err := exec.Command(ownBinary(), breakOut, file).CombinedOutput()
	if got := string(out); err != nil || got != "read\n" {
		t.Errorf("%v: within the walls of a runner it could: %q", err, got)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) || len(entries(t, filepath.Dir(file))) != 1 {
		t.Errorf("the cache has changed: %v", err)
	}
}

// breakOut is a role of this test's binary: it puts up the walls of a runner and
// tries with the compiled code what a guest that broke out would.
const breakOut = "__break-out"

func init() {
	roles[breakOut] = func(args []string) int {
		file := args[0]
		walls := policyFor(Options{MemPages: DefaultMemPages}, filepath.Dir(file))
		if raceEnabled {
			walls.DataLimit = 0 // the race detector takes more
		}
		if _, err := confine.Self(*walls); err != nil {
			fmt.Println(err)
			return 1
		}
		for _, try := range []struct {
			name string
			do   func() error
		}{
			{"read", func() error { _, err := os.ReadFile(file); return err }},
			{"overwrite", func() error { return os.WriteFile(file, []byte("planted"), 0o600) }},
			{"add", func() error { return os.WriteFile(file+"-planted", nil, 0o600) }},
			{"remove", func() error { return os.Remove(file) }},
			{"move", func() error { return os.Rename(file, file+"-moved") }},
			{"link", func() error { return os.Link(file, file+"-linked") }},
			{"read beside", func() error { _, err := os.ReadDir(filepath.Join(filepath.Dir(file), "..", "..")); return err }},
		} {
			if try.do() == nil {
				fmt.Println(try.name)
			}
		}
		return 0
	}
}

// FuzzModule starts modules that are nearly good, each in a runner and inline,
// for a moment: whatever they are, starting and stopping them works.
func FuzzModule(f *testing.F) {
	for _, body := range []string{doNothing, unreachable, callItself, loopForEver, divideZero, readOutside} {
		f.Add(program(body))
	}
	f.Add(program(doNothing, "wasi_snapshot_preview1.sched_yield"))
	f.Fuzz(func(t *testing.T, module []byte) {
		for _, isolation := range []Isolation{Runner, Inline} {
			conn, err := Start(t.Context(), Options{
				Module: module, Name: "fuzz", Isolation: isolation, MemPages: 64, CallMax: time.Second, StartMax: 20 * time.Second,
			})
			if err == nil {
				conn.Stop(t.Context(), transports.Grace{Exit: 10 * time.Millisecond})
			}
		}
	})
}

package wasi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

const benchGuest = "./testdata/bench"

var call = []byte(`{"type":"tool_call","id":"1","name":"echo","args":{"text":"twenty bytes of text"}}`)

// The most that a call may take, as a multiple of one to a native process.
const (
	mostOverlay = 2 // the streams alone, without looking whether to stop
	mostRunner  = 5
	mostInline  = 8
)

// BenchmarkRoundTrip measures calls in both isolations beside the same program
// as a native process, in turns, so that a busy machine disturbs all alike: to
// a guest that gives back what it gets, and to one that reads and writes JSON.
// Nearly all of the time of that one is the guest's own computing, which it measures;
// the multiples are of what a call takes besides. What is bounded are those of the
// first, which computes nothing.
func BenchmarkRoundTrip(b *testing.B) {
	b.Run("echo", func(b *testing.B) { benchRoundTrip(b, peerGuest, []string{peer.Echo}) })
	b.Run("json", func(b *testing.B) { benchRoundTrip(b, benchGuest, nil) })
}

func benchRoundTrip(b *testing.B, folder string, args []string) {
	open := func(isolation Isolation, unchecked bool) transports.Conn {
		o := Options{Module: guest(b, folder), Name: "bench", Args: args, Cache: cacheDir()}
		o.Isolation, o.testOnlyUninterruptible = isolation, unchecked
		return greeted(b, folder, start(b, o))
	}
	kinds := []struct {
		name string
		most float64
		conn transports.Conn
		took []time.Duration
		// How long the guest computed, by its own clock.
		computed []time.Duration
	}{
		{"native", 1, greeted(b, folder, startNative(b, folder, args)), nil, nil},
		{"overlay", mostOverlay, open(Inline, true), nil, nil},
		{"runner", mostRunner, open(Runner, false), nil, nil},
		{"inline", mostInline, open(Inline, false), nil, nil},
	}
	for b.Loop() {
		for range 50 {
			for i := range kinds {
				kinds[i].took = roundTrips(b, kinds[i].conn, kinds[i].took, 200)
				if folder == benchGuest {
					kinds[i].computed = append(kinds[i].computed, computed(b, exchange(b, kinds[i].conn, computeJSON)))
				}
			}
		}
	}
	besides := func(i int) float64 { // what a call takes besides computing
		slices.Sort(kinds[i].took)
		slices.Sort(kinds[i].computed)
		if len(kinds[i].computed) == 0 {
			return micros(kinds[i].took, 50)
		}
		b.ReportMetric(micros(kinds[i].computed, 50), kinds[i].name+"-guest-µs")
		return micros(kinds[i].took, 50) - micros(kinds[i].computed, 50)
	}
	native := besides(0)
	for i, k := range kinds {
		x := besides(i) / native
		b.ReportMetric(micros(k.took, 50), k.name+"-p50-µs")
		b.ReportMetric(micros(k.took, 99), k.name+"-p99-µs")
		b.ReportMetric(x, k.name+"-x")
		if folder == peerGuest && x > k.most {
			b.Errorf("%s: a call takes %.1f µs, %.1f times as long as to a native process, more than %.0f", k.name, besides(i), x, k.most)
		}
	}
	b.ReportMetric(0, "ns/op") // of all together, which says nothing
}

func benchOptions(t testing.TB) Options {
	return Options{Module: guest(t, benchGuest), Name: "bench", Cache: cacheDir()}
}

// greeted waits for the hello of a guest that says one.
func greeted(t testing.TB, folder string, conn transports.Conn) transports.Conn {
	t.Helper()
	if folder == benchGuest {
		return started(t, conn)
	}
	return conn
}

// started waits for the guest's hello.
func started(t testing.TB, conn transports.Conn) transports.Conn {
	t.Helper()
	if _, err := conn.ReadFrame(); err != nil {
		t.Fatal(err)
	}
	return conn
}

func roundTrips(b *testing.B, conn transports.Conn, took []time.Duration, n int) []time.Duration {
	b.Helper()
	for range n {
		began := time.Now()
		exchange(b, conn, call)
		took = append(took, time.Since(began))
	}
	return took
}

func exchange(t testing.TB, conn transports.Conn, frame []byte) []byte {
	t.Helper()
	if err := conn.WriteFrame(frame, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	answer, err := conn.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func micros(sorted []time.Duration, percent int) float64 {
	return float64(sorted[len(sorted)*percent/100].Nanoseconds()) / 1000
}

// startNative builds the guest for this system, and starts it.
func startNative(b *testing.B, folder string, args []string) transports.Conn {
	b.Helper()
	conn, err := subprocess.Start(b.Context(), subprocess.Options{Path: native(b, folder), Args: args})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Stop(context.Background(), grace) })
	return conn
}

// BenchmarkStart measures from nothing to hello, with the compiled module in
// the cache, beside the engine's own time to load it in a bare program.
func BenchmarkStart(b *testing.B) {
	const most, plus = 1.5, 20 * time.Millisecond
	o := benchOptions(b)
	started(b, start(b, o)).Stop(b.Context(), grace) // it is compiled now
	var runner, inline, bare []time.Duration
	for b.Loop() {
		for range 10 {
			for _, kind := range []struct {
				isolation Isolation
				took      *[]time.Duration
			}{{Runner, &runner}, {Inline, &inline}} {
				o.Isolation = kind.isolation
				began := time.Now()
				conn := started(b, start(b, o))
				*kind.took = append(*kind.took, time.Since(began))
				conn.Stop(b.Context(), transports.Grace{Exit: time.Second})
			}
			bare = append(bare, bareProgram(b, bareLoad, o))
		}
	}
	for name, took := range map[string][]time.Duration{"runner": runner, "inline": inline, "bare-load": bare} {
		slices.Sort(took)
		b.ReportMetric(micros(took, 50)/1000, name+"-ms")
	}
	limit := time.Duration(most*float64(bare[len(bare)/2])) + plus
	b.ReportMetric(float64(limit.Milliseconds()), "limit-ms")
	if got := runner[len(runner)/2]; got > limit {
		b.Errorf("a runner takes %v to hello, more than %v", got, limit)
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCompute compares what a guest computes in a runner with the engine
// alone in a bare program.
func BenchmarkCompute(b *testing.B) {
	const most = 1.1
	o := benchOptions(b)
	conn := started(b, start(b, o))
	var runner, bare []time.Duration
	for b.Loop() {
		for range 60 {
			runner = append(runner, computed(b, exchange(b, conn, compute)))
			bare = append(bare, bareProgram(b, bareRun, o))
		}
	}
	// The best of each: what disturbs only ever adds.
	ratio := float64(slices.Min(runner)) / float64(slices.Min(bare))
	b.ReportMetric(ratio, "runner-x")
	b.ReportMetric(float64(slices.Min(bare).Milliseconds()), "bare-ms")
	if ratio > most {
		b.Errorf("computing takes %.2f times as long in a runner, more than %.1f", ratio, most)
	}
	b.ReportMetric(0, "ns/op")
}

var (
	compute     = []byte(`{"type":"tool_call","id":"1","name":"fib","args":{"n":30}}`)
	computeJSON = []byte(`{"type":"tool_call","id":"1","name":"json","args":{"text":"twenty bytes of text","n":200}}`)
)

// computed reads off how long the guest took.
func computed(t testing.TB, answer []byte) time.Duration {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatal(err)
	}
	d, err := time.ParseDuration(r.Content[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Roles of this test's binary: the engine in a bare program. The arguments are
// the module's file and the folder that it is compiled to.
const (
	bareLoad = "__bare-load" // prints how long loading the compiled module takes
	bareRun  = "__bare-run"  // prints how long the guest computes
)

func init() { roles[bareLoad], roles[bareRun] = bareLoadMain, bareRunMain }

func bareLoadMain(args []string) int {
	module, err := os.ReadFile(args[0])
	if err != nil {
		panic(err)
	}
	began := time.Now()
	if err := engine.Compile(context.Background(), module, args[1], DefaultMemPages, false); err != nil {
		panic(err)
	}
	fmt.Println(time.Since(began))
	return 0
}

func bareRunMain(args []string) int {
	module, err := os.ReadFile(args[0])
	if err != nil {
		panic(err)
	}
	in, err := standardInput()
	if err != nil {
		panic(err)
	}
	_, err = engine.Run(context.Background(), engine.Config{
		Module: module, Args: []string{"bare"}, Pages: DefaultMemPages, Cache: args[1], Stdin: in, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		panic(err)
	}
	return 0
}

func bareProgram(b *testing.B, role string, o Options) time.Duration {
	b.Helper()
	// The module as it is: what is done to it before it is compiled is ours.
	dir, file := filepath.Join(buildDir, "bare-cache"), filepath.Join(buildDir, "bare.wasm")
	if _, err := os.Stat(file); err != nil {
		must(b, engine.Compile(b.Context(), o.Module, dir, DefaultMemPages, false))
		must(b, os.WriteFile(file, o.Module, 0o600))
	}
	cmd := exec.Command(ownBinary(), role, file, dir)
	in, err := cmd.StdinPipe()
	must(b, err)
	if role == bareRun {
		go func() { // ends with the process
			_, _ = in.Write(append(compute, '\n'))
			_ = in.Close()
		}()
	}
	out, err := cmd.Output()
	must(b, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	if role == bareRun {
		return computed(b, []byte(last))
	}
	took, err := time.ParseDuration(last)
	must(b, err)
	return took
}

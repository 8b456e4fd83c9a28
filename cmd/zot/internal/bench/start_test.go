package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// BenchmarkStart50 compares starting fifty extensions with starting the same
// fifty processes by hand and waiting for the first line of each.
func BenchmarkStart50(b *testing.B) {
	const n = 50
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		var wg sync.WaitGroup
		all := make([]*bare, n)
		for i := range n {
			wg.Go(func() {
				all[i] = startBare(b, fmt.Sprint("peer", i))
				all[i].readLine(b)
			})
		}
		wg.Wait()
		theirs = append(theirs, time.Since(start))
		for _, p := range all {
			p.stop()
		}

		start = time.Now()
		m := startManager(b, n)
		ours = append(ours, time.Since(start))
		m.Stop(b.Context())
	}
	o, t := quantile(ours, .5), quantile(theirs, .5)
	b.ReportMetric(float64(o.Milliseconds()), "zot-ms")
	b.ReportMetric(float64(t.Milliseconds()), "bare-ms")
	b.ReportMetric(float64(o)/float64(t), "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkVersion compares `zot --version` with a program that links the same
// packages and does nothing.
func BenchmarkVersion(b *testing.B) {
	dir := b.TempDir()
	zot, empty := filepath.Join(dir, "zot"), filepath.Join(dir, "empty")
	for out, pkg := range map[string]string{zot: "github.com/patriceckhart/zot/cmd/zot", empty: "github.com/patriceckhart/zot/cmd/zot/internal/bench/empty"} {
		if text, err := exec.Command("go", "build", "-buildvcs=false", "-o", out, pkg).CombinedOutput(); err != nil {
			b.Fatalf("building %s: %v\n%s", pkg, err, text)
		}
	}
	run := func(path string, args ...string) time.Duration {
		start := time.Now()
		if err := exec.Command(path, args...).Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		theirs = append(theirs, run(empty))
		ours = append(ours, run(zot, "--version"))
	}
	report(b, ours, theirs)
}

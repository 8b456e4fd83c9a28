package bench

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// mostIdleMemory is what fifty idle extensions may cost the host.
const mostIdleMemory = 20 << 20

// BenchmarkIdleMemory compares the memory that the host has resident with fifty
// idle extensions loaded to what it has with none.
func BenchmarkIdleMemory(b *testing.B) {
	if resident(b) == 0 {
		b.Skip("this system does not say what is resident")
	}
	const n = 50
	startManager(b, n).Stop(b.Context()) // what is made once and kept
	for b.Loop() {
		none := resident(b)
		m := startManager(b, n)
		fifty := resident(b)
		m.Stop(b.Context())
		const mib = 1 << 20
		b.ReportMetric(none/mib, "none-MiB")
		b.ReportMetric(fifty/mib, "fifty-MiB")
		b.ReportMetric((fifty-none)/mib, "added-MiB")
		if fifty-none > mostIdleMemory {
			b.Errorf("fifty idle extensions take %.1f MiB, more than %d", (fifty-none)/mib, mostIdleMemory/mib)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// mostGrowth is what the memory of a session may grow by in a thousand turns,
// the text of the conversation included.
const mostGrowth = 16 << 20

// BenchmarkTurnMemory looks at the memory of a session that goes on for a
// thousand turns and more, none of them forgotten.
func BenchmarkTurnMemory(b *testing.B) {
	if resident(b) == 0 {
		b.Skip("this system does not say what is resident")
	}
	m := startModel(b)
	for b.Loop() {
		z := startRPC(b, m.URL)
		pid := strconv.Itoa(z.pid)
		for range 200 {
			z.prompt(b)
		}
		before := residentOf(b, pid)
		for range 1000 {
			z.prompt(b)
		}
		after := residentOf(b, pid)
		const mib = 1 << 20
		b.ReportMetric(before/mib, "after-200-MiB")
		b.ReportMetric(after/mib, "after-1200-MiB")
		if after-before > mostGrowth {
			b.Errorf("a thousand turns took %.1f MiB, more than %d", (after-before)/mib, mostGrowth/mib)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// resident is the memory that this process really has, in bytes, after giving
// back what is free; 0 where it cannot be told.
func resident(b *testing.B) float64 {
	b.Helper()
	debug.FreeOSMemory()
	return residentOf(b, "self")
}

// residentOf is the memory that a process has; 0 where it cannot be told.
func residentOf(b *testing.B, pid string) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib * 1024
		}
	}
	return 0
}

package bench

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

const rounds = 10_000

// BenchmarkToolCall compares a tool call through the extension manager with a
// bare ping-pong of JSON lines with the same program, in turns of a hundred.
func BenchmarkToolCall(b *testing.B) { compareCalls(b, startManager(b, 1)) }

// BenchmarkToolCallSDK is the same for an extension written with the SDK, which
// the ping-pong does without.
func BenchmarkToolCallSDK(b *testing.B) { compareCalls(b, startAll(b, entries(b, "sdk", 1))) }

func compareCalls(b *testing.B, m *extension.Manager) {
	defer m.Stop(b.Context())
	echo := m.Tools()[0]
	p := startBare(b, "bare")
	p.greet(b)
	defer p.stop()
	for b.Loop() {
		var ours, theirs []time.Duration
		for i := range rounds {
			if i%100 == 0 {
				for j := range 100 {
					start := time.Now()
					p.roundTrip(b, i+j)
					theirs = append(theirs, time.Since(start))
				}
			}
			start := time.Now()
			r, err := echo.Run(b.Context(), tool.Call{ID: "x", Args: json.RawMessage(`{}`)})
			ours = append(ours, time.Since(start))
			if err != nil || r.IsError {
				b.Fatalf("%+v, %v", r, err)
			}
		}
		report(b, ours, theirs)
	}
}

// BenchmarkIntercept compares what each interceptor of a chain adds to a call
// with a bare ping-pong of one after the other of as many programs: a program
// that was asked last is quicker than one that must be woken.
func BenchmarkIntercept(b *testing.B) {
	for _, chain := range []int{1, 10} {
		b.Run(fmt.Sprintf("chain=%d", chain), func(b *testing.B) { benchmarkIntercept(b, chain) })
	}
}

func benchmarkIntercept(b *testing.B, chain int) {
	m := startManager(b, chain)
	defer m.Stop(b.Context())
	var all []*bare
	for range chain {
		p := startBare(b, "bare")
		p.greet(b)
		defer p.stop()
		all = append(all, p)
	}
	q := extension.ToolQuestion{ToolID: "t", ToolName: "bash", Args: json.RawMessage(`{"command":"ls"}`)}
	for b.Loop() {
		var ours, theirs []time.Duration
		for i := range rounds / chain {
			if i%10 == 0 {
				for j := range 10 {
					start := time.Now()
					for _, p := range all {
						p.roundTrip(b, i+j)
					}
					theirs = append(theirs, time.Since(start)/time.Duration(chain))
				}
			}
			start := time.Now()
			if v, err := m.InterceptToolCall(b.Context(), q); err != nil || v.Blocked {
				b.Fatalf("%+v, %v", v, err)
			}
			ours = append(ours, time.Since(start)/time.Duration(chain))
		}
		report(b, ours, theirs)
	}
}

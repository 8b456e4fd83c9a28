package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

const rounds = 10_000

// BenchmarkToolCall compares a tool call through the extension manager with a
// bare ping-pong of JSON lines with the same program, in turns of a hundred.
func BenchmarkToolCall(b *testing.B) {
	m := startManager(b, 1)
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

// BenchmarkIntercept compares what one interceptor adds to a call with a bare
// ping-pong.
func BenchmarkIntercept(b *testing.B) {
	m := startManager(b, 1)
	defer m.Stop(b.Context())
	p := startBare(b, "bare")
	p.greet(b)
	defer p.stop()
	q := extension.ToolQuestion{ToolID: "t", ToolName: "bash", Args: json.RawMessage(`{"command":"ls"}`)}
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
			if v, err := m.InterceptToolCall(b.Context(), q); err != nil || v.Blocked {
				b.Fatalf("%+v, %v", v, err)
			}
			ours = append(ours, time.Since(start))
		}
		report(b, ours, theirs)
	}
}

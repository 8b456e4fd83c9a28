package wasi

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

var call = []byte(`{"type":"tool_call","id":"1","name":"echo","args":{"text":"hello"}}`)

// BenchmarkRoundTrip measures calls in both isolations beside the same program
// as a native process, in turns, so that a busy machine disturbs all alike.
func BenchmarkRoundTrip(b *testing.B) {
	module := guest(b, peerGuest)
	open := func(isolation Isolation) transports.Conn {
		return start(b, Options{Module: module, Name: "guest", Args: []string{peer.Echo}, Isolation: isolation, Cache: cacheDir()})
	}
	kinds := []struct {
		name string
		conn transports.Conn
		took []time.Duration
	}{{"native", startNative(b), nil}, {"runner", open(Runner), nil}, {"inline", open(Inline), nil}}
	for b.Loop() {
		for range 10 {
			for i := range kinds {
				kinds[i].took = roundTrips(b, kinds[i].conn, kinds[i].took, 200)
			}
		}
	}
	for i := range kinds {
		slices.Sort(kinds[i].took)
		b.ReportMetric(micros(kinds[i].took, 50), kinds[i].name+"-p50-µs")
		b.ReportMetric(micros(kinds[i].took, 99), kinds[i].name+"-p99-µs")
	}
	b.ReportMetric(0, "ns/op") // of all together, which says nothing
}

func roundTrips(b *testing.B, conn transports.Conn, took []time.Duration, n int) []time.Duration {
	b.Helper()
	for range n {
		began := time.Now()
		if err := conn.WriteFrame(call, began.Add(10*time.Second)); err != nil {
			b.Fatal(err)
		}
		if _, err := conn.ReadFrame(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

func micros(sorted []time.Duration, percent int) float64 {
	return float64(sorted[len(sorted)*percent/100].Nanoseconds()) / 1000
}

// startNative builds the guest for this system, and starts it.
func startNative(b *testing.B) transports.Conn {
	b.Helper()
	conn, err := subprocess.Start(b.Context(), subprocess.Options{Path: native(b, peerGuest), Args: []string{peer.Echo}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Stop(context.Background(), grace) })
	return conn
}

// BenchmarkStart measures from nothing to the first answer, with the compiled
// module in the cache.
func BenchmarkStart(b *testing.B) {
	module := guest(b, peerGuest)
	for _, isolation := range []Isolation{Runner, Inline} {
		b.Run(string(isolation), func(b *testing.B) {
			o := Options{Module: module, Name: "guest", Args: []string{peer.Echo}, Isolation: isolation, Cache: cacheDir()}
			for b.Loop() {
				conn, err := Start(b.Context(), o)
				if err != nil {
					b.Fatal(err)
				}
				roundTrips(b, conn, nil, 1)
				conn.Stop(b.Context(), transports.Grace{Exit: time.Second})
			}
		})
	}
}

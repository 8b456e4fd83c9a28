package subprocess

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

var call = []byte(`{"type":"tool_call","id":"1","name":"echo","args":{"text":"hello"}}`)

// BenchmarkRoundTrip measures calls through a Conn beside the least that two
// pipes can do, in turns, so that a busy machine disturbs both alike.
func BenchmarkRoundTrip(b *testing.B) {
	conn := start(b, Options{Path: self(b), Env: []string{peerVar + "=" + peer.Echo}})
	defer conn.Stop(context.Background(), transports.Grace{Exit: time.Second})
	bare := startBare(b)
	const turn = 1000
	var through, direct []time.Duration
	for b.Loop() {
		for range 10_000 / turn {
			through = timed(b, through, turn, func() error {
				if err := conn.WriteFrame(call, time.Now().Add(5*time.Second)); err != nil {
					return err
				}
				_, err := conn.ReadFrame()
				return err
			})
			direct = timed(b, direct, turn, bare)
		}
	}
	slices.Sort(through)
	slices.Sort(direct)
	b.ReportMetric(micros(through, 50), "p50-µs")
	b.ReportMetric(micros(through, 99), "p99-µs")
	b.ReportMetric(micros(direct, 50), "bare-p50-µs")
	b.ReportMetric(micros(direct, 99), "bare-p99-µs")
	b.ReportMetric(micros(through, 50)/micros(direct, 50), "p50-ratio")
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
}

func timed(b *testing.B, to []time.Duration, n int, call func() error) []time.Duration {
	b.Helper()
	for range n {
		began := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		to = append(to, time.Since(began))
	}
	return to
}

func micros(sorted []time.Duration, percent int) float64 {
	return float64(sorted[len(sorted)*percent/100].Nanoseconds()) / 1000
}

// startBare starts the same peer on two pipes and nothing else.
func startBare(b *testing.B) func() error {
	b.Helper()
	cmd := exec.Command(self(b))
	cmd.Env = []string{peerVar + "=" + peer.Echo}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = inRead, outWrite
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	closeAll(inRead, outWrite)
	b.Cleanup(func() {
		closeAll(inWrite, outRead)
		_ = cmd.Wait()
	})
	line := append(slices.Clone(call), '\n')
	reader := bufio.NewReader(outRead)
	return func() error {
		if _, err := inWrite.Write(line); err != nil {
			return err
		}
		_, err := reader.ReadSlice('\n')
		return err
	}
}

func BenchmarkStartStop(b *testing.B) {
	for b.Loop() {
		conn := start(b, Options{Path: self(b), Env: []string{peerVar + "=" + peer.Echo}})
		if err := conn.WriteFrame(call, time.Time{}); err != nil {
			b.Fatal(err)
		}
		if _, err := conn.ReadFrame(); err != nil {
			b.Fatal(err)
		}
		conn.Stop(context.Background(), transports.Grace{Exit: time.Second})
	}
}

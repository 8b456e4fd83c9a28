// Package transporttest holds the suite that every transport passes: what
// [transports.Conn] promises, played by small programs on the far side that
// behave as badly as real ones do.
//
//	func TestContract(t *testing.T) {
//		transporttest.Run(t, func(t testing.TB, p transporttest.Program) transports.Conn { … })
//	}
//
// The far side runs peer.Main with the program's name.
package transporttest

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
)

// A Program says what is to be started on the far side.
type Program struct {
	Name     string    // of a program in package peer
	Stderr   io.Writer // gets all of its standard error, or nil
	MaxFrame int       // or 0
}

// Start starts a program, or fails the test.
type Start func(t testing.TB, p Program) transports.Conn

// A Suite is the contract with the numbers that depend on how costly a
// transport is.
type Suite struct {
	Start  Start
	Calls  int // round trips in a row; 0 means 10,000
	Cycles int // starts and stops in the search for leaks; 0 means 200
}

// Run runs the whole suite.
func Run(t *testing.T, start Start) { Suite{Start: start}.Run(t) }

// Run runs the whole suite.
func (s Suite) Run(t *testing.T) {
	if s.Calls == 0 {
		s.Calls = 10_000
	}
	if s.Cycles == 0 {
		s.Cycles = 200
	}
	t.Run("reading", s.reading)
	t.Run("writing", s.writing)
	t.Run("ending", s.ending)
	t.Run("leaks", s.leaks)
}

// patience is how long anything may take before the test calls it hung. It
// has nothing to do with how long things should take.
const patience = 3 * time.Minute

// quick is a grace that makes no test slow.
var quick = transports.Grace{Exit: 50 * time.Millisecond, Term: 50 * time.Millisecond}

// open starts the program and has it stopped when the test ends.
func (s Suite) open(t testing.TB, p Program) transports.Conn {
	t.Helper()
	conn := s.Start(t, p)
	t.Cleanup(func() { conn.Stop(context.Background(), quick) })
	return conn
}

// within fails the test where f takes longer than its patience.
func within[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	result := make(chan T, 1)
	go func() { result <- f() }()
	select {
	case r := <-result:
		return r
	case <-time.After(patience):
		t.Fatalf("%s did not return within %v", what, patience)
		panic("unreachable")
	}
}

// read returns the next frame, or fails the test.
func read(t testing.TB, conn transports.Conn) string {
	t.Helper()
	frame, err := readFrame(t, conn)
	if err != nil {
		t.Fatalf("ReadFrame: %v", err)
	}
	return string(frame)
}

func readFrame(t testing.TB, conn transports.Conn) ([]byte, error) {
	t.Helper()
	type result struct {
		frame []byte
		err   error
	}
	r := within(t, "ReadFrame", func() result {
		frame, err := conn.ReadFrame()
		return result{frame, err}
	})
	return r.frame, r.err
}

// readToEnd returns the frames up to io.EOF.
func readToEnd(t testing.TB, conn transports.Conn) []string {
	t.Helper()
	var frames []string
	for {
		frame, err := readFrame(t, conn)
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatalf("after %d frames: %v, want EOF", len(frames), err)
		}
		frames = append(frames, string(frame))
	}
}

// write writes a frame, or fails the test.
func write(t testing.TB, conn transports.Conn, frame string) {
	t.Helper()
	if err := conn.WriteFrame([]byte(frame), time.Now().Add(patience)); err != nil {
		t.Fatalf("WriteFrame: %v", err)
	}
}

func awaitDone(t testing.TB, conn transports.Conn) {
	t.Helper()
	select {
	case <-conn.Done():
	case <-time.After(patience):
		t.Fatalf("not done within %v", patience)
	}
}

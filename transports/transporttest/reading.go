package transporttest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

func (s Suite) reading(t *testing.T) {
	t.Run("every call is answered in order", s.echoes)
	t.Run("frames of all sizes", s.sizes)
	t.Run("byte order mark, CR LF, blank lines, no last newline", s.framing)
	t.Run("line over the limit", s.overlong)
	t.Run("line over the limit without an end", s.overlongOpen)
	t.Run("limit of its own", s.ownLimit)
	t.Run("half a line", s.half)
	t.Run("reading until a deadline", s.deadline)
	t.Run("300 KB of standard error before the answer", s.noisy)
}

func (s Suite) echoes(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Echo})
	for n := range s.Calls {
		want := `{"id":` + strconv.Itoa(n) + `}`
		write(t, conn, want)
		if frame, err := conn.ReadFrame(); err != nil || string(frame) != want {
			t.Fatalf("call %d was answered by %q, %v", n, frame, err)
		}
	}
}

func (s Suite) sizes(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Sizes})
	for range 2 {
		write(t, conn, "{}")
		for _, size := range []int{70_000, 3 << 20, 100} {
			if got := read(t, conn); got != peer.Frame(size) {
				t.Fatalf("got a frame of %d bytes, want %d", len(got), size)
			}
		}
	}
}

func (s Suite) framing(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Framing})
	want := []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}
	if diff := cmp.Diff(want, readToEnd(t, conn)); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

func (s Suite) overlong(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Overlong})
	got := tooLong(t, conn)
	if got.Size != peer.OverlongSize || got.Partial || got.Limit != transports.DefaultMaxFrame {
		t.Errorf("got size %d, partial %v, limit %d", got.Size, got.Partial, got.Limit)
	}
	if !bytes.HasPrefix(got.Head, []byte(`{"id":7,`)) {
		t.Errorf("the head does not tell what the frame was: %.20q", got.Head)
	}
}

func (s Suite) overlongOpen(t *testing.T) {
	conn := s.open(t, Program{Name: peer.OverlongOpen})
	if got := tooLong(t, conn); !got.Partial || got.Size <= got.Limit {
		t.Errorf("got size %d, partial %v, limit %d", got.Size, got.Partial, got.Limit)
	}
}

func (s Suite) ownLimit(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Sizes, MaxFrame: 80_000})
	write(t, conn, "{}")
	if got := read(t, conn); len(got) != 70_000 {
		t.Fatalf("got a frame of %d bytes, want 70,000", len(got))
	}
	if got := tooLong(t, conn); got.Limit != 80_000 {
		t.Errorf("limit = %d, want 80,000", got.Limit)
	}
}

// tooLong reads a frame that is refused for its length, twice.
func tooLong(t *testing.T, conn transports.Conn) *transports.FrameTooLongError {
	t.Helper()
	var got *transports.FrameTooLongError
	for range 2 {
		if frame, err := readFrame(t, conn); !errors.As(err, &got) {
			t.Fatalf("got a frame of %d bytes, error %v, want one for its length", len(frame), err)
		}
	}
	return got
}

func (s Suite) deadline(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Echo})
	timed, ok := conn.(transports.TimedReader)
	if !ok {
		return // it need not be one
	}
	for n := range 3 {
		until := time.Now().Add(10 * time.Millisecond)
		for range 2 {
			_, err := timed.ReadFrameBy(until)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("the pipes of this system have no deadlines")
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("reading nothing gave %v", err)
			}
		}
		want := `{"id":` + strconv.Itoa(n) + `}`
		write(t, conn, want)
		if got := read(t, conn); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		write(t, conn, want)
		if got, err := timed.ReadFrameBy(time.Now().Add(patience)); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	conn.Stop(t.Context(), quick)
	if _, err := timed.ReadFrameBy(time.Now().Add(patience)); err != io.EOF {
		t.Errorf("after the end: %v, want EOF", err)
	}
}

func (s Suite) half(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Half})
	if got := read(t, conn); got != `{"whole":true}` {
		t.Fatalf("got %q", got)
	}
	second := make(chan error, 1)
	go func() {
		_, err := conn.ReadFrame()
		second <- err
	}()
	conn.Stop(t.Context(), quick)
	// Whether half a line is a frame is not for the transport to say.
	if err := within(t, "ReadFrame", func() error { return <-second }); err != nil && err != io.EOF {
		t.Errorf("after Stop, reading half a line gave %v", err)
	}
	if _, err := readFrame(t, conn); err != io.EOF {
		t.Errorf("then %v, want EOF", err)
	}
}

func (s Suite) noisy(t *testing.T) {
	var log safeBuffer
	conn := s.open(t, Program{Name: peer.Noisy, Stderr: &log})
	write(t, conn, `{"id":1}`)
	if got := read(t, conn); got != `{"id":1}` {
		t.Fatalf("got %q", got)
	}
	exit := conn.Stop(t.Context(), transports.Grace{Exit: patience, Term: patience})
	if n := log.Len(); n < peer.NoisySize {
		t.Errorf("the log got %d bytes of standard error, want %d and more", n, peer.NoisySize)
	}
	if !strings.HasSuffix(exit.StderrTail, peer.LastWords) || len(exit.StderrTail) > transports.TailSize {
		t.Errorf("tail of %d bytes does not end in the last words: %q", len(exit.StderrTail), exit.StderrTail)
	}
}

// safeBuffer is a buffer that is written on one goroutine and looked at on
// another.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Len()
}

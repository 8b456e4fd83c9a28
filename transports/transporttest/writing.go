package transporttest

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

func (s Suite) writing(t *testing.T) {
	t.Run("both pipes full at once", s.bothFull)
	t.Run("deadline that has passed", s.passedDeadline)
	t.Run("frames that are none are refused", s.refused)
	t.Run("closing releases a blocked write", s.closeReleases)
	t.Run("closing ends the input", s.closeEnds)
}

// bothFull writes to a peer that is itself stuck in a write.
func (s Suite) bothFull(t *testing.T) {
	conn := s.open(t, Program{Name: peer.BigFirst})
	big := []byte(peer.Frame(3 * peer.BigSize))
	err := within(t, "WriteFrame", func() error { return conn.WriteFrame(big, time.Now().Add(300*time.Millisecond)) })
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("WriteFrame = %v, want the deadline", err)
	}
	if got := read(t, conn); got != peer.Frame(peer.BigSize) {
		t.Errorf("got a frame of %d bytes, want %d", len(got), peer.BigSize)
	}
	// Part of a frame may be on its way, so nothing may follow it.
	if err := conn.WriteFrame([]byte("{}"), time.Now().Add(patience)); !errors.Is(err, transports.ErrClosed) {
		t.Errorf("next WriteFrame = %v, want ErrClosed", err)
	}
}

func (s Suite) passedDeadline(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Silent})
	err := within(t, "WriteFrame", func() error { return conn.WriteFrame([]byte("{}"), time.Now().Add(-time.Second)) })
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("WriteFrame = %v, want the deadline", err)
	}
}

func (s Suite) refused(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Echo, MaxFrame: 1000})
	var tooLong *transports.FrameTooLongError
	if err := conn.WriteFrame(make([]byte, 1001), time.Time{}); !errors.As(err, &tooLong) || tooLong.Size != 1001 {
		t.Errorf("1001 bytes of 1000: %v", err)
	}
	for _, frame := range []string{"", "{\n}"} {
		if err := conn.WriteFrame([]byte(frame), time.Time{}); !errors.Is(err, transports.ErrNotOneLine) {
			t.Errorf("WriteFrame(%q) = %v", frame, err)
		}
	}
	write(t, conn, peer.Frame(1000))
	if got := read(t, conn); got != peer.Frame(1000) {
		t.Errorf("the next frame came back with %d bytes", len(got))
	}
}

func (s Suite) closeReleases(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Silent})
	big := []byte(peer.Frame(transports.DefaultMaxFrame))
	blocked := make(chan error, 1)
	go func() { blocked <- conn.WriteFrame(big, time.Time{}) }()
	select {
	case err := <-blocked:
		t.Fatalf("WriteFrame to a peer that does not read = %v", err)
	case <-time.After(50 * time.Millisecond): // it is blocked, as far as can be told
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatalf("CloseWrite: %v", err)
	}
	if err := within(t, "the blocked WriteFrame", func() error { return <-blocked }); !errors.Is(err, transports.ErrClosed) {
		t.Errorf("WriteFrame = %v, want ErrClosed", err)
	}
}

func (s Suite) closeEnds(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Bye})
	write(t, conn, "{}")
	for range 2 {
		if err := conn.CloseWrite(); err != nil {
			t.Fatalf("CloseWrite: %v", err)
		}
	}
	if err := conn.WriteFrame([]byte("{}"), time.Time{}); !errors.Is(err, transports.ErrClosed) {
		t.Errorf("WriteFrame = %v, want ErrClosed", err)
	}
	if got := readToEnd(t, conn); len(got) != 1 || got[0] != `{"bye":true}` {
		t.Errorf("got %q", got)
	}
	awaitDone(t, conn)
	if exit := conn.Exit(); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("exit = %v, want status 0", exit)
	}
}

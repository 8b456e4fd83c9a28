package transporttest

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest/peer"
)

func (s Suite) ending(t *testing.T) {
	t.Run("death is known at once, with status and last words", s.dies)
	t.Run("what was written is read after death", func(t *testing.T) { s.readLate(t, false) })
	t.Run("what was written is read after Stop", func(t *testing.T) { s.readLate(t, true) })
	t.Run("a peer at work leaves when its input ends", s.polite)
	t.Run("a peer that ignores everything is ended", s.stubborn)
	t.Run("a flood does not hold up Stop", s.flood)
	t.Run("the end of the context makes Stop impatient", s.impatient)
	t.Run("Stop releases a reader", s.releasesReader)
	t.Run("several Stops at once", s.stopsAtOnce)
}

func (s Suite) dies(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Dies})
	awaitDone(t, conn)
	exit := conn.Exit()
	if exit.Code != 3 || exit.Signal != "" {
		t.Errorf("exit = %v, want status 3", exit)
	}
	if exit.StderrTail != peer.LastWords+"\n" {
		t.Errorf("tail = %q", exit.StderrTail)
	}
	err := conn.WriteFrame([]byte("{}"), time.Now().Add(patience))
	if err == nil || errors.Is(err, transports.ErrClosed) {
		t.Errorf("WriteFrame to the dead = %v, want an error that is not ErrClosed", err)
	}
	if diff := cmp.Diff(exit, conn.Stop(t.Context(), quick)); diff != "" {
		t.Errorf("Stop tells another end:\n%s", diff)
	}
}

func (s Suite) readLate(t *testing.T, stop bool) {
	conn := s.open(t, Program{Name: peer.Dies})
	awaitDone(t, conn)
	if stop {
		conn.Stop(t.Context(), quick)
	}
	want := []string{`{"n":0}`, `{"n":1}`, `{"n":2}`}
	if diff := cmp.Diff(want, readToEnd(t, conn)); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

func (s Suite) polite(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Echo})
	write(t, conn, "{}")
	read(t, conn)
	exit := conn.Stop(t.Context(), transports.Grace{Exit: patience, Term: patience})
	if exit.Code != 0 || exit.Signal != "" || exit.Reason != "" {
		t.Errorf("exit = %v, want status 0", exit)
	}
}

func (s Suite) stubborn(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Stubborn})
	read(t, conn)
	exit := within(t, "Stop", func() transports.Exit { return conn.Stop(context.Background(), quick) })
	if exit.Code == 0 && exit.Signal == "" {
		t.Errorf("exit = %v, want a violent one", exit)
	}
	awaitDone(t, conn)
}

func (s Suite) flood(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Flood})
	read(t, conn)
	within(t, "Stop", func() transports.Exit { return conn.Stop(context.Background(), quick) })
	// What had come can be read, and then it ends.
	for {
		if _, err := readFrame(t, conn); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("after Stop: %v", err)
		}
	}
}

func (s Suite) impatient(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Stubborn})
	read(t, conn)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	hour := transports.Grace{Exit: time.Hour, Term: time.Hour}
	within(t, "Stop", func() transports.Exit { return conn.Stop(ctx, hour) })
}

func (s Suite) releasesReader(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Silent})
	ended := make(chan error, 1)
	go func() {
		_, err := conn.ReadFrame()
		ended <- err
	}()
	conn.Stop(t.Context(), quick)
	if err := within(t, "ReadFrame", func() error { return <-ended }); err != io.EOF {
		t.Errorf("ReadFrame = %v, want EOF", err)
	}
}

func (s Suite) stopsAtOnce(t *testing.T) {
	conn := s.open(t, Program{Name: peer.Silent})
	exits := make([]transports.Exit, 4)
	var wg sync.WaitGroup
	for i := range exits {
		wg.Go(func() { exits[i] = conn.Stop(t.Context(), quick) })
	}
	within(t, "Stop", func() bool { wg.Wait(); return true })
	for _, exit := range exits {
		if diff := cmp.Diff(exits[0], exit); diff != "" {
			t.Errorf("two Stops tell different ends:\n%s", diff)
		}
	}
}

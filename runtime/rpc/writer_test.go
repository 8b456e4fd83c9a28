package rpc

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a client that does not read; what is sent to it waits for let.
type stuck struct {
	let chan error
	got strings.Builder
}

func (s *stuck) Write(p []byte) (int, error) {
	if err := <-s.let; err != nil {
		return 0, err
	}
	return s.got.Write(p)
}

// Events wait while too much is in line, responses go on; both go out in order.
func TestWriterBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &stuck{let: make(chan error)}
		w := newWriter(t.Context(), client)
		w.add([]byte("first"), 10)
		synctest.Wait() // it is being written
		w.add([]byte("0123456789+"), 10)
		added := make(chan struct{})
		go func() { w.add([]byte("event"), 10); close(added) }()
		w.add([]byte("response"), 20)
		synctest.Wait()
		select {
		case <-added:
			t.Error("an event was added to a full backlog")
		default:
		}
		client.let <- nil
		client.let <- nil
		<-added
		client.let <- nil
		if err := w.close(t.Context()); err != nil {
			t.Error(err)
		}
		if want := "first\n0123456789+\nresponse\nevent\n"; client.got.String() != want {
			t.Errorf("the client got %q, want %q", client.got.String(), want)
		}
	})
}

// When zot is told to end, nobody waits for room any more, and the client has
// a bounded time to read the rest.
func TestWriterHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &stuck{let: make(chan error)}
		ctx, cancel := context.WithCancel(t.Context())
		w := newWriter(ctx, client)
		w.add([]byte("first"), 0)
		synctest.Wait()
		w.add([]byte("second"), 0)
		added := make(chan struct{})
		go func() { w.add([]byte("third"), 0); close(added) }()
		synctest.Wait()
		cancel()
		<-added
		start := time.Now()
		if err := w.close(ctx); !errors.Is(err, errUnread) || time.Since(start) != partingTime {
			t.Errorf("close returned %v after %v", err, time.Since(start))
		}
		client.let <- io.ErrClosedPipe
		<-w.done
	})
}

// A failure frees who waits, and drops what comes later.
func TestWriterFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &stuck{let: make(chan error)}
		w := newWriter(t.Context(), client)
		w.add([]byte("first"), 0)
		synctest.Wait()
		w.add([]byte("second"), 0)
		added := make(chan struct{})
		go func() { w.add([]byte("third"), 0); close(added) }()
		synctest.Wait()
		client.let <- io.ErrClosedPipe
		<-added
		<-w.failed
		if err := w.close(t.Context()); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("close returned %v", err)
		}
	})
}

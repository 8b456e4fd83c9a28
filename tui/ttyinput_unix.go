//go:build !windows

package tui

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

// ttyInput reads a terminal through a guard. It has a file descriptor, so that
// raw mode is set on it, and it can be paused while another program reads the
// same terminal.
type ttyInput struct {
	file *os.File
	g    guard
	out  []byte // not yet handed over

	mu      sync.Mutex
	paused  bool
	chunks  chan chunk
	reader  cancelreader.CancelReader
	stopped chan struct{} // closed when the present reader is to end
	ended   chan struct{} // closed when it has
}

type chunk struct {
	data []byte
	err  error
}

// wrapInput guards a terminal; other input is used as it is.
func wrapInput(in io.Reader, store *pasteStore) (io.Reader, pauser) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return in, nil
	}
	t := &ttyInput{file: f, g: guard{store: store}}
	return t, t
}

func (t *ttyInput) Fd() uintptr                 { return t.file.Fd() }
func (t *ttyInput) Write(p []byte) (int, error) { return t.file.Write(p) }
func (t *ttyInput) Close() error                { t.pause(); return nil }

// start begins to read, if nothing does and nobody else is to.
func (t *ttyInput) start() (chan chunk, chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paused {
		return nil, nil, io.EOF
	}
	if t.chunks != nil {
		return t.chunks, t.stopped, nil
	}
	r, err := cancelreader.NewReader(t.file)
	if err != nil {
		return nil, nil, err
	}
	t.reader = r
	t.chunks, t.stopped, t.ended = make(chan chunk), make(chan struct{}), make(chan struct{})
	go read(r, t.chunks, t.stopped, t.ended)
	return t.chunks, t.stopped, nil
}

// read ends when the reader is cancelled or fails.
func read(r cancelreader.CancelReader, out chan<- chunk, stopped, ended chan struct{}) {
	defer close(ended)
	defer func() { _ = r.Close() }() // it holds no data of ours
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if errors.Is(err, cancelreader.ErrCanceled) {
			return
		}
		select {
		case out <- chunk{append([]byte(nil), buf[:n]...), err}:
		case <-stopped:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read is called by one goroutine at a time. It reports the end of the input
// while paused: the program then stops reading until it is resumed.
func (t *ttyInput) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		chunks, stopped, err := t.start()
		if err != nil {
			return 0, err
		}
		var expired <-chan time.Time
		if w := t.g.wait(); w > 0 {
			timer := time.NewTimer(w)
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case c := <-chunks:
			t.out = t.g.feed(c.data)
			if c.err != nil && len(t.out) == 0 {
				return 0, c.err
			}
		case <-expired:
			t.out = t.g.expire()
		case <-stopped:
			return 0, io.EOF
		}
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// pause stops reading before another program begins to.
func (t *ttyInput) pause() {
	t.mu.Lock()
	t.paused = true
	r, stopped, ended := t.reader, t.stopped, t.ended
	t.chunks, t.reader = nil, nil
	t.mu.Unlock()
	if r == nil {
		return
	}
	close(stopped)
	if r.Cancel() {
		<-ended
	}
}

// resume lets the next Read start again.
func (t *ttyInput) resume() {
	t.mu.Lock()
	t.paused = false
	t.mu.Unlock()
}

// terminal is the file itself, for a program that reads it while this is paused.
func (t *ttyInput) terminal() *os.File { return t.file }

// Package exttest stands in for zot in the tests of an extension. It greets
// the extension, plays the user and the model, and keeps what comes back:
//
//	func TestHello(t *testing.T) {
//		zot := exttest.Start(t, newExtension())
//		if got := zot.Command("hello", "Ada"); got.Prompt != "Greet Ada." {
//			t.Errorf("hello gave %+v", got)
//		}
//		if got := exttest.Text(zot.CallTool("weather", `{"city":"Oslo"}`)); got != "Oslo: snow" {
//			t.Errorf("weather gave %q", got)
//		}
//	}
//
// [Start] runs an extension written with package ext in the test's own
// process; [StartProcess] runs one in any language. Either is shut down when
// the test ends, which fails where the extension does not leave.
//
// Every method that asks the extension something waits for the answer, and
// ends the test with the extension's log where none comes. What the extension
// says of its own accord is waited for with [Host.WaitNote], [Host.WaitPanel]
// and [Host.Wait].
package exttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// Options set up the stand-in. The zero value does for most tests.
type Options struct {
	// Ack is what the host says of itself; fields left empty get values. In it,
	// Capabilities nil means all that there are.
	Ack extproto.HelloAck
	// CallTool answers the extension's own calls of tools; nil refuses them.
	CallTool func(extproto.CallTool) extproto.ToolResult
	// Request answers the extension's requests, like http.fetch; nil denies them.
	Request func(extproto.Request) extproto.Response
	// Timeout bounds each wait; 30 seconds where zero.
	Timeout time.Duration
}

// A Host is zot as one extension sees it.
type Host struct {
	t    testing.TB
	opts Options
	out  io.WriteCloser // to the extension
	log  *logBuffer
	end  chan struct{} // closed when the extension has ended
	err  error         // how; set before end is closed
	eof  chan struct{} // closed when all that it said is taken

	write sync.Mutex // serializes frames to the extension

	mu      sync.Mutex // guards all below
	changed chan struct{}
	frames  []extproto.Frame
	notes   []extproto.Notify
	panels  map[string]Panel
	asked   map[string]bool // requests that wait for an answer
	answers map[string]extproto.Frame
	lastID  int
	leaving bool
	stopped bool
}

// Start runs e and returns when it is ready.
func Start(t testing.TB, e *ext.Extension) *Host {
	t.Helper()
	return StartWith(t, e, Options{})
}

// StartWith is [Start] with options.
func StartWith(t testing.TB, e *ext.Extension, opts Options) *Host {
	t.Helper()
	fromHost, toExt := io.Pipe()
	fromExt, toHost := io.Pipe()
	h := newHost(t, opts, toExt)
	e.LogTo(h.log)
	go func() { // ends with the extension; Shutdown waits for it
		h.err = e.RunIO(context.Background(), fromHost, toHost)
		fromHost.Close() // releases a write that nobody reads
		toHost.Close()
		close(h.end)
	}()
	h.begin(fromExt, func() { toExt.Close() })
	return h
}

// StartProcess runs a command that speaks the protocol on its standard input
// and output, and returns when it is ready. Its folder (cmd.Dir) is the
// extension's.
func StartProcess(t testing.TB, cmd *exec.Cmd, opts Options) *Host {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Ack.ExtensionDir == "" {
		opts.Ack.ExtensionDir, _ = filepath.Abs(cmd.Dir)
	}
	h := newHost(t, opts, stdin)
	cmd.Stderr = h.log
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting the extension: %v", err)
	}
	go func() { // ends with the process; Shutdown waits for it
		<-h.eof // Wait closes the pipe, so all must have been read
		h.err = cmd.Wait()
		close(h.end)
	}()
	h.begin(stdout, func() { cmd.Process.Kill() })
	return h
}

func newHost(t testing.TB, opts Options, out io.WriteCloser) *Host {
	ack := &opts.Ack
	for _, d := range []struct {
		field *string
		value string
	}{{&ack.ZotVersion, "0.0.0-test"}, {&ack.Provider, "demo"}, {&ack.Model, "demo"}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	for _, dir := range []*string{&ack.CWD, &ack.ExtensionDir, &ack.DataDir} {
		if *dir == "" {
			*dir = t.TempDir()
		}
	}
	if ack.ProtocolVersion == 0 {
		ack.ProtocolVersion = extproto.Version
	}
	if ack.Capabilities == nil {
		ack.Capabilities = []string{extproto.CapCallTool, extproto.CapRequest}
	}
	if opts.Timeout == 0 {
		opts.Timeout = 30 * time.Second
	}
	return &Host{t: t, opts: opts, out: out, log: &logBuffer{}, end: make(chan struct{}),
		eof: make(chan struct{}), changed: make(chan struct{}),
		panels: map[string]Panel{}, asked: map[string]bool{}, answers: map[string]extproto.Frame{}}
}

// begin reads what the extension says, and waits until it is ready. Kill ends
// an extension that does not leave.
func (h *Host) begin(in io.Reader, kill func()) {
	h.t.Helper()
	go func() { // ends with the extension's output
		defer close(h.eof)
		h.read(in)
	}()
	h.t.Cleanup(func() {
		if err := h.Shutdown(); err != nil {
			kill()
			h.settle()
			h.t.Errorf("shutting the extension down: %v%s", err, h.excerpt())
		}
	})
	h.Wait(func(f extproto.Frame) bool { return f.FrameType() == "ready" })
}

// Shutdown tells the extension to leave and waits until it has. A second call
// returns nil. It is called at the end of the test.
func (h *Host) Shutdown() error {
	h.mu.Lock()
	again := h.stopped
	h.stopped, h.leaving = true, true
	h.mu.Unlock()
	if again {
		return nil
	}
	select {
	case <-h.end:
		if h.err == nil {
			return errors.New("it had ended before")
		}
		return fmt.Errorf("it had ended before: %w", h.err)
	default:
	}
	if err := h.send(extproto.Shutdown{}); err != nil {
		return err
	}
	h.out.Close()
	select {
	case <-h.end:
		<-h.eof
		return h.err
	case <-time.After(h.opts.Timeout):
		return fmt.Errorf("it is still there %v later", h.opts.Timeout)
	}
}

// settle waits until an extension that was ended by force says nothing more.
func (h *Host) settle() {
	for _, done := range []chan struct{}{h.end, h.eof} {
		select {
		case <-done:
		case <-time.After(h.opts.Timeout):
		}
	}
}

// Send sends any frame, for what the other methods do not cover.
func (h *Host) Send(f extproto.Frame) {
	h.t.Helper()
	if err := h.send(f); err != nil {
		h.t.Fatalf("sending %s: %v%s", f.FrameType(), err, h.excerpt())
	}
}

func (h *Host) send(f extproto.Frame) error {
	line, err := extproto.Encode(f)
	if err != nil {
		return err
	}
	h.write.Lock()
	defer h.write.Unlock()
	_, err = h.out.Write(append(line, '\n'))
	return err
}

// newID makes the id of a request and expects an answer to it.
func (h *Host) newID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastID++
	id := strconv.Itoa(h.lastID)
	h.asked[id] = true
	return id
}

// await returns the answer to a request.
func (h *Host) await(id, what string) extproto.Frame {
	h.t.Helper()
	var answer extproto.Frame
	h.until("an answer to "+what, func() bool {
		answer = h.answers[id]
		return answer != nil
	})
	return answer
}

// until waits until cond, which is called with h.mu held, holds.
func (h *Host) until(what string, cond func() bool) {
	h.t.Helper()
	deadline := time.NewTimer(h.opts.Timeout)
	defer deadline.Stop()
	ended := false
	for {
		h.mu.Lock()
		ok, changed := cond(), h.changed
		h.mu.Unlock()
		switch {
		case ok:
			return
		case ended:
			h.t.Fatalf("waiting for %s: the extension has ended (%v)%s", what, h.err, h.excerpt())
		}
		select {
		case <-changed:
		case <-h.end:
			ended = true
		case <-deadline.C:
			h.t.Fatalf("waiting for %s: nothing in %v%s", what, h.opts.Timeout, h.excerpt())
		}
	}
}

// Log returns what the extension has logged so far.
func (h *Host) Log() string { return h.log.String() }

// excerpt is the log and the last frames, for failures.
func (h *Host) excerpt() string {
	var b bytes.Buffer
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.frames[max(0, len(h.frames)-5):] {
		fmt.Fprintf(&b, "\n\tit said %s %+v", f.FrameType(), f)
	}
	if log := h.log.String(); log != "" {
		fmt.Fprintf(&b, "\n\tits log: %s", log)
	}
	return b.String()
}

// logBuffer is a buffer that is written and read at the same time.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

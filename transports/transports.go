// Package transports carries whole frames between zot and one extension,
// wherever that extension runs. A frame is one line of JSON; what it means is
// not known here.
//
// The packages below this one each bring a way to run an extension:
//
//	subprocess  an operating-system process on three pipes (the default)
//	wasi        a WebAssembly module with only the capabilities granted
//	memory      a function in this process, for tests and embedders
//
// transporttest holds the suite that each of them passes.
package transports

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DefaultMaxFrame is the longest line, its terminator not counted, that a
// connection carries in either direction unless told otherwise. The number is
// the protocol's.
const DefaultMaxFrame = 4 << 20

// A Conn is a running extension and the two pipes to it.
//
// One goroutine may read, one may write and any may stop it, at the same time.
type Conn interface {
	// ReadFrame returns the next line, without its terminator, carriage returns
	// before it, or a byte order mark in front. Blank lines are passed over. The
	// caller owns the slice. It blocks until there is a line; at the end of the
	// stream it returns io.EOF (a last line without a terminator is returned
	// first). The stream ends soon after the extension does, even where
	// something that it started still holds the pipe; what the extension itself
	// wrote is returned before that, however late it is asked for. A line over
	// the limit gives a *FrameTooLongError, and no frame comes after it.
	ReadFrame() ([]byte, error)

	// WriteFrame writes frame and a newline as a whole. It returns
	// os.ErrDeadlineExceeded (wrapped) where the other side did not take all
	// of it before the deadline (the zero time sets none); the stream may then
	// end in a part of the frame, so every later call fails with ErrClosed and
	// the caller stops the extension. A frame over the limit is refused whole
	// with a *FrameTooLongError, and one that is blank or holds a newline with
	// ErrNotOneLine; the connection stays usable. After CloseWrite the error is
	// ErrClosed; where the extension has closed its input or died, another.
	WriteFrame(frame []byte, deadline time.Time) error

	// CloseWrite ends the extension's input. It may be called more than once,
	// and releases a WriteFrame that is blocked.
	CloseWrite() error

	// Stop ends the extension: its input is closed, and where it has not left
	// after grace.Exit it is asked to (SIGTERM, or what the transport has),
	// and after grace.Term more it is killed, with all that it started. When
	// ctx ends, the remaining steps are taken at once. Stop returns when
	// nothing of the extension is left; a later call returns the same. Every
	// connection is stopped once, also when the extension ended by itself:
	// Stop is what gives its resources back.
	Stop(ctx context.Context, grace Grace) Exit

	// Done is closed when the extension is gone and its exit is known. What it
	// wrote before can still be read, also after Stop.
	Done() <-chan struct{}

	// Exit says how the extension ended. It is the zero value before Done.
	Exit() Exit
}

// A TimedReader is a Conn whose frames may be waited for with an end to the
// wait, so that who waits for an answer can read it off the stream itself.
// Without it frames are read by a goroutine that does nothing else.
type TimedReader interface {
	// ReadFrameBy is ReadFrame until deadline; then it returns
	// os.ErrDeadlineExceeded (wrapped), and what has come of a line is kept for
	// the next read. A deadline that is the same as at the last call costs
	// nothing. Where the system's pipes have no deadlines, the error is
	// errors.ErrUnsupported (wrapped) and nothing was read.
	ReadFrameBy(deadline time.Time) ([]byte, error)
}

// Grace bounds the steps of [Conn.Stop].
type Grace struct {
	Exit time.Duration // from the closed input to the request to leave
	Term time.Duration // from that request to the kill
}

// Exit says how an extension ended.
type Exit struct {
	Code   int    // exit status; meaningless where Signal is set
	Signal string // terminating signal, like "killed"; or empty
	Reason string // why the transport itself ended it: "memory limit", or empty
	Limit  string // the limit that this was about, as settings spell it, or empty
	// StderrTail holds the last lines the extension wrote to its standard
	// error, at most TailSize bytes.
	StderrTail string
}

// String says it in words: "exit status 3", "signal: killed".
func (e Exit) String() string {
	s := fmt.Sprintf("exit status %d", e.Code)
	if e.Signal != "" {
		s = "signal: " + e.Signal
	}
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	return s
}

// A Refuser is a connection to an extension inside walls, which tells what the
// extension was refused by them.
type Refuser interface {
	// Refusals returns what was refused, each thing once. The channel is closed
	// when the extension is gone. It does not have to be read.
	Refusals() <-chan Refusal
}

// A Refusal is what the walls around an extension kept from it: a file, or more
// of something than its limit.
type Refusal struct {
	Path  string `json:"path,omitempty"`  // as the extension sees it
	Write bool   `json:"write,omitempty"` // to change it, not to look at it
	Limit string `json:"limit,omitempty"` // as settings spell it
}

// ErrClosed is what writing to a connection returns once its end was closed
// from here.
var ErrClosed = errors.New("connection closed")

// A FrameTooLongError names a line over the limit.
type FrameTooLongError struct {
	Limit int
	// Size is the length of the line where its end was seen, else the number
	// of bytes that had come when reading gave up.
	Size int
	// Partial says that the line's end was not seen.
	Partial bool
	// Head holds the first bytes of the line (at most 4 KiB), in which a
	// caller may find what the frame answered.
	Head []byte
}

func (e *FrameTooLongError) Error() string {
	more := ""
	if e.Partial {
		more = " or more"
	}
	return fmt.Sprintf("frame of %d bytes%s is over the limit of %d bytes", e.Size, more, e.Limit)
}

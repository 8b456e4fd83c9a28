package subprocess

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/patriceckhart/zot/transports"
)

// input is our end of the standard input of the process.
type input struct {
	file   *os.File
	frames *transports.FrameWriter
	now    nowWriter
	until  time.Time // deadline of the frame being written, or zero
}

// WriteFrame implements [transports.Conn].
func (c *Conn) WriteFrame(frame []byte, deadline time.Time) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if c.broken || c.closed.Load() {
		return transports.ErrClosed
	}
	if err := c.ended(); err != nil {
		return err // what it has left behind may hold the pipe open, but answers nothing
	}
	c.in.until = deadline
	err := c.in.frames.WriteFrame(frame)
	if err == nil || refused(err) {
		return err
	}
	c.broken = true // perhaps in the middle of a line
	return c.whyNotWritten(err)
}

// refused says that nothing was written, since the frame itself is wrong.
func refused(err error) bool {
	var tooLong *transports.FrameTooLongError
	return errors.As(err, &tooLong) || errors.Is(err, transports.ErrNotOneLine)
}

func (c *Conn) whyNotWritten(err error) error {
	if c.closed.Load() {
		return transports.ErrClosed
	}
	if ended := c.ended(); ended != nil {
		return ended
	}
	return fmt.Errorf("writing a frame: %w", err)
}

// ended is the error of a write to a process that has ended, or nil.
func (c *Conn) ended() error {
	select {
	case <-c.done:
		return fmt.Errorf("writing a frame: the process has ended: %v", c.exit)
	default:
		return nil
	}
}

// CloseWrite implements [transports.Conn].
func (c *Conn) CloseWrite() error {
	c.closed.Store(true)
	if err := c.in.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Write writes by the deadline that was set. Almost always the pipe has room,
// and then there is no need to set a timer for it.
func (in *input) Write(p []byte) (int, error) {
	if !in.until.IsZero() && !time.Now().Before(in.until) {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := in.now.write(in.file, p)
	if err != nil || n == len(p) {
		return n, err
	}
	more, err := in.writeRest(p[n:])
	return n + more, err
}

func (in *input) writeRest(p []byte) (int, error) {
	if in.until.IsZero() {
		return in.file.Write(p)
	}
	if errors.Is(in.file.SetWriteDeadline(in.until), os.ErrNoDeadline) {
		return in.writeAside(p)
	}
	n, err := in.file.Write(p)
	_ = in.file.SetWriteDeadline(time.Time{}) // or the next one would meet it
	return n, err
}

// writeAside serves systems whose pipes know no deadlines. A write that is
// late is left to itself; it ends when the process does, and nothing is
// written after it.
func (in *input) writeAside(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	p = append([]byte(nil), p...) // the caller's again once we return
	go func() {
		n, err := in.file.Write(p)
		written <- result{n, err}
	}()
	timer := time.NewTimer(time.Until(in.until))
	defer timer.Stop()
	select {
	case r := <-written:
		return r.n, r.err
	case <-timer.C:
		return 0, os.ErrDeadlineExceeded
	}
}

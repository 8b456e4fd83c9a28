//go:build unix

package wasi

import (
	"errors"
	"io"
	"syscall"
	"time"
)

// fdInput is the runner's standard input, read by the guest's own goroutine
// without another in between: in a process of its own, a guest may block.
type fdInput struct{}

const stdin = 0

// standardInput returns the input of a runner. Its descriptor is the end of a
// pipe that nobody shares, so that its flags are ours.
func standardInput() (*fdInput, error) {
	return &fdInput{}, syscall.SetNonblock(stdin, true)
}

// ReadNow implements [engine.Input].
func (*fdInput) ReadNow(p []byte) (int, error) {
	for {
		n, err := syscall.Read(stdin, p)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// AwaitRead implements [engine.Input].
func (*fdInput) AwaitRead(d time.Duration) bool {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	for {
		n, err := pollRead(stdin, d)
		if !errors.Is(err, syscall.EINTR) {
			return n > 0 || err != nil // an error shows in the read
		}
		if d > 0 {
			d = max(time.Until(until), 0)
		}
	}
}

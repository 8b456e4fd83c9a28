//go:build unix && !linux

package wasi

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// pollRead waits for something to read, to the millisecond and never less
// than asked.
func pollRead(fd int32, d time.Duration) (int, error) {
	timeout := -1
	if d >= 0 {
		timeout = int(min((d+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
	}
	return unix.Poll([]unix.PollFd{{Fd: fd, Events: unix.POLLIN}}, timeout)
}

package wasi

import (
	"time"

	"golang.org/x/sys/unix"
)

// pollRead waits for something to read, to the nanosecond.
func pollRead(fd int32, d time.Duration) (int, error) {
	var timeout *unix.Timespec
	if d >= 0 {
		ts := unix.NsecToTimespec(int64(d))
		timeout = &ts
	}
	return unix.Ppoll([]unix.PollFd{{Fd: fd, Events: unix.POLLIN}}, timeout, nil)
}

package subprocess

import (
	"errors"
	"io"
	"os"
	"time"
)

// drain empties standard error until it ends, whatever becomes of stderr, so
// that the process never waits for a full pipe.
func (c *Conn) drain(stderr io.Writer) {
	defer close(c.drained)
	defer c.errs.Close()
	buf := make([]byte, 8<<10)
	keep := func(n int) {
		if n <= 0 {
			return
		}
		_, _ = c.tail.Write(buf[:n])
		if stderr != nil {
			if _, err := stderr.Write(buf[:n]); err != nil {
				stderr = nil
			}
		}
	}
	for {
		n, err := c.errs.Read(buf)
		keep(n)
		if errors.Is(err, os.ErrDeadlineExceeded) { // that await sets
			break
		}
		if err != nil {
			return
		}
	}
	// On a busy machine the last words may be unread when the time is over.
	_ = c.errs.SetReadDeadline(time.Time{}) // readNow does not wait, but would be refused
	for took := 0; took < pipeMost; {
		n, err := readNow(c.errs, buf)
		keep(n)
		if n <= 0 || err != nil {
			return
		}
		took += n
	}
}

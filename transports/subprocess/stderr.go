package subprocess

import "io"

// drain empties standard error until it ends, whatever becomes of stderr, so
// that the process never waits for a full pipe.
func (c *Conn) drain(stderr io.Writer) {
	defer close(c.drained)
	defer c.errs.Close()
	buf := make([]byte, 8<<10)
	for {
		n, err := c.errs.Read(buf)
		if n > 0 {
			_, _ = c.tail.Write(buf[:n])
			if stderr != nil {
				if _, err := stderr.Write(buf[:n]); err != nil {
					stderr = nil
				}
			}
		}
		if err != nil { // the end, or the deadline that await sets
			return
		}
	}
}

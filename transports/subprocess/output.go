package subprocess

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// pipeMost is the most that a pipe holds, on systems whose users may enlarge
// it. What the process itself wrote is among that many bytes after its death.
const pipeMost = 1 << 20

// output is our end of the standard output of the process. All but ended
// is called with Conn.readMu held.
type output struct {
	file   *os.File
	closed bool
	rest   bytes.Reader // what was in the pipe when it was closed
	late   bool         // the time to linger is over: only what is there already
	took   int          // bytes read since
	until  time.Time    // the deadline of readUntil that is set; zero: none

	mu   sync.Mutex // held while a deadline is set
	dead bool       // the process has been reaped, and the deadline is that of linger; guarded by mu
}

// readUntil gives the reads that follow a deadline; zero is none.
func (o *output) readUntil(t time.Time) error {
	if t.Equal(o.until) {
		return nil
	}
	if err := o.SetReadDeadline(t); errors.Is(err, os.ErrNoDeadline) {
		return errors.ErrUnsupported
	}
	o.until = t
	return nil
}

// SetReadDeadline lets [transports.FrameReader] give up on an endless line.
// After the death of the process there is a nearer deadline, which stays.
func (o *output) SetReadDeadline(t time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.dead {
		return nil
	}
	return o.file.SetReadDeadline(t)
}

// ended starts the time for which reading goes on after the death. While
// nothing else holds the pipe, its end is seen at once.
func (o *output) ended() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead = true
	_ = o.file.SetReadDeadline(time.Now().Add(linger))
}

func (o *output) isDead() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dead
}

// Read reads from the pipe, and after the death of the process ends in bounded
// time, also where something else keeps the pipe open or goes on writing.
func (o *output) Read(p []byte) (int, error) {
	if o.closed {
		return o.rest.Read(p)
	}
	if o.late {
		return o.readLate(p)
	}
	n, err := o.file.Read(p)
	switch {
	case n > 0:
		return n, nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		o.close()
		return 0, err
	case !o.isDead():
		return 0, err // that of readUntil, or the frame reader's own
	}
	o.late = true
	return o.readLate(p)
}

// readLate takes only what is in the pipe already.
func (o *output) readLate(p []byte) (int, error) {
	_ = o.file.SetReadDeadline(time.Time{}) // readNow does not wait, but would be refused
	n, err := readNow(o.file, p)
	o.took += n
	if n == 0 || err != nil || o.took > pipeMost {
		o.close()
	}
	if n > 0 {
		return n, nil
	}
	return 0, io.EOF
}

// salvage moves what is left in the pipe into memory and closes it, so that
// nothing of the process is held on to and yet all can be read.
func (o *output) salvage() {
	if o.closed {
		return
	}
	o.late = true
	var rest bytes.Buffer
	_, _ = io.Copy(&rest, struct{ io.Reader }{io.LimitReader(o, pipeMost)})
	o.close()
	o.rest.Reset(rest.Bytes())
}

func (o *output) close() {
	o.closed = true
	_ = o.file.Close()
}

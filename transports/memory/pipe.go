package memory

import (
	"io"
	"os"
	"sync"
	"time"
)

// pipeSize is how much a pipe holds, the same as the system's.
const pipeSize = 64 << 10

// A pipe is a system pipe in memory: it holds so much and no more, and either
// end can have a deadline.
type pipe struct {
	mu     sync.Mutex
	moved  sync.Cond // something below has changed
	buf    []byte    // what is in it
	start  int       // of what is in it, in buf
	ended  bool      // nothing more is written: reading ends after what is there
	broken error     // nothing more is read: why writing fails; or nil

	readBy, writeBy deadline
}

// A deadline wakes the waiters when it passes.
type deadline struct {
	at    time.Time // or zero
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func newPipe() *pipe {
	p := &pipe{}
	p.moved.L = &p.mu
	return p
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 && p.start == len(p.buf) {
		switch {
		case p.ended || p.broken != nil:
			return 0, io.EOF
		case p.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		}
		p.await(&p.readBy)
	}
	n := copy(b, p.buf[p.start:])
	if p.start += n; p.start == len(p.buf) {
		p.buf, p.start = p.buf[:0], 0
	}
	p.moved.Broadcast()
	return n, nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	written := 0
	for {
		switch {
		case p.broken != nil:
			return written, p.broken
		case p.ended:
			return written, io.ErrClosedPipe
		case p.writeBy.passed():
			return written, os.ErrDeadlineExceeded
		}
		if room := pipeSize - (len(p.buf) - p.start); room > 0 {
			n := min(room, len(b)-written)
			p.put(b[written : written+n])
			written += n
		}
		if written == len(b) {
			return written, nil
		}
		p.await(&p.writeBy)
	}
}

// put appends what there is room for.
func (p *pipe) put(b []byte) {
	if p.start > 0 && len(p.buf)+len(b) > cap(p.buf) {
		p.buf, p.start = append(p.buf[:0], p.buf[p.start:]...), 0
	}
	p.buf = append(p.buf, b...)
	p.moved.Broadcast()
}

// await waits for a change. The timer is set here, so that an exchange which
// never waits sets none.
func (p *pipe) await(d *deadline) {
	if !d.at.IsZero() && d.timer == nil {
		d.timer = time.AfterFunc(time.Until(d.at), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.moved.Broadcast()
		})
	}
	p.moved.Wait()
}

// SetReadDeadline lets [transports.FrameReader] give up on an endless line.
func (p *pipe) SetReadDeadline(t time.Time) error {
	p.set(&p.readBy, t)
	return nil
}

func (p *pipe) setWriteDeadline(t time.Time) { p.set(&p.writeBy, t) }

func (p *pipe) set(d *deadline, t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = t
	p.moved.Broadcast()
}

// closeWrite ends what is written; what is there can still be read.
func (p *pipe) closeWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.moved.Broadcast()
}

// breakWith ends both: writing fails with err, and reading ends once what is
// there has been read.
func (p *pipe) breakWith(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = err
	p.moved.Broadcast()
}

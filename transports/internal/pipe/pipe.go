// Package pipe has a system pipe in memory, for the transports that run an
// extension within this process.
package pipe

import (
	"io"
	"os"
	"sync"
	"time"
)

// Size is how much a pipe holds in bytes, the same as the system's.
const Size = 64 << 10

// A Pipe holds [Size] bytes and no more, and either end can have a deadline.
// All methods may be called at the same time.
type Pipe struct {
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

// New returns an empty pipe.
func New() *Pipe {
	p := &Pipe{}
	p.moved.L = &p.mu
	return p
}

// Read waits until there is something and returns it, io.EOF at the end, or
// os.ErrDeadlineExceeded.
func (p *Pipe) Read(b []byte) (int, error) {
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
	return p.take(b), nil
}

// ReadNow is Read without waiting: 0 and no error means that nothing is there.
func (p *Pipe) ReadNow(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.start == len(p.buf) && (p.ended || p.broken != nil) {
		return 0, io.EOF
	}
	return p.take(b), nil
}

// AwaitRead waits until Read would not wait, for d at most, or for ever where d
// is negative, and says whether it came to that.
func (p *Pipe) AwaitRead(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var until deadline
	if d >= 0 {
		until.at = time.Now().Add(d)
	}
	for p.start == len(p.buf) && !p.ended && p.broken == nil {
		if until.passed() {
			return false
		}
		p.await(&until)
	}
	if until.timer != nil {
		until.timer.Stop()
	}
	return true
}

func (p *Pipe) take(b []byte) int {
	n := copy(b, p.buf[p.start:])
	if p.start += n; p.start == len(p.buf) {
		p.buf, p.start = p.buf[:0], 0
	}
	if n > 0 {
		p.moved.Broadcast()
	}
	return n
}

// Write waits until all of b is in the pipe. It returns io.ErrClosedPipe after
// CloseWrite, the error of Break, or os.ErrDeadlineExceeded.
func (p *Pipe) Write(b []byte) (int, error) {
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
		if room := Size - (len(p.buf) - p.start); room > 0 {
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
func (p *Pipe) put(b []byte) {
	if p.start > 0 && len(p.buf)+len(b) > cap(p.buf) {
		p.buf, p.start = append(p.buf[:0], p.buf[p.start:]...), 0
	}
	p.buf = append(p.buf, b...)
	p.moved.Broadcast()
}

// await waits for a change. The timer is set here, so that an exchange which
// never waits sets none.
func (p *Pipe) await(d *deadline) {
	if !d.at.IsZero() && d.timer == nil {
		d.timer = time.AfterFunc(time.Until(d.at), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.moved.Broadcast()
		})
	}
	p.moved.Wait()
}

// SetReadDeadline bounds Read, now and later; the zero time does not.
func (p *Pipe) SetReadDeadline(t time.Time) error {
	p.set(&p.readBy, t)
	return nil
}

// SetWriteDeadline bounds Write, now and later; the zero time does not.
func (p *Pipe) SetWriteDeadline(t time.Time) { p.set(&p.writeBy, t) }

func (p *Pipe) set(d *deadline, t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = t
	p.moved.Broadcast()
}

// CloseWrite ends what is written; what is there can still be read.
func (p *Pipe) CloseWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.moved.Broadcast()
}

// Break ends both: writing fails with err, and reading ends once what is
// there has been read.
func (p *Pipe) Break(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = err
	p.moved.Broadcast()
}

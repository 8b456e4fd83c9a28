package ext

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// output writes whole frames, one at a time.
type output struct {
	closed atomic.Bool
	fail   func(error) // told once of the first write that failed

	mu sync.Mutex // serializes writes
	w  io.Writer
}

// write returns ErrEnded once the output is closed, or an error about the
// frame itself. That the pipe broke ends the run by way of fail.
func (o *output) write(f extproto.Frame) error {
	line, err := extproto.Encode(f)
	if err != nil {
		return err
	}
	if len(line) > extproto.MaxFrame {
		return fmt.Errorf("%s of %d bytes is over the protocol's limit of %d bytes a frame", f.FrameType(), len(line), extproto.MaxFrame)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed.Load() {
		return ErrEnded
	}
	if _, err := o.w.Write(append(line, '\n')); err != nil {
		o.closed.Store(true)
		o.fail(fmt.Errorf("writing %s: %w", f.FrameType(), err))
		return ErrEnded
	}
	return nil
}

// close makes later writes fail. It does not wait for one that is blocked.
func (o *output) close() { o.closed.Store(true) }

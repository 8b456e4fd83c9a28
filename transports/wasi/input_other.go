//go:build !unix

package wasi

import (
	"io"
	"os"
	"time"

	"github.com/patriceckhart/zot/transports/internal/pipe"
)

// pipedInput is the runner's standard input where it cannot be waited for
// with a time limit: a goroutine reads it into a pipe that can.
type pipedInput struct {
	*pipe.Pipe
	idle idle
}

func standardInput() (*pipedInput, error) {
	in := &pipedInput{Pipe: pipe.New()}
	go func() {
		_, _ = io.Copy(in.Pipe, os.Stdin)
		in.CloseWrite()
	}()
	return in, nil
}

// AwaitRead implements [engine.Input].
func (in *pipedInput) AwaitRead(d time.Duration) bool {
	if d != 0 {
		in.idle.waiting()
	}
	return in.Pipe.AwaitRead(d)
}

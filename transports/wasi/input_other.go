//go:build !unix

package wasi

import (
	"io"
	"os"

	"github.com/patriceckhart/zot/transports/internal/pipe"
)

// standardInput is the runner's standard input where it cannot be waited for
// with a time limit: a goroutine reads it into a pipe that can.
func standardInput() (*pipe.Pipe, error) {
	in := pipe.New()
	go func() {
		_, _ = io.Copy(in, os.Stdin)
		in.CloseWrite()
	}()
	return in, nil
}

package runcmd

import (
	"context"
	"errors"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
)

// runInterface opens the terminal interface.
func runInterface(_ context.Context, _ *Flags, _ []string, _ *iostreams.Streams) error {
	return errors.New("the terminal interface is not part of this build; use zot -p \"…\", zot --json \"…\" or zot rpc")
}

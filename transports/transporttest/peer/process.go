package peer

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Process runs the program of that name on the streams of this process, and
// exits. A request to leave (SIGTERM) ends its context, and does nothing to
// [Stubborn].
func Process(name string) {
	ctx := context.Background()
	if name == Stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE)
	} else {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGTERM)
	}
	os.Exit(Main(ctx, name, Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

package peer

import (
	"context"
	"os"
)

// Process runs the program of that name on the streams of this process, and
// exits. Where there are signals, a request to leave (SIGTERM) ends its
// context, and does nothing to [Stubborn].
func Process(name string) {
	ctx := heedSignals(context.Background(), name)
	os.Exit(Main(ctx, name, Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

package runcmd

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveClosedPipe makes writing to a standard output that nobody reads any
// more an error. Without it the signal of such a write ends zot on the spot,
// and its extensions and commands are not told to leave. The signal is caught
// and not ignored, because what a process ignores its children ignore too.
func surviveClosedPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

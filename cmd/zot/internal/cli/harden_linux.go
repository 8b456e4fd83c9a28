package cli

import "golang.org/x/sys/unix"

// harden keeps other processes of the same user, commands that tools run among
// them, from reading this one's memory and environment, where keys are. The
// superuser can still; a failure changes nothing.
func harden() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

//go:build unix

package engine

import "syscall"

// openNonblock keeps a pipe that took the place of a file from hanging us.
const openNonblock = syscall.O_NONBLOCK

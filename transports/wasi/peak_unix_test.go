//go:build unix

package wasi

import (
	"os"
	"syscall"
)

// peakMemory is the most that the process held, in bytes (on Linux).
func peakMemory(state *os.ProcessState) uint64 {
	usage, _ := state.SysUsage().(*syscall.Rusage)
	return uint64(usage.Maxrss) << 10
}

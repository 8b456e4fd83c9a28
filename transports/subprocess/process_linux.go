package subprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// dieWithParent has the system send SIGTERM when zot is gone, for a process
// that does not look at its input. It is not SIGKILL, so that one which does
// may still save its state.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// allEnded reports whether the processes of a group have all ended. Where the
// system does not tell, they have not.
func allEnded(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	want := []byte(strconv.Itoa(group))
	for _, path := range stats {
		stat, _ := os.ReadFile(path) // nothing, where it is gone by now
		// The name may hold anything, also parentheses. State, parent and group
		// follow it.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && bytes.Equal(fields[2], want) && !bytes.ContainsAny(fields[0], "ZX") {
			return false
		}
	}
	return len(stats) > 0
}

package subprocess

import "syscall"

// dieWithParent has the system send SIGTERM when zot is gone, for a process
// that does not look at its input. It is not SIGKILL, so that one which does
// may still save its state.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

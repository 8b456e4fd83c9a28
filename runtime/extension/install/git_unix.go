//go:build unix

package install

import (
	"os/exec"
	"syscall"
)

// killGroup ends git with the helpers and ssh that it starts.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

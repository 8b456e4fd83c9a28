//go:build unix

package auth

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/patriceckhart/zot/config/home"
)

// ownGroup makes the command the head of a process group that is killed as a
// whole, so that no child of it outlives the deadline.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// tighten takes the file from everyone but the user.
func tighten(path string) error {
	err := os.Chmod(path, home.FileMode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func tooOpen(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

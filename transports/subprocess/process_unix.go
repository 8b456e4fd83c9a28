//go:build unix

package subprocess

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

func prepare(cmd *exec.Cmd, extra []*os.File) {
	cmd.ExtraFiles = extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

func (g *group) sendTerminate() { _ = syscall.Kill(-g.leader.Pid, syscall.SIGTERM) }
func (g *group) sendKill()      { _ = syscall.Kill(-g.leader.Pid, syscall.SIGKILL) }

// occupied asks the system whether the group has members. Those that have ended
// and that their new parent does not reap, as in a container whose first
// process is no init, are none; a kill makes sure that no other was overlooked.
func (g *group) occupied() bool {
	if errors.Is(syscall.Kill(-g.leader.Pid, 0), syscall.ESRCH) {
		return false
	}
	if !allEnded(g.leader.Pid) {
		return true
	}
	g.sendKill()
	return false
}

// readNow reads what is in the pipe, without waiting for more.
func readNow(f *os.File, p []byte) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var readErr error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, readErr = syscall.Read(int(fd), p)
			if readErr != syscall.EINTR {
				return true // done in any case
			}
		}
	})
	if err != nil || readErr != nil {
		return 0, errors.Join(err, readErr)
	}
	if n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}

// nowWriter writes what fits into a pipe, without waiting for room.
type nowWriter struct {
	raw syscall.RawConn
	try func(fd uintptr) bool // made once, so that a write allocates nothing
	p   []byte
	n   int
	err error
}

func (w *nowWriter) write(f *os.File, p []byte) (int, error) {
	if w.raw == nil {
		raw, err := f.SyscallConn()
		if err != nil {
			return 0, err
		}
		w.raw = raw
		w.try = func(fd uintptr) bool {
			w.n, w.err = syscall.Write(int(fd), w.p)
			return true // done in any case
		}
	}
	w.p = p
	err := w.raw.Write(w.try)
	w.p = nil
	if err != nil {
		return 0, err
	}
	if w.err == syscall.EAGAIN || w.err == syscall.EINTR {
		return 0, nil
	}
	return max(w.n, 0), w.err
}

//go:build unix

package builtin

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A group is the session of a command: its processes, less those that opened
// a session of their own, as daemons do.
type group struct{ id int }

// prepare gives the command a session: it has no terminal to ask or to draw
// on, and all it starts can be signalled together.
func prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

func newGroup(p *os.Process) group { return group{p.Pid} }

func (g group) terminate() { g.signal(syscall.SIGTERM) }
func (g group) kill()      { g.signal(syscall.SIGKILL) }

// signal reaches the process group of the shell and, where they can be told,
// the further groups of its session (a shell with job control makes some).
func (g group) signal(s syscall.Signal) {
	_ = syscall.Kill(-g.id, s)
	for _, pid := range g.members() {
		_ = syscall.Kill(pid, s)
	}
}

func (g group) release() {}

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }

// exitWords also explains the codes by which a shell says that a signal ended
// its command.
func exitWords(st *os.ProcessState) string {
	ws, ok := st.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return "ended by " + signalName(ws.Signal())
	}
	code := st.ExitCode()
	if name := unix.SignalName(syscall.Signal(code - 128)); code > 128 && name != "" {
		return fmt.Sprintf("exit code %d (ended by %s)", code, signalName(syscall.Signal(code-128)))
	}
	return fmt.Sprintf("exit code %d", code)
}

func signalName(s syscall.Signal) string {
	if s == syscall.SIGKILL {
		return "SIGKILL, often for lack of memory"
	}
	return unix.SignalName(s)
}

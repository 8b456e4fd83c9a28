package subprocess

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func prepare(cmd *exec.Cmd, extra []*os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, // a Ctrl-C in the terminal is zot's alone
	}
	for _, f := range extra {
		h := syscall.Handle(f.Fd())
		_ = syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT)
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
	}
}

func signalOf(*os.ProcessState) string { return "" }

// sendTerminate does nothing: there is no request to leave that a process
// without a console would get. The closed input was it.
func (g *group) sendTerminate() {}

// sendKill ends the process with its descendants, which taskkill finds as long
// as the process itself is there.
func (g *group) sendKill() {
	if g.reaped {
		return
	}
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.leader.Pid)).Run()
	_ = g.leader.Kill()
}

// occupied is false: without its leader nothing is known of a group here.
func (g *group) occupied() bool { return false }

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// readNow reads what is in the pipe, without waiting for more.
func readNow(f *os.File, p []byte) (int, error) {
	var there uint32
	ok, _, _ := peekNamedPipe.Call(f.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&there)), 0)
	if ok == 0 || there == 0 {
		return 0, io.EOF
	}
	return f.Read(p[:min(len(p), int(there))])
}

// nowWriter writes nothing: it is not known here how much fits into a pipe.
type nowWriter struct{}

func (nowWriter) write(*os.File, []byte) (int, error) { return 0, nil }

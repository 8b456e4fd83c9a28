package builtin

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a job object: it holds the shell and everything that it starts,
// and ends with its handle. A zero handle means that there is none.
type group struct {
	job  windows.Handle
	proc *os.Process
}

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

func newGroup(p *os.Process) group {
	g := group{proc: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, uint32(p.Pid))
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func assign(job windows.Handle, pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// terminate has no polite form here for processes without a window.
func (g group) terminate() { g.kill() }

func (g group) kill() {
	if g.job == 0 {
		_ = g.proc.Kill()
		return
	}
	_ = windows.TerminateJobObject(g.job, 1)
}

func (g group) release() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
	}
}

// members lists the processes of the job.
func (g group) members() []int {
	if g.job == 0 {
		return nil
	}
	var list struct { // JOBOBJECT_BASIC_PROCESS_ID_LIST
		assigned, listed uint32
		ids              [256]uintptr
	}
	const basicProcessIDList = 3
	err := windows.QueryInformationJobObject(g.job, basicProcessIDList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	var pids []int
	for _, id := range list.ids[:min(int(list.listed), len(list.ids))] {
		pids = append(pids, int(id))
	}
	return pids
}

func isTooLong(err error) bool {
	return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) || errors.Is(err, windows.ERROR_INVALID_PARAMETER)
}

func exitWords(st *os.ProcessState) string { return fmt.Sprintf("exit code %d", st.ExitCode()) }

//go:build unix

package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
)

var grace = transports.Grace{Exit: 50 * time.Millisecond, Term: 50 * time.Millisecond}

func isBlocking(fd uintptr) bool {
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	return flags&syscall.O_NONBLOCK == 0
}

// startRole starts this test binary in a role.
func startRole(t *testing.T, role string) *Conn {
	t.Helper()
	conn := start(t, Options{Path: self(t), Env: []string{roleVar + "=" + role, "PATH=" + os.Getenv("PATH")}})
	t.Cleanup(func() { conn.Stop(context.Background(), grace) })
	return conn
}

// readInto decodes the next frame.
func readInto(t *testing.T, conn *Conn, to any) {
	t.Helper()
	frame, err := conn.ReadFrame()
	if err != nil {
		t.Fatalf("ReadFrame: %v", err)
	}
	if err := json.Unmarshal(frame, to); err != nil {
		t.Fatalf("%q: %v", frame, err)
	}
}

// running says whether a process of that number is there and no zombie.
func running(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); running(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func TestStopEndsTheGrandchildToo(t *testing.T) {
	conn := startRole(t, "wrapper")
	var up struct{ Grandchild int }
	readInto(t, conn, &up)
	if exit := conn.Stop(t.Context(), grace); exit.Signal != "killed" {
		t.Errorf("exit = %v, want killed", exit)
	}
	awaitGone(t, up.Grandchild)
	awaitGone(t, conn.Pid())
}

func TestGrandchildThatHoldsTheStreamsHoldsNothingUp(t *testing.T) {
	conn := startRole(t, "leaver")
	began := time.Now()
	<-conn.Done()
	if exit := conn.Exit(); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("exit = %v", exit)
	}
	var up struct{ Grandchild int }
	readInto(t, conn, &up)
	if _, err := conn.ReadFrame(); err != io.EOF {
		t.Errorf("ReadFrame = %v, want EOF", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("end of the stream after %v", took)
	}
	awaitGone(t, up.Grandchild) // without a Stop: an extension is its group
}

func TestNoZombies(t *testing.T) {
	conn := startRole(t, "environ")
	<-conn.Done()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(conn.Pid(), &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("waiting for it once more: %v, want no such child", err)
	}
}

func TestKilledFromOutside(t *testing.T) {
	conn := startRole(t, "wrapper")
	var up struct{ Grandchild int }
	readInto(t, conn, &up)
	if err := syscall.Kill(conn.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ReadFrame(); err != io.EOF {
		t.Errorf("ReadFrame = %v, want EOF", err)
	}
	<-conn.Done()
	if exit := conn.Exit(); exit.Signal != "killed" || exit.String() != "signal: killed" {
		t.Errorf("exit = %v", exit)
	}
	err := conn.WriteFrame([]byte("{}"), time.Time{})
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("WriteFrame = %v, want one that says how it ended", err)
	}
}

// TestHostKilled is about what nothing can be done for afterwards: the pipes
// must have been made so that every process sees its input end.
func TestHostKilled(t *testing.T) {
	for _, child := range []string{"bye", "silent"} {
		t.Run(child, func(t *testing.T) {
			if child == "silent" && !hasParentDeathSignal {
				t.Skip("this system has no parent-death signal")
			}
			cmd := exec.Command(self(t))
			cmd.Env = []string{roleVar + "=host", "CHILD=" + child}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var children []int
			if err := json.NewDecoder(out).Decode(&children); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			for _, pid := range children {
				awaitGone(t, pid)
			}
		})
	}
}

func TestStreamsOfTheProcessBlock(t *testing.T) {
	var got []bool
	readInto(t, startRole(t, "blocking"), &got)
	for fd, ok := range got {
		if !ok {
			t.Errorf("descriptor %d is in non-blocking mode", fd)
		}
	}
}

func TestEnvironmentIsCompleteAsGiven(t *testing.T) {
	t.Setenv("FROM_THE_HOST", "1")
	conn := start(t, Options{Path: self(t), Env: []string{roleVar + "=environ", "EMPTY=", "A=b c"}})
	defer conn.Stop(t.Context(), grace)
	var got []string
	for range 3 {
		var entry string
		readInto(t, conn, &entry)
		got = append(got, entry)
	}
	if _, err := conn.ReadFrame(); err != io.EOF {
		t.Errorf("and more: %v", err)
	}
	for _, want := range []string{roleVar + "=environ", "EMPTY=", "A=b c"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

func TestExtraFiles(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	conn := start(t, Options{Path: self(t), Env: []string{roleVar + "=extra"}, Extra: []*os.File{r}})
	defer conn.Stop(t.Context(), grace)
	r.Close()
	io.WriteString(w, "settings")
	w.Close()
	var got []any
	readInto(t, conn, &got)
	if got[0] != "settings" || got[1] != true {
		t.Errorf("got %v", got)
	}
}

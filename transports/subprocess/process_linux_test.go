package subprocess

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const hasParentDeathSignal = true

// What has ended and is not reaped, because nobody does, is not waited for.
func TestGroupOfTheUnreaped(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("it takes cat: %v", err)
	}
	defer func() { _ = cmd.Wait() }() // not before: until then it is a zombie
	g := newGroup(cmd.Process)
	if !g.occupied() {
		t.Error("a group with a process that runs counts as empty")
	}
	in.Close()
	for end := time.Now().Add(3 * time.Minute); g.occupied(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a group of zombies counts as occupied")
		}
	}
}

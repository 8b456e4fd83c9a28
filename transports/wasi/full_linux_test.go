package wasi

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// onFullDisk is a role of this test's binary: it has a disk of its own that is
// full, and starts a module with its cache there.
const onFullDisk = "__full-disk"

func init() { roles[onFullDisk] = fullDiskMain }

// TestAFullDisk has no room for what is compiled. The module runs all the same,
// and nothing of the attempt stays.
func TestAFullDisk(t *testing.T) {
	for _, isolation := range []Isolation{Runner, Inline} {
		t.Run(string(isolation), func(t *testing.T) {
			cmd := exec.Command(ownBinary(), onFullDisk, t.TempDir(), string(isolation))
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			}
			out, err := cmd.CombinedOutput()
			text := strings.TrimSpace(string(out))
			switch {
			case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EINVAL), strings.HasPrefix(text, "no mount"):
				t.Skipf("a disk of its own needs a user namespace: %v %s", err, text)
			case err != nil || text != "exit status 0; left in the cache: 0":
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

func fullDiskMain(args []string) int {
	disk, isolation := args[0], Isolation(args[1])
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=64k"); err != nil {
		println("no mount:", err.Error())
		return 1
	}
	filler, err := os.Create(filepath.Join(disk, "filler"))
	for err == nil { // to the last block
		_, err = filler.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		println("filling the disk:", err.Error())
		return 1
	}
	return startOnFullDisk(filepath.Join(disk, "cache"), isolation)
}

func startOnFullDisk(cache string, isolation Isolation) int {
	conn, err := Start(context.Background(), Options{Module: program(doNothing), Cache: cache, Isolation: isolation})
	if err != nil {
		println(err.Error())
		return 1
	}
	<-conn.Done()
	exit := conn.Stop(context.Background(), grace)
	left, _ := os.ReadDir(cache)
	println(exit.String()+"; left in the cache:", len(left))
	return 0
}

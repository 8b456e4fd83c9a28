package builtin

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// alive: a zombie that nobody waits for is not.
func alive(pid int) bool {
	_, alive := sessionOf(strconv.Itoa(pid))
	return alive
}

// asOrdinaryUser gives up root's way around permissions, for this test's
// thread, until the test ends.
func asOrdinaryUser(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	for _, p := range []string{dir, dir + "/d", dir + "/d/f", dir + "/ro"} {
		if err := os.Chown(p, nobody, nobody); err != nil {
			t.Skipf("cannot hand files to another user: %v", err)
		}
	}
	for _, p := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SetfsuidRetUid(0); err == nil {
			runtime.UnlockOSThread()
		}
	})
	if _, err := os.ReadDir(dir); err != nil {
		t.Skipf("the test's folder is closed to other users: %v", err)
	}
}

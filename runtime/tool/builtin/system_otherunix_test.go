//go:build unix && !linux

package builtin

import (
	"os"
	"syscall"
	"testing"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func asOrdinaryUser(t *testing.T, _ string) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
}

//go:build unix && !linux

package builtin

import "syscall"

// dieWithParent does nothing: these systems have no parent-death signal.
func dieWithParent(*syscall.SysProcAttr) {}

//go:build unix && !linux

package subprocess

import "syscall"

// dieWithParent does nothing: these systems have no parent-death signal, and
// the end of its input is what tells the process.
func dieWithParent(*syscall.SysProcAttr) {}

// allEnded is false: these systems do not tell. Their first process reaps.
func allEnded(int) bool { return false }

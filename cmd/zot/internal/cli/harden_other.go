//go:build !linux

package cli

// harden has nothing to do: other systems show a process's environment to its
// own user, or ask for more than that.
func harden() {}

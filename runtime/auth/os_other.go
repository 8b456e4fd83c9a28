//go:build !unix

package auth

import "os/exec"

// ownGroup does nothing: without process groups the command alone is killed.
func ownGroup(*exec.Cmd) {}

// tighten and tooOpen do nothing: the file inherits the protection of the
// user's profile folder.
func tighten(string) error { return nil }
func tooOpen(string) bool  { return false }

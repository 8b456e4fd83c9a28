//go:build !darwin && !windows

package home

// ManagedDir is where an administrator puts settings.
func ManagedDir() string { return "/etc/zot" }

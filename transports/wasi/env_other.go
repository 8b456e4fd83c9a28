//go:build !windows

package wasi

// runnerEnv is the environment of a runner: nothing, since the guest's is in
// the settings.
func runnerEnv() []string { return nil }

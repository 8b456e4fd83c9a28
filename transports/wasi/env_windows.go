package wasi

import "os"

// runnerEnv is what a process needs here to start at all.
func runnerEnv() []string { return []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} }

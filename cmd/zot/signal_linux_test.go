package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

// When zot is killed outright, the command that it was running does not live on.
func TestKillEndsTheRunningCommand(t *testing.T) {
	dir := extensionIn(t, "quiet", "send {\"type\":\"hello\",\"name\":\"quiet\"}\nsend {\"type\":\"ready\"}\non shutdown\n exit 0\n")
	srv := providertest.New(t, "turn\n call bash {\"command\":\"echo $$ >pid.new; mv pid.new pid; exec sleep 300\"}\n")
	cmd, _ := launchZot(t, dir, srv, "-p", "go")
	pid := filepath.Join(dir, "pid")
	waitUntil(t, "the command", func() bool { return exists(pid) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	number, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the end of the command", func() bool { return ended(string(bytes.TrimSpace(number))) })
}

// ended reports whether a process is gone, or waits for nothing but to be reaped.
func ended(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return true
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) == 0 || bytes.ContainsAny(fields[0], "ZX")
}

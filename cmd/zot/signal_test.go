//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/provider/providertest"
	"github.com/patriceckhart/zot/tui/tuitest"
)

// A signal ends the run with the status that shells expect of it, and nothing
// of an extension is left: it is told to leave first.
func TestSignalStatus(t *testing.T) {
	for _, c := range []struct {
		sig  syscall.Signal
		want int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			cmd, dir, stderr := startStuck(t)
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.want {
				t.Errorf("status %d, want %d; stderr:\n%s", got, c.want, stderr)
			}
			frames, err := os.ReadFile(filepath.Join(dir, "ext", "frames.log"))
			if err != nil || !strings.Contains(string(frames), `{"type":"shutdown"}`) {
				t.Errorf("the extension was told %q (%v), want a shutdown", frames, err)
			}
		})
	}
}

// The same holds at a terminal, whoever is the first to see the signal.
func TestSignalStatusAtATerminal(t *testing.T) {
	for _, c := range []struct {
		sig  syscall.Signal
		want int
	}{{syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			for range 5 {
				cmd := exec.Command(os.Args[0], "--provider", "demo")
				cmd.Dir = t.TempDir()
				cmd.Env = append(os.Environ(), testOnlyMain+"=1", "ZOT_HOME="+t.TempDir(), "HOME="+cmd.Dir, "TERM=xterm-256color")
				x := tuitest.Exec(t, cmd, 80, 24)
				x.Wait("demo")
				if err := x.Process().Signal(c.sig); err != nil {
					t.Fatal(err)
				}
				_ = x.Exit()
				if got := cmd.ProcessState.ExitCode(); got != c.want {
					t.Fatalf("status %d, want %d", got, c.want)
				}
			}
		})
	}
}

// After Ctrl-C an extension that hangs in a call, reads nothing and ignores
// SIGTERM does not keep the shell waiting, and is gone.
func TestInterruptEndsAStubbornCall(t *testing.T) {
	for _, mode := range []string{"-p", "--json"} {
		t.Run(mode, func(t *testing.T) {
			dir := extensionIn(t, "mule",
				"stubborn pid\nsend {\"type\":\"hello\",\"name\":\"mule\"}\nawait hello_ack\n"+
					"send {\"type\":\"register_tool\",\"name\":\"pull\",\"description\":\"Pull\",\"schema\":{\"type\":\"object\"}}\n"+
					"send {\"type\":\"ready\"}\non tool_call\n touch called\n deaf\n")
			srv := providertest.New(t, "turn\n call pull {}\n")
			cmd, stderr := launchZot(t, dir, srv, mode, "go")
			waitUntil(t, "the call", func() bool { return exists(filepath.Join(dir, "ext", "called")) })
			start := time.Now()
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			// A second is the promise; a grace of two and one is what it must not be.
			if took := time.Since(start); took > 1900*time.Millisecond {
				t.Errorf("it took %s to leave", took)
			}
			if got := cmd.ProcessState.ExitCode(); got != 130 {
				t.Errorf("status %d, want 130; stderr:\n%s", got, stderr)
			}
			pid, err := os.ReadFile(filepath.Join(dir, "ext", "pid"))
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(string(pid))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(n, 0); err == nil {
				t.Errorf("process %d of the extension is still there", n)
			}
		})
	}
}

// startStuck starts zot with a model that never answers and an extension.
func startStuck(t *testing.T) (*exec.Cmd, string, *bytes.Buffer) {
	t.Helper()
	dir := extensionIn(t, "witness", "send {\"type\":\"hello\",\"name\":\"witness\"}\nawait hello_ack\nrecord frames.log\nsend {\"type\":\"ready\"}\non shutdown\n exit 0\n")
	srv := providertest.New(t, "turn\n hang\n")
	cmd, stderr := launchZot(t, dir, srv, "-p", "hello")
	waitUntil(t, "the request", func() bool { return len(srv.Requests()) > 0 })
	return cmd, dir, stderr
}

// extensionIn makes a folder with a scripted extension in its folder ext.
func extensionIn(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"ext/extension.json": `{"name":"` + name + `","exec":"` + os.Args[0] + `","args":["script.ext"],"env":{"` + testOnlyScripted + `":"1"}}`,
		"ext/script.ext":     script,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// launchZot starts zot with the extension in dir and a fake model.
func launchZot(t *testing.T, dir string, srv *providertest.Server, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--ext", "ext", "--base-url", srv.URL(), "--model", "fake")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), testOnlyMain+"=1", "ZOT_HOME="+t.TempDir(), "HOME="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, &stderr
}

// waitUntil waits for what happens in a program, for a minute at most.
func waitUntil(t *testing.T, what string, happened func() bool) {
	t.Helper()
	if !within(time.Minute, happened) {
		t.Fatalf("%s did not come within a minute", what)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

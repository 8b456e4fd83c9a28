//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// startStuck starts zot with a model that never answers and an extension.
func startStuck(t *testing.T) (*exec.Cmd, string, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ext/extension.json": `{"name":"witness","exec":"` + os.Args[0] + `","args":["witness.ext"],"env":{"` + testOnlyScripted + `":"1"}}`,
		"ext/witness.ext":    "send {\"type\":\"hello\",\"name\":\"witness\"}\nawait hello_ack\nrecord frames.log\nsend {\"type\":\"ready\"}\non shutdown\n exit 0\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	srv := providertest.New(t, "turn\n hang\n")
	cmd := exec.Command(os.Args[0], "-p", "hello", "--ext", "ext", "--base-url", srv.URL(), "--model", "fake")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), testOnlyMain+"=1", "ZOT_HOME="+t.TempDir(), "HOME="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for len(srv.Requests()) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	return cmd, dir, &stderr
}

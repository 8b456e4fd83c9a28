package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

// An output that cannot be written to is an error of its own: the run ends at
// once, although the model goes on, and the extension is told to leave.
func TestOutputCannotBeWritten(t *testing.T) {
	outputs := map[string]func(t *testing.T) *os.File{"closed": closedPipe}
	if runtime.GOOS == "linux" {
		outputs["full"] = fullDisk
	}
	for name, open := range outputs {
		for _, mode := range []string{"-p", "--stream", "--json", "rpc"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				turn := "turn\n say hello\n hang\n"
				if mode == "-p" {
					turn = "turn\n say hello\n" // nothing is written before the end
				}
				cmd, dir, stderr := startZot(t, turn, mode, open(t))
				done := make(chan struct{})
				go func() { _ = cmd.Wait(); close(done) }()
				select {
				case <-done:
				case <-time.After(5 * time.Minute):
					_ = cmd.Process.Kill()
					<-done
					t.Fatal("it hangs")
				}
				if got := cmd.ProcessState.ExitCode(); got != 1 {
					t.Errorf("status %d, want 1", got)
				}
				if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "writing ") {
					t.Errorf("standard error has %q", got)
				}
				if mode == "--json" || mode == "rpc" {
					return // the first event may fail before the extension has said hello
				}
				frames, err := os.ReadFile(filepath.Join(dir, "ext", "frames.log"))
				if err != nil || !strings.Contains(string(frames), `{"type":"shutdown"}`) {
					t.Errorf("the extension was told %q (%v), want a shutdown", frames, err)
				}
			})
		}
	}
}

// closedPipe is a pipe that nobody reads any more.
func closedPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	return w
}

func fullDisk(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	return f
}

// startZot starts zot with one prompt, an extension that notes what it is told,
// and an output of the test's.
func startZot(t *testing.T, model, mode string, out *os.File) (*exec.Cmd, string, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"ext/extension.json": `{"name":"witness","exec":"` + os.Args[0] + `","args":["witness.ext"],"env":{"` + testOnlyScripted + `":"1"}}`,
		"ext/witness.ext":    "send {\"type\":\"hello\",\"name\":\"witness\"}\nawait hello_ack\nrecord frames.log\nsend {\"type\":\"ready\"}\non shutdown\n exit 0\n",
	})
	srv, err := providertest.Start(parseScript(t, model), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	args := []string{mode, "--ext", "ext", "--base-url", srv.URL(), "--model", "fake"}
	var in *os.File
	if mode == "rpc" {
		// The input stays open: it is the output that ends the session.
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		if _, err := w.WriteString(`{"type":"prompt","message":"hi"}` + "\n"); err != nil {
			t.Fatal(err)
		}
		in = r
	} else {
		args = append(args, "hi")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Stdout, cmd.Stdin = dir, out, nil
	if in != nil {
		cmd.Stdin = in
	}
	cmd.Env = append(os.Environ(), testOnlyMain+"=1", "HOME="+dir, "ZOT_HOME="+t.TempDir(), "ZOT_API_KEY=k", "ZOT_TIMEOUTS_SHUTDOWN=1m")
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	return cmd, dir, stderr
}

func parseScript(t *testing.T, text string) *providertest.Script {
	t.Helper()
	s, err := providertest.Parse("model", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

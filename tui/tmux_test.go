//go:build !windows

package tui_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/tui/tuitest"
)

// tmux is a server of its own with the stage in its one window.
type tmux struct {
	t      *testing.T
	socket string
}

func (x tmux) run(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", x.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (x tmux) wait(what string, ok func(screen string) bool) {
	x.t.Helper()
	var screen string
	for end := time.Now().Add(tuitest.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if screen = x.run("capture-pane", "-p"); ok(screen) {
			return
		}
	}
	x.t.Fatalf("still waiting for %s; the screen:\n%s", what, screen)
}

func (x tmux) sees(text string) {
	x.t.Helper()
	x.wait(text, func(s string) bool { return strings.Contains(s, text) })
}

// A short walk through a real multiplexer: it has its own ideas of keys, widths
// and colours.
func TestTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := tmux{t, fmt.Sprintf("zot-tui-%d", os.Getpid())}
	// A shell outlives the program, as it does for people: tmux may drop the last
	// words of a program that ends together with its pane.
	x.run("new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", fmt.Sprintf("%s=1 LANG=C.UTF-8 %q; echo left with $?; exec sleep 1000", stageVar, exe))
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-L", x.socket, "kill-server").Run() // it ends with its last program
	})
	x.sees("test-model")

	x.run("send-keys", "-l", "ab宽é")
	x.sees("› ab宽é")
	if got := strings.TrimSpace(x.run("display-message", "-p", "#{cursor_x}")); got != "7" {
		t.Errorf("cursor at column %s, want 7", got)
	}
	x.run("send-keys", "C-j")
	x.run("send-keys", "-l", "two")
	x.sees("  two")
	x.run("send-keys", "Enter")
	x.sees(`you said "ab宽é\ntwo"`)

	x.run("send-keys", "-l", "/")
	x.sees("▸ /btw")
	x.run("send-keys", "Escape")
	x.wait("the list to close", func(s string) bool { return !strings.Contains(s, "/btw") && strings.Contains(s, "› /") })
	x.run("send-keys", "C-u")

	x.run("send-keys", "-l", "stream 30")
	x.run("send-keys", "Enter")
	x.sees("paragraph 29 with bold words")
	if coloured := x.run("capture-pane", "-p", "-e"); !strings.Contains(coloured, "\x1b[") {
		t.Error("there are no colours")
	}
	x.run("set-buffer", strings.Repeat("line\n", 200))
	x.run("paste-buffer", "-p")
	x.sees("[paste #1 +200 lines]")

	for _, size := range [][2]string{{"50", "20"}, {"20", "8"}, {"100", "30"}} {
		x.run("resize-window", "-x", size[0], "-y", size[1])
		x.wait("one status line at "+size[0], func(s string) bool {
			rows := strings.Split(strings.TrimRight(s, "\n"), "\n")
			return strings.Count(s, "test-model") == 1 && strings.Contains(rows[len(rows)-1], "test-model") && strings.Contains(s, "[paste #1")
		})
	}
	x.run("send-keys", "C-c")
	x.run("send-keys", "-l", "/quit")
	x.sees("› /quit")
	x.run("send-keys", "Enter")
	x.sees("resume with")
	x.sees("left with 0")
}

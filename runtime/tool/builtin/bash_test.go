//go:build unix

package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

func sh(command string) j { return j{"command": command} }

// until waits for a condition, not for a time.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func dead(pid int) func() bool {
	return func() bool { return !alive(pid) }
}

// pidIn reads a number that a command printed as "pid=N".
func pidIn(t *testing.T, text string) int {
	t.Helper()
	m := regexp.MustCompile(`pid=(\d+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no pid in %q", text)
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

func TestBashResult(t *testing.T) {
	b := newBench(t)
	got := b.ok("bash", sh("echo one; echo two >&2; echo three"))
	has(t, got, "one\ntwo\nthree\n[exit code 0, ")
	has(t, b.ok("bash", sh("true")), "(no output)\n[exit code 0")
	b.fails("bash", sh("echo no; exit 3"), "no\n[exit code 3, ")
	b.fails("bash", sh("kill -SEGV $$"), "ended by SIGSEGV")
	b.fails("bash", sh("sh -c 'kill -9 $$'; exit 137"), "exit code 137", "memory")
	b.fails("bash", sh("printf unfinished; exit 1"), "unfinished\n[exit code 1")
	has(t, b.ok("bash", `{"command":["bash","-lc","echo from a list"]}`), "from a list")
	has(t, b.ok("bash", `{"cmd":["echo","two words","it's"]}`), "two words it's")
}

func TestBashStaysInItsFolder(t *testing.T) {
	b := newBench(t)
	if err := os.Mkdir(b.path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.ok("bash", sh("cd sub; X=1"))
	has(t, b.ok("bash", sh(`pwd; echo "x=$X"`)), b.dir+"\nx=\n")
	gone := newBench(t, func(o *Options) { o.CWD = b.path("gone") })
	gone.fails("bash", sh("true"), "working folder", b.path("gone"))
}

func TestBashEnvironment(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Env = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "MINE=yes", "TERM=xterm", "PAGER=less"} }
	})
	t.Setenv("SECRET", "leaked")
	got := b.ok("bash", sh("env"))
	has(t, got, "MINE=yes", "TERM=dumb", "PAGER=cat", "GIT_TERMINAL_PROMPT=0")
	for _, bad := range []string{"leaked", "xterm", "less"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in the environment", bad)
		}
	}
}

// TestBashHasNoTerminal: what asks, ends.
func TestBashHasNoTerminal(t *testing.T) {
	b := newBench(t)
	has(t, b.ok("bash", sh("cat; echo read nothing")), "read nothing")
	b.fails("bash", sh("(echo hello >/dev/tty) || exit 1"), "exit code 1")
	b.fails("bash", sh(`read -r answer || { echo "Continue? [y/n]"; exit 1; }`), "--yes")
	b.fails("bash", sh("echo 'Host key verification failed.' >&2; exit 255"), "StrictHostKeyChecking")
	b.fails("bash", sh("echo 'sudo: a terminal is required to read the password' >&2; exit 1"), "sudo -n")
	if got := b.ok("bash", sh("echo 'the input device is not a tty'")); strings.Contains(got, "--yes") {
		t.Error("a hint on a command that succeeded")
	}
}

func TestBashGitEditor(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	b := newBench(t)
	b.ok("bash", sh(`git init -q . && git config user.email a@b && git config user.name n && git commit -q --allow-empty -m one && git commit -q --allow-empty -m two`))
	b.fails("bash", sh("git commit --allow-empty"), noEditor, "git commit -m")
	b.fails("bash", sh("git rebase -i HEAD~1"), noEditor, "GIT_SEQUENCE_EDITOR")
	has(t, b.ok("bash", sh("git log --oneline")), "two", "one")
}

func TestBashTimeoutStopsTheWholeGroup(t *testing.T) {
	b := newBench(t)
	res := b.run("bash", j{"command": "trap '' TERM; (trap '' TERM; sleep 600) & echo pid=$!; sleep 600", "timeout": 3})
	if !res.IsError || res.Status != tool.TimedOut {
		t.Errorf("status %s", res.Status)
	}
	has(t, textOf(res), "pid=", "timed out after 3s", "longer timeout")
	until(t, "the child is gone", dead(pidIn(t, textOf(res))))
}

func TestBashTimeoutIsCapped(t *testing.T) {
	b := newBench(t, func(o *Options) { o.BashTimeoutMax = 200 * time.Millisecond })
	res := b.run("bash", j{"command": "sleep 600", "timeout": "10m"})
	has(t, textOf(res), "timed out after 200ms", "above the most allowed")
}

func TestBashCancel(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	lines := make(chan string, 100)
	raw, _ := json.Marshal(sh("sleep 600 & echo pid=$!; echo started; wait"))
	go func() {
		for l := range lines {
			if l == "started" {
				cancel()
			}
		}
	}()
	begin := time.Now()
	res, err := b.tools["bash"].Run(ctx, tool.Call{Args: raw, Progress: func(s string) { lines <- s }})
	close(lines)
	if err == nil || res.Status != tool.Cancelled {
		t.Errorf("status %s, %v", res.Status, err)
	}
	has(t, textOf(res), "started", "cancelled after")
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("it took %s", took)
	}
	until(t, "the child is gone", dead(pidIn(t, textOf(res))))
}

// TestBashBackground: a child that holds the pipe does not hold the call.
func TestBashBackground(t *testing.T) {
	spill := t.TempDir()
	b := newBench(t, func(o *Options) { o.SpillDir = spill })
	var left []int
	for _, c := range []struct{ name, command, want string }{
		{"silent", "sleep 600 & echo pid=$!; echo done", "done\n"},
		{"chatty", "(while :; do echo tick; sleep 0.05; done) & echo pid=$!; echo done", "done\n"},
		{"elsewhere", "sleep 600 >/dev/null 2>&1 & echo pid=$!; echo done", "done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := b.ok("bash", sh(c.command))
			pid := pidIn(t, got)
			has(t, got, c.want, "exit code 0", "still run", "when zot exits")
			if runtime.GOOS == "linux" {
				has(t, got, fmt.Sprint(pid))
			}
			if dead(pid)() {
				t.Error("the process was stopped with the call")
			}
			if c.name == "chatty" {
				file := regexp.MustCompile(`further output goes to "([^"]+)"`).FindStringSubmatch(got)
				if file == nil {
					t.Fatalf("no file for further output in %q", got)
				}
				until(t, "three ticks are in the file", func() bool {
					data, _ := os.ReadFile(file[1])
					return strings.Count(string(data), "tick") > 3
				})
			}
			left = append(left, pid)
		})
	}
	Close([]tool.Tool{b.tools["bash"]})
	for _, pid := range left {
		until(t, "Close stopped the process", dead(pid))
	}
	b.fails("bash", sh("true"), "shutting down")
}

func TestBashCloseStopsWhatRuns(t *testing.T) {
	b := newBench(t)
	started := make(chan struct{})
	var once sync.Once
	done := make(chan tool.Result)
	raw, _ := json.Marshal(sh("echo started; sleep 600"))
	go func() {
		res, _ := b.tools["bash"].Run(context.Background(), tool.Call{Args: raw, Progress: func(string) { once.Do(func() { close(started) }) }})
		done <- res
	}()
	<-started
	Close([]tool.Tool{b.tools["bash"]})
	if res := <-done; !res.IsError {
		t.Errorf("the call succeeded: %s", textOf(res))
	}
}

func TestBashCutsInTheMiddle(t *testing.T) {
	spill := filepath.Join(t.TempDir(), "made", "when needed")
	b := newBench(t, func(o *Options) { o.SpillDir = spill })
	if _, err := os.Stat(spill); err == nil {
		t.Fatal("the folder is there before it is needed")
	}
	const n = 200_000
	res := b.run("bash", sh(fmt.Sprintf("i=0; seq 1 %d; echo the error; exit 2", n)))
	got := textOf(res)
	has(t, got, "1\n2\n3\n", "\n200000\nthe error\n[exit code 2", "left out here", "all of it is in")
	if len(got) > 52<<10 || strings.Count(got, "\n") > 2010 {
		t.Errorf("the result has %d bytes, %d lines", len(got), strings.Count(got, "\n"))
	}
	var dropped int
	m := regexp.MustCompile(`\[\.\.\. (\d+) lines`).FindStringSubmatch(got)
	if m == nil {
		t.Fatal("the number of lines left out is not told")
	}
	dropped, _ = strconv.Atoi(m[1])
	if shown := strings.Count(got, "\n") - 1; shown+dropped != n+1 { // but the gap's own line
		t.Errorf("%d shown and %d left out are not %d", shown, dropped, n+1)
	}
	file := regexp.MustCompile(`all of it is in "([^"]+)"`).FindStringSubmatch(got)[1]
	data, err := os.ReadFile(file)
	if err != nil || strings.Count(string(data), "\n") != n+1 || !strings.HasSuffix(string(data), "the error\n") {
		t.Errorf("the file has %d lines, %v", strings.Count(string(data), "\n"), err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %o", info.Mode().Perm())
	}
}

func TestBashPromisesNoFileWithoutFolder(t *testing.T) {
	b := newBench(t)
	got := b.ok("bash", sh("seq 1 5000"))
	has(t, got, "output was cut", "to see the rest")
	if spec := b.tools["bash"].Spec(); strings.Contains(spec.Description, "saved") {
		t.Error("the description promises a file")
	}
}

func TestBashSpillThatFailsIsTold(t *testing.T) {
	b := newBench(t, func(o *Options) { o.SpillDir = filepath.Join(o.CWD, "f", "x") })
	b.file("f", "")
	has(t, b.ok("bash", sh("seq 1 5000")), "could not be saved", "4999\n5000\n")
	limited := newBench(t, func(o *Options) { o.SpillDir, o.MaxSpill = t.TempDir(), 100 })
	has(t, limited.ok("bash", sh("seq 1 50000")), "its first 100 bytes are in")
}

func TestBashCleansOutput(t *testing.T) {
	b := newBench(t)
	got := b.ok("bash", sh(`printf 'a\033[31mred\033[0m\n10%%\r50%%\r100%%\n\033]0;title\007b\377\n'`))
	has(t, got, "ared\n100%\nb\uFFFD\n", "2 lines drawn over", "not UTF-8")
}

func TestBashProgress(t *testing.T) {
	b := newBench(t)
	raw, _ := json.Marshal(sh("for i in 1 2 3; do echo step $i; done; printf 'waiting...'; sleep 0.3; echo; seq 1 100000"))
	var mu sync.Mutex
	var lines []string
	ended := false
	_, err := b.tools["bash"].Run(context.Background(), tool.Call{Args: raw, Progress: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		if ended || strings.Contains(s, "\n") {
			t.Errorf("progress %q, after the end: %v", s, ended)
		}
		lines = append(lines, s)
	}})
	mu.Lock()
	defer mu.Unlock()
	ended = true
	if err != nil || len(lines) == 0 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	has(t, strings.Join(lines, "\n"), "step 1", "100000")
	if len(lines) > 10_000 {
		t.Errorf("%d lines were told", len(lines))
	}
}

func TestBashCommandTooLong(t *testing.T) {
	b := newBench(t)
	b.fails("bash", sh("true "+strings.Repeat("x", 3<<20)), "too long", "write tool")
}

func TestBashMissingShell(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Shell = "/no/such/shell" })
	b.fails("bash", sh("true"), "starting the shell", "/no/such/shell")
}

// TestFailedWriteIsNoSuccess stages a full disk by a limit on the size of
// files, in a process of its own.
func TestFailedWriteIsNoSuccess(t *testing.T) {
	if dir := os.Getenv("ZOT_TEST_FULL_DISK"); dir != "" {
		writeToFullDisk(dir)
		return
	}
	b := newBench(t)
	b.file("f", "as it was\n")
	sub := exec.Command("/bin/sh", "-c", `trap '' XFSZ; ulimit -f 8; exec "$0" -test.run '^TestFailedWriteIsNoSuccess$'`, os.Args[0])
	sub.Env = append(os.Environ(), "ZOT_TEST_FULL_DISK="+b.dir)
	out, err := sub.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	has(t, string(out), "write failed: true", "edit failed: true", b.path("f"), "file too large")
	b.holds("f", "as it was\n")
	b.only("f")
}

func writeToFullDisk(dir string) {
	big := strings.Repeat("0123456789\n", 10_000)
	for _, tl := range New(Options{CWD: dir}) {
		name := tl.Spec().Name
		args := j{"path": "f", "content": big}
		if name == "edit" {
			args = edit("f", "was", big)
		} else if name != "write" {
			continue
		}
		raw, _ := json.Marshal(args)
		res, _ := tl.Run(context.Background(), tool.Call{Args: raw})
		fmt.Printf("%s failed: %v %s\n", name, res.IsError, message.TextOf(res.Content))
	}
}

func TestNoPermission(t *testing.T) {
	b := newBench(t)
	b.file("d/f", "x\n")
	b.file("ro", "x\n")
	if err := os.Chmod(b.path("d"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.path("ro"), 0o444); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(b.path("d"), 0o755) })
	asOrdinaryUser(t, b.dir)
	for _, path := range []string{"d/f", "ro"} {
		b.fails("edit", edit(path, "x", "y"), b.path(path), "permission denied")
		b.fails("write", j{"path": path, "content": "y"}, b.path(path), "permission denied")
		b.holds(path, "x\n")
	}
	b.fails("write", j{"path": "d/new", "content": "y"}, b.path("d/new"), "permission denied")
	b.only("d", "ro")
}

func TestReadAndWriteRefuseSpecialFiles(t *testing.T) {
	b := newBench(t)
	if err := syscall.Mkfifo(b.path("pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	b.fails("read", j{"path": "pipe"}, "named pipe", b.path("pipe"))
	b.fails("write", j{"path": "pipe", "content": "x"}, "named pipe")
	b.fails("edit", edit("pipe", "x", "y"), "named pipe")
	b.fails("read", j{"path": "/dev/zero"}, "device")
}

package builtin

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
)

func TestWriteNewAndReplace(t *testing.T) {
	b := newBench(t)
	res := b.run("write", j{"path": "a/b/f.txt", "content": "one\ntwo\n"})
	has(t, message.TextOf(res.Content), "created", b.path("a/b/f.txt"), "2 lines, 8 bytes")
	has(t, res.Diff, "--- /dev/null", "+one\n+two\n")
	res = b.run("write", j{"path": "a/b/f.txt", "content": "one\n2\n"})
	has(t, message.TextOf(res.Content), "replaced", "2 lines, 6 bytes", "+1 -1")
	has(t, res.Diff, "-two\n+2\n", "a/b/f.txt")
	has(t, b.ok("write", j{"path": "a/b/f.txt", "content": "one\n2\n"}), "already had exactly this content")
	b.holds("a/b/f.txt", "one\n2\n")
	b.only("a")
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	b := newBench(t)
	run := b.file("run.sh", "old")
	if err := os.Chmod(run, 0o750); err != nil {
		t.Fatal(err)
	}
	b.link("one", "run.sh")
	b.link("two", "one")
	b.link("dangling", "new/target")
	b.link("loop", "pool")
	b.link("pool", "loop")
	has(t, b.ok("write", j{"path": "two", "content": "new"}), run)
	b.holds("run.sh", "new")
	if info, _ := os.Stat(run); runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("mode is %o", info.Mode().Perm())
	}
	has(t, b.ok("write", j{"path": "dangling", "content": "x"}), "created", b.path("new/target"))
	b.holds("new/target", "x")
	b.fails("write", j{"path": "loop", "content": "x"}, "circle", "loop")
	b.fails("edit", edit("loop", "a", "b"), "circle")
	for _, l := range []string{"one", "two", "dangling"} {
		if info, err := os.Lstat(b.path(l)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link", l)
		}
	}
	b.only("dangling", "loop", "new", "one", "pool", "run.sh", "two")
}

func TestWriteErrors(t *testing.T) {
	b := newBench(t)
	b.file("f", "x")
	b.file("d/x", "")
	b.fails("write", j{"path": "d", "content": "x"}, "folder", b.path("d"))
	b.fails("write", j{"path": "new/", "content": "x"}, "folder")
	b.fails("write", j{"path": "f/x", "content": "x"}, b.path("f"))
	b.fails("write", j{"path": "new/" + strings.Repeat("n", 300), "content": "x"}, "nnn")
	b.holds("f", "x")
	b.only("d", "f")
}

func TestWriteSaysThatEndingsChanged(t *testing.T) {
	b := newBench(t)
	b.file("f", "a\r\nb\r\n")
	has(t, b.ok("write", j{"path": "f", "content": "a\nb\n"}), "were CRLF and are LF")
}

func TestWriteReplacesBinaryWithoutDiff(t *testing.T) {
	b := newBench(t)
	b.file("f", "a\x00b")
	if res := b.run("write", j{"path": "f", "content": "text"}); res.IsError || res.Diff != "" {
		t.Errorf("%+v", res)
	}
	b.holds("f", "text")
}

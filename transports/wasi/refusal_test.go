//go:build unix

package wasi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/transports"
)

// refusals returns what was refused to an extension that is gone.
func refusals(t *testing.T, conn *Conn) []transports.Refusal {
	t.Helper()
	conn.Stop(t.Context(), grace)
	var all []transports.Refusal
	for r := range conn.Refusals() {
		all = append(all, r)
	}
	return all
}

func TestWhatIsRefusedIsTold(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		jail := filepath.Join(makeWorld(t), "jail")
		o.Mounts = []Mount{{Host: jail, Guest: "/data/in"}, {Host: jail, Guest: "/data/ro", ReadOnly: true}}
		conn := startLab(t, o)
		for range 3 { // told once
			do(t, conn, read("rel-file"))
		}
		do(t, conn, read("plain")) // not refused
		do(t, conn, read("not-there"))
		do(t, conn, request{Op: "symlink", Path: "made", To: "plain"})
		do(t, conn, request{Op: "fill", Path: "/data/ro/new", N: 1})
		do(t, conn, request{Op: "walk", Path: "/etc"})
		do(t, conn, request{Op: "fill", Path: "/etc/new", N: 1})
		want := []transports.Refusal{
			{Path: "/data/in/rel-file"}, {Path: "/data/in/made", Write: true}, {Path: "/data/ro/new", Write: true},
			{Path: "/etc"}, {Path: "/etc/new", Write: true},
		}
		if diff := cmp.Diff(want, refusals(t, conn)); diff != "" {
			t.Errorf("refusals (-want +got):\n%s", diff)
		}
	})
}

func TestManyRefusalsAreBounded(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		conn := startLab(t, o)
		for n := range 200 {
			do(t, conn, read(strings.Repeat("x", 200+n)))
		}
		if got := len(refusals(t, conn)); got != 64 {
			t.Errorf("%d refusals were told, want 64", got)
		}
	})
}

// TestTheWayToAMount has a program find its folder from the root.
func TestTheWayToAMount(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		o.Mounts = []Mount{{Host: dir, Guest: "/home/user/data"}, {Host: dir, Guest: "/home/other"}}
		conn := startLab(t, o)
		want := []string{"/", "/home", "/home/other", "/home/other/file", "/home/user", "/home/user/data", "/home/user/data/file"}
		got := do(t, conn, request{Op: "walk", Path: "/"})
		if diff := cmp.Diff(want, got.List); diff != "" || got.Text != "" {
			t.Errorf("error %q, below the root (-want +got):\n%s", got.Text, diff)
		}
	})
}

func TestAFolderHasALimit(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		dir := t.TempDir()
		o.Mounts = []Mount{{Host: dir, Guest: "/data", Most: 64 << 10}}
		conn := startLab(t, o)
		fill := func(name string, n int) string {
			return do(t, conn, request{Op: "fill", Path: "/data/" + name, N: n}).Text
		}
		const full = "No space left on device"
		if text := fill("fits", 40<<10); text != "" {
			t.Errorf("40 KiB of 64: %s", text)
		}
		if text := fill("too-much", 40<<10); !strings.Contains(text, full) {
			t.Errorf("80 KiB of 64: %q", text)
		}
		if text := fill("fits", 41<<10); text != "" {
			t.Errorf("written anew: %s", text)
		}
		must(t, os.Remove(filepath.Join(dir, "too-much")))
		must(t, os.Remove(filepath.Join(dir, "fits")))
		if text := fill("again", 40<<10); text != "" {
			t.Errorf("after removing: %s", text)
		}
		for n := range 10 { // empty files are not free
			if text := fill(strings.Repeat("e", n+1), 0); text != "" && (n < 4 || !strings.Contains(text, full)) {
				t.Errorf("empty file %d: %s", n, text)
			} else if text == "" && n > 6 {
				t.Errorf("empty file %d was made", n)
			}
		}
		size := int64(0)
		must(t, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error { size += info.Size(); return err }))
		if size > 80<<10 {
			t.Errorf("the folder has %d bytes", size)
		}
		if diff := cmp.Diff([]transports.Refusal{{Limit: "dataDir"}}, refusals(t, conn)); diff != "" {
			t.Errorf("refusals (-want +got):\n%s", diff)
		}
	})
}

func TestOpenFilesHaveALimit(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		o.Mounts, o.OpenFiles = []Mount{{Host: dir, Guest: "/data"}}, 8 // the mount itself is one
		conn := startLab(t, o)
		for range 2 { // they are given back
			got := do(t, conn, request{Op: "hold", Path: "/data/file", N: 20})
			if len(got.List) != 1 || got.List[0] != "7" || !strings.Contains(got.Text, "Too many open files") {
				t.Errorf("held %v, error %q", got.List, got.Text)
			}
		}
		if diff := cmp.Diff([]transports.Refusal{{Limit: "openFiles"}}, refusals(t, conn)); diff != "" {
			t.Errorf("refusals (-want +got):\n%s", diff)
		}
	})
}

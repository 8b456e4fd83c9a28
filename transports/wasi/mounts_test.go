//go:build unix

package wasi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnOpenFileIsNoWayToChange opens a file for reading, which is allowed, and
// goes on from there.
func TestAnOpenFileIsNoWayToChange(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		world := makeWorld(t)
		before := snapshot(t, world)
		bothIsolations(t, func(t *testing.T, o Options) {
			o.Mounts = []Mount{{Host: filepath.Join(world, "jail"), Guest: "/", ReadOnly: readOnly}}
			conn := startLab(t, o)
			if got := do(t, conn, read("plain")); got.Errno != ok {
				t.Fatalf("reading: error %d", got.Errno)
			}
			for _, how := range []string{"write", "pwrite", "append", "cut", "lengthen", "allocate", "times"} {
				if how == "times" && !readOnly {
					continue // as on any system, its owner may
				}
				if got := do(t, conn, request{Op: "open", Path: "plain", Rights: canRead, Then: how}); got.Errno == ok {
					t.Errorf("read-only mount %v: %s of a file open for reading went through", readOnly, how)
				}
				unchanged(t, how, world, before)
			}
		})
	}
}

// TestBetweenMounts tries to have one mount's rights on what is in another.
func TestBetweenMounts(t *testing.T) {
	world := makeWorld(t)
	before := snapshot(t, world)
	bothIsolations(t, func(t *testing.T, o Options) {
		const rw, ro = 0, 1
		o.Mounts = []Mount{{Host: filepath.Join(world, "jail"), Guest: "/rw"}, {Host: filepath.Join(world, "outside"), Guest: "/ro", ReadOnly: true}}
		conn := startLab(t, o)
		if got := do(t, conn, request{Op: "open", Dir: ro, Path: "secret", Rights: canRead}); got.Text != "text of outside/secret" {
			t.Fatalf("the second mount: %+v", got)
		}
		for _, attempt := range []request{
			{Op: "rename", Dir: ro, Path: "secret", Dir2: rw, To: "taken"},
			{Op: "rename", Dir: rw, Path: "plain", Dir2: ro, To: "put"},
			{Op: "rename", Dir: rw, Path: "plain", Dir2: ro, To: "secret"},
			{Op: "link", Dir: ro, Path: "secret", Dir2: rw, To: "hard"},
			{Op: "link", Dir: rw, Path: "plain", Dir2: ro, To: "hard"},
			{Op: "open", Dir: rw, Path: "../ro/victim", Rights: canRead | canWrite, Text: "overwritten"},
			{Op: "open", Dir: rw, Path: "rel-dir/victim", Follow: true, Rights: canRead | canWrite, Text: "overwritten"},
			{Op: "open", Dir: ro, Path: "victim", Rights: canRead | canWrite, Text: "overwritten"},
			{Op: "unlink", Dir: ro, Path: "victim"},
			{Op: "times", Dir: ro, Path: "victim"},
		} {
			if got := do(t, conn, attempt); got.Errno == ok {
				t.Errorf("%+v went through", attempt)
			}
			unchanged(t, attempt.Op, world, before)
		}
	})
}

// TestAReadOnlyMountReads does what a folder for reading is for.
func TestAReadOnlyMountReads(t *testing.T) {
	world := makeWorld(t)
	before := snapshot(t, world)
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Mounts = []Mount{{Host: filepath.Join(world, "jail"), Guest: "/data", ReadOnly: true}}
		conn := startLab(t, o)
		for _, step := range []struct {
			ask  request
			text string
		}{
			{read("plain"), "text of jail/plain"},
			{read("good-link"), "text of jail/sub/inner"},
			{read("good-dir/inner"), "text of jail/sub/inner"},
			{read("sub/deep/home"), "text of jail/plain"},
			{request{Op: "readlink", Path: "good-link"}, "sub/inner"},
			{list("sub"), "inner"},
			{request{Op: "stat", Path: "good-link", Follow: true}, ""},
		} {
			if got := do(t, conn, step.ask); got.Errno != ok || !strings.Contains(got.Text, step.text) {
				t.Errorf("%+v: %+v, want %q", step.ask, got, step.text)
			}
		}
		unchanged(t, "reading", world, before)
	})
}

// TestDevicesStayClosed mounts a folder that is full of them.
func TestDevicesStayClosed(t *testing.T) {
	if info, err := os.Stat("/dev/zero"); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Skip("needs /dev/zero")
	}
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Mounts = []Mount{{Host: "/dev", Guest: "/dev"}}
		conn := startLab(t, o)
		for _, device := range []string{"zero", "null", "tty", "random"} {
			for _, attempt := range []request{read(device), write(device, 0), write(device, oTruncate), write(device, oCreate)} {
				if got := do(t, conn, attempt); got.Errno != eperm && got.Errno != enoent || got.Text != "" {
					t.Errorf("%+v: error %d, want %d: %q", attempt, got.Errno, eperm, got.Text)
				}
			}
		}
		if _, err := os.Stat("/dev/null"); err != nil {
			t.Error(err)
		}
	})
}

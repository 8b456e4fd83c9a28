//go:build unix

package wasi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Errors of preview 1, as a guest sees them.
const (
	ok        = 0
	eexist    = 20
	einval    = 28
	eisdir    = 31
	eloop     = 32
	enoent    = 44
	enotdir   = 54
	enotempty = 55
	eperm     = 63
	erofs     = 69
)

// Flags of path_open.
const (
	oCreate    = 1
	oDirectory = 2
	oExclusive = 4
	oTruncate  = 8
	fdAppend   = 1
	canRead    = 1 << 1
	canWrite   = 1 << 6
)

// makeWorld makes a folder "jail" to be mounted, full of traps, and a
// neighbourhood to read or damage.
func makeWorld(t *testing.T) string {
	t.Helper()
	world := t.TempDir()
	for _, dir := range []string{"outside/dir", "jail/sub/deep", "jail/empty", "jail/full"} {
		must(t, os.MkdirAll(filepath.Join(world, dir), 0o755))
	}
	for _, file := range []string{"outside/secret", "outside/victim", "outside/dir/file", "jail/plain", "jail/other", "jail/sub/inner", "jail/full/file"} {
		must(t, os.WriteFile(filepath.Join(world, file), []byte("text of "+file), 0o644))
	}
	for link, target := range map[string]string{
		"abs-file":      filepath.Join(world, "outside/secret"),
		"rel-file":      "../outside/secret",
		"abs-dir":       filepath.Join(world, "outside"),
		"rel-dir":       "../outside",
		"up":            "..",
		"chain-1":       "chain-2",
		"chain-2":       "rel-dir",
		"sub/nested":    "../../outside",
		"root":          "/",
		"dangling":      "../outside/new",
		"dangling-in":   "not-there",
		"write":         "../outside/victim",
		"good-link":     "sub/inner",
		"good-dir":      "sub",
		"sub/deep/home": "../../plain",
		"loop":          "loop",
	} {
		must(t, os.Symlink(target, filepath.Join(world, "jail", link)))
	}
	must(t, syscall.Mkfifo(filepath.Join(world, "jail/fifo"), 0o666))
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	defer syscall.Close(socket)
	wd, err := os.Getwd() // a socket's path has to be short
	must(t, err)
	must(t, os.Chdir(filepath.Join(world, "jail")))
	must(t, syscall.Bind(socket, &syscall.SockaddrUnix{Name: "socket"}))
	must(t, os.Chdir(wd))
	return world
}

// snapshot describes all below dir: kind, rights, size, times, links, content.
func snapshot(t *testing.T, dir string) []string {
	t.Helper()
	var lines []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v %d %d", path, info.Mode(), info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Nlink)
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			digest := sha256.Sum256(text)
			line += " " + hex.EncodeToString(digest[:4])
		}
		lines = append(lines, line)
		return nil
	}))
	return lines
}

// unchanged says what the guest's attempt did to a world, if anything.
func unchanged(t *testing.T, attempt, world string, before []string) {
	t.Helper()
	if after := snapshot(t, world); !cmp.Equal(before, after) {
		t.Fatalf("%s changed something (-before +after):\n%s", attempt, cmp.Diff(before, after))
	}
}

func read(path string) request { return request{Op: "open", Path: path, Follow: true, Rights: canRead} }

func list(path string) request {
	return request{Op: "open", Path: path, Follow: true, Oflags: oDirectory, Rights: canRead}
}

func write(path string, oflags uint16) request {
	return request{Op: "open", Path: path, Follow: true, Oflags: oflags, Rights: canRead | canWrite, Text: "overwritten"}
}

// attacks are what a guest may try, and the error in a writable and in a
// read-only mount. After each of them the world must be the same, jail and all.
var attacks = []struct {
	name     string
	ask      request
	rw, ro   uint32
	sometext string // that must not come back
}{
	{"parent", read("../outside/secret"), eperm, eperm, "text"},
	{"parent through a folder", read("sub/../../outside/secret"), eperm, eperm, "text"},
	{"parent of a folder that is open", request{Op: "open", To: "sub", Path: "../../outside/secret", Rights: canRead}, eperm, eperm, "text"},
	{"absolute, from a folder that is open", request{Op: "open", To: "sub", Path: "/etc/passwd", Rights: canRead}, eperm, eperm, "root"},
	{"absolute", read("/etc/passwd"), eperm, eperm, "root"},
	{"absolute link to a file", read("abs-file"), eperm, eperm, "text"},
	{"relative link to a file", read("rel-file"), eperm, eperm, "text"},
	{"absolute link to a folder", read("abs-dir/secret"), eperm, eperm, "text"},
	{"relative link to a folder", read("rel-dir/secret"), eperm, eperm, "text"},
	{"link to the parent", read("up/outside/secret"), eperm, eperm, "text"},
	{"chain of links", read("chain-1/secret"), eperm, eperm, "text"},
	{"nested link", read("sub/nested/secret"), eperm, eperm, "text"},
	{"root of the host", read("root/proc/self/environ"), eperm, eperm, "="},
	{"loop of links", read("loop"), eloop, eloop, ""},
	{"listing through a link", list("rel-dir"), eperm, eperm, "secret"},
	{"listing the parent", list("up"), eperm, eperm, "outside"},
	{"stat through a link", request{Op: "stat", Path: "rel-dir/secret", Follow: true}, eperm, eperm, ""},
	{"stat of a link's target", request{Op: "stat", Path: "rel-file", Follow: true}, eperm, eperm, ""},
	{"text of an absolute link", request{Op: "readlink", Path: "abs-file"}, eperm, eperm, "outside"},
	{"text of a link outside", request{Op: "readlink", Path: "rel-file"}, eperm, eperm, "outside"},
	{"text of a dangling link outside", request{Op: "readlink", Path: "dangling"}, eperm, eperm, "outside"},

	{"write through a link", write("write", 0), eperm, erofs, ""},
	{"truncate through a link", write("write", oTruncate), eperm, erofs, ""},
	{"create through a link to a folder", write("rel-dir/new", oCreate), eperm, erofs, ""},
	{"create through a dangling link", write("dangling", oCreate), eperm, erofs, ""},
	{"create exclusively through one", write("dangling", oCreate|oExclusive), eperm, erofs, ""},
	{"append through a link", request{Op: "open", Path: "write", Follow: true, Fdflags: fdAppend, Rights: canWrite, Text: "x"}, eperm, erofs, ""},
	{"mkdir outside", request{Op: "mkdir", Path: "rel-dir/made"}, eperm, erofs, ""},
	{"unlink outside", request{Op: "unlink", Path: "rel-dir/victim"}, eperm, erofs, ""},
	{"rmdir outside", request{Op: "rmdir", Path: "rel-dir/dir"}, eperm, erofs, ""},
	{"rename from outside", request{Op: "rename", Path: "rel-dir/victim", To: "stolen"}, eperm, erofs, ""},
	{"rename to outside", request{Op: "rename", Path: "plain", To: "rel-dir/plain"}, eperm, erofs, ""},
	{"rename of a link", request{Op: "rename", Path: "good-link", To: "sub/deep/moved"}, eperm, erofs, ""},
	{"times outside", request{Op: "times", Path: "write", Follow: true}, eperm, erofs, ""},
	{"hard link from outside", request{Op: "link", Path: "rel-dir/secret", To: "hard"}, eperm, erofs, ""},
	{"hard link inside", request{Op: "link", Path: "plain", To: "hard"}, eperm, erofs, ""},
	{"symbolic link outside", request{Op: "symlink", Path: "made", To: "../outside/secret"}, eperm, erofs, ""},
	{"symbolic link, absolute", request{Op: "symlink", Path: "made", To: "/etc/passwd"}, eperm, erofs, ""},
	{"symbolic link inside", request{Op: "symlink", Path: "made", To: "plain"}, eperm, erofs, ""},
	{"symbolic link far up", request{Op: "symlink", Path: "made", To: "../../../../../etc/passwd"}, eperm, erofs, ""},
	{"reading through the one just made", read("made"), enoent, enoent, "root"},
	{"FIFO for reading", read("fifo"), eperm, eperm, ""},
	{"FIFO for writing", write("fifo", 0), eperm, erofs, ""},
	{"socket", read("socket"), eperm, eperm, ""},
	{"device through a link", read("root/dev/zero"), eperm, eperm, ""},

	{"create, opened for reading", request{Op: "open", Path: "made", Oflags: oCreate, Rights: canRead}, enoent, erofs, ""},
	{"truncate, opened for reading", request{Op: "open", Path: "plain", Oflags: oTruncate, Rights: canRead}, ok, erofs, ""},
	{"file as folder", list("plain"), enotdir, enotdir, ""},
	{"folder for writing", write("sub", 0), eisdir, erofs, ""},
	{"file removed as folder", request{Op: "rmdir", Path: "plain"}, enotdir, erofs, ""},
	{"folder removed as file", request{Op: "unlink", Path: "sub"}, eisdir, erofs, ""},
	{"folder that is not empty", request{Op: "rmdir", Path: "full"}, enotempty, erofs, ""},
	{"exclusive, and it is there", write("plain", oCreate|oExclusive), eexist, erofs, ""},
	{"no follow", request{Op: "open", Path: "good-link", Rights: canRead}, eloop, eloop, "text"},
	{"empty name", read(""), einval, einval, ""},
}

func TestTheOutsideIsOutOfReach(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		t.Run(map[bool]string{false: "writable", true: "read-only"}[readOnly], func(t *testing.T) {
			world := makeWorld(t)
			before := snapshot(t, world)
			bothIsolations(t, func(t *testing.T, o Options) {
				o.Mounts = []Mount{{Host: filepath.Join(world, "jail"), Guest: "/", ReadOnly: readOnly}}
				conn := startLab(t, o)
				for _, attack := range attacks {
					want := attack.rw
					if readOnly {
						want = attack.ro
					}
					got := do(t, conn, attack.ask)
					if got.Errno != want {
						t.Errorf("%s: error %d, want %d", attack.name, got.Errno, want)
					}
					if attack.sometext != "" && strings.Contains(got.Text, attack.sometext) {
						t.Errorf("%s: got hold of %q", attack.name, got.Text)
					}
					unchanged(t, attack.name, world, before)
				}
			})
		})
	}
}

func TestPlainUseOfAMount(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		world := makeWorld(t)
		jail := filepath.Join(world, "jail")
		o.Mounts = []Mount{{Host: jail, Guest: "/data"}}
		conn := startLab(t, o)
		for _, step := range []struct {
			name, text string
			ask        request
		}{
			{"read", "text of jail/plain", read("plain")},
			{"read in a folder", "text of jail/sub/inner", read("sub/inner")},
			{"read through a link", "text of jail/sub/inner", read("good-link")},
			{"read through a linked folder", "text of jail/sub/inner", read("good-dir/inner")},
			{"read up a link that stays inside", "text of jail/plain", read("sub/deep/home")},
			{"text of a link", "sub/inner", request{Op: "readlink", Path: "good-link"}},
			{"stat of a link that leads outside, itself", "", request{Op: "stat", Path: "rel-file"}},
			{"write", "", write("plain", 0)},
			{"create", "", write("made", oCreate)},
			{"append", "", request{Op: "open", Path: "made", Fdflags: fdAppend, Rights: canWrite, Text: " and more"}},
			{"read it", "overwritten and more", read("made")},
			{"mkdir", "", request{Op: "mkdir", Path: "folder"}},
			{"rename into it", "", request{Op: "rename", Path: "made", To: "folder/made"}},
			{"times", "", request{Op: "times", Path: "folder/made", Follow: true}},
			{"unlink", "", request{Op: "unlink", Path: "other"}},
			{"unlink a link", "", request{Op: "unlink", Path: "rel-file"}},
			{"rmdir", "", request{Op: "rmdir", Path: "empty"}},
		} {
			if got := do(t, conn, step.ask); got.Errno != ok || step.text != "" && got.Text != step.text {
				t.Errorf("%s: error %d, %q, want %q", step.name, got.Errno, got.Text, step.text)
			}
		}
		if got := do(t, conn, list("folder")); !strings.Contains(got.Text, "made") {
			t.Errorf("listing gave %q", got.Text)
		}
		text, err := os.ReadFile(filepath.Join(jail, "plain"))
		if string(text) != "overwrittenl/plain" || err != nil {
			t.Errorf("the host reads %q, %v", text, err)
		}
		info, err := os.Stat(filepath.Join(jail, "folder/made"))
		if err != nil || !info.ModTime().Equal(time.Unix(1, 0)) {
			t.Errorf("the host sees %v, %v", info, err)
		}
		for _, gone := range []string{"other", "rel-file", "empty", "made"} {
			if _, err := os.Lstat(filepath.Join(jail, gone)); err == nil {
				t.Errorf("%q is still there", gone)
			}
		}
		if _, err := os.Stat(filepath.Join(world, "outside/secret")); err != nil {
			t.Errorf("removing a link removed its target: %v", err)
		}
	})
}

func TestNothingIsMountedUnasked(t *testing.T) {
	world := makeWorld(t)
	before := snapshot(t, world)
	here := strings.TrimPrefix(world, "/") + "/outside"
	bothIsolations(t, func(t *testing.T, o Options) {
		conn := startLab(t, o)
		for _, tried := range []request{
			read("etc/passwd"), read("../etc/passwd"), read(here + "/secret"), write(here+"/victim", oTruncate), write(here+"/made", oCreate),
			write("tmp/made", oCreate), write("made", oCreate),
			{Op: "mkdir", Path: "made"}, {Op: "symlink", Path: "made", To: "/etc"}, {Op: "stat", Path: "etc"},
			{Op: "rename", Path: here + "/victim", To: "made"}, {Op: "unlink", Path: here + "/victim"}, {Op: "rmdir", Path: here + "/dir"},
			{Op: "link", Path: here + "/secret", To: "made"}, {Op: "times", Path: here + "/victim"}, {Op: "readlink", Path: "etc"},
		} {
			if got := do(t, conn, tried); got.Errno != eperm || got.Text != "" {
				t.Errorf("%s %s: error %d, want %d: %q", tried.Op, tried.Path, got.Errno, eperm, got.Text)
			}
			unchanged(t, tried.Op, world, before)
		}
		for _, made := range []string{"/made", "/tmp/made"} {
			if _, err := os.Lstat(made); err == nil {
				t.Errorf("%s is there", made)
			}
		}
		if got := do(t, conn, list(".")); got.Errno != ok || strings.Contains(got.Text, "etc") {
			t.Errorf("listing the root: error %d, %q", got.Errno, got.Text)
		}
	})
}

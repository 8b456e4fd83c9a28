//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

func openJail(t *testing.T, dir string) *rootFS {
	t.Helper()
	fs, err := newRootFS(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fs.root.Close() })
	return fs
}

// swapRounds is how often each way out is tried while links are swapped.
const swapRounds = 30_000

// TestSwappedLinks uses names that go through "cur", which is in turns a link
// to a folder inside and one to the parent.
func TestSwappedLinks(t *testing.T) {
	open := func(flags experimental.Oflag) func(fs *rootFS) string {
		return func(fs *rootFS) string {
			f, errno := fs.OpenFile("cur/f", flags, 0o600)
			if errno != 0 {
				return ""
			}
			defer f.Close()
			buf := make([]byte, 16)
			if flags&experimental.O_RDWR != 0 {
				_, errno = f.Write([]byte("inside"))
				return strconv.FormatBool(errno == 0)
			}
			n, _ := f.Read(buf)
			return string(buf[:n])
		}
	}
	for name, try := range map[string]func(fs *rootFS) string{
		"read":  open(experimental.O_RDONLY),
		"write": open(experimental.O_RDWR | experimental.O_CREAT),
		"change": func(fs *rootFS) string {
			fs.Mkdir("cur/made", 0o700)
			fs.Rename("cur/made", "cur/moved")
			fs.Rmdir("cur/moved")
			fs.Rename("plain", "cur/plain")
			fs.Rename("cur/plain", "plain")
			fs.Utimens("cur/f", 1, 1)
			return strconv.FormatBool(fs.Unlink("cur/f") == 0)
		},
	} {
		t.Run(name, func(t *testing.T) { swapLinks(t, try) })
	}
}

// swapLinks tries that so many times, and more until it went through both
// ways. Nothing outside may be read or changed by it.
func swapLinks(t *testing.T, try func(fs *rootFS) string) {
	world := t.TempDir()
	jail := filepath.Join(world, "jail")
	put(t, filepath.Join(jail, "in/f"), "inside")
	put(t, filepath.Join(jail, "plain"), "plain")
	outside := map[string]string{"f": "secret", "plain": "secret too"}
	for name, text := range outside {
		put(t, filepath.Join(world, name), text)
	}
	before := times(t, world, outside)
	var swaps atomic.Int64
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		name, next := filepath.Join(jail, "cur"), filepath.Join(jail, "next")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink([]string{"in", ".."}[swaps.Add(1)%2], next)
			_ = os.Rename(next, name)
			if _, err := os.Lstat(filepath.Join(jail, "in/f")); err != nil {
				_ = os.WriteFile(filepath.Join(jail, "in/f"), []byte("inside"), 0o600)
			}
		}
	}()
	fs := openJail(t, jail)
	through, refused := 0, 0
	for round := 0; round < swapRounds || through == 0 || refused == 0 || swaps.Load() < swapRounds/100; round++ {
		switch got := try(fs); got {
		case "", "false":
			refused++
		default:
			through++
			if strings.Contains(got, "secret") {
				t.Fatalf("read %q", got)
			}
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d swaps, %d went through, %d refused", swaps.Load(), through, refused)
	if diff := cmp.Diff(before, times(t, world, outside)); diff != "" {
		t.Errorf("outside (-before +after):\n%s", diff)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// times lists a folder with the time and content of each of its files.
func times(t *testing.T, dir string, files map[string]string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		line := e.Name()
		if _, ok := files[line]; ok {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, line))
			if err != nil {
				t.Fatal(err)
			}
			line += " " + info.ModTime().String() + " " + string(text)
		}
		all = append(all, line)
	}
	return all
}

// TestFileThatBecomesAPipe opens a name that is a file when it is looked at
// and may be a pipe when it is opened: that must neither hang nor succeed.
func TestFileThatBecomesAPipe(t *testing.T) {
	dir := t.TempDir()
	name, fifo, file := filepath.Join(dir, "cur"), filepath.Join(dir, "fifo"), filepath.Join(dir, "file")
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		for n := 0; !stop.Load(); n++ {
			if n%2 == 0 {
				_ = syscall.Mkfifo(fifo, 0o644)
				_ = os.Rename(fifo, name)
			} else {
				_ = os.WriteFile(file, []byte("x"), 0o644)
				_ = os.Rename(file, name)
			}
		}
	}()
	fs := openJail(t, dir)
	opens := make(chan int)
	go func() {
		n := 0
		for n < 300 && !stop.Load() {
			f, errno := fs.OpenFile("cur", experimental.O_RDONLY, 0)
			if errno != 0 {
				continue
			}
			if st, _ := f.Stat(); !st.Mode.IsRegular() {
				t.Errorf("opened a %v", st.Mode)
			}
			_ = f.Close()
			n++
		}
		opens <- n
	}()
	select {
	case n := <-opens:
		t.Logf("%d opens went through", n)
	case <-time.After(3 * time.Minute):
		t.Error("it hangs")
	}
	stop.Store(true)
	<-done
}

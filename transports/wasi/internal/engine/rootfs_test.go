//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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

// TestSwappedLinks opens a file through a name that is, in turns, a link to a
// folder inside and one to the parent.
func TestSwappedLinks(t *testing.T) {
	world := t.TempDir()
	jail := filepath.Join(world, "jail")
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(jail, "in/f"), "inside")
	write(filepath.Join(world, "f"), "secret")
	var stop atomic.Bool
	swapped := make(chan int)
	go func() {
		n, name, next := 0, filepath.Join(jail, "cur"), filepath.Join(jail, "next")
		for ; !stop.Load(); n++ {
			_ = os.Symlink([]string{"in", ".."}[n%2], next)
			_ = os.Rename(next, name)
		}
		swapped <- n
	}()
	fs := openJail(t, jail)
	opened := 0
	for range 30_000 {
		f, errno := fs.OpenFile("cur/f", experimental.O_RDONLY, 0)
		if errno != 0 {
			continue
		}
		buf := make([]byte, 16)
		n, _ := f.Read(buf)
		_ = f.Close()
		if opened++; string(buf[:n]) != "inside" {
			t.Fatalf("read %q", buf[:n])
		}
	}
	stop.Store(true)
	t.Logf("%d swaps, %d opens went through", <-swapped, opened)
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

package wasi

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// entries returns the names in a cache folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// code returns the file with the compiled code, the only one in the cache.
func code(t *testing.T, dir string) string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != tookName {
			found = append(found, path)
		}
		return err
	}))
	if len(found) != 1 {
		t.Fatalf("files in the cache: %q", found)
	}
	return found[0]
}

func runsFrom(t *testing.T, o Options) {
	t.Helper()
	o.Module = program(doNothing)
	if exit := awaitDone(t, start(t, o)); exit.Code != 0 || exit.Reason != "" {
		t.Errorf("exit = %v, %s", exit, exit.StderrTail)
	}
}

func TestTheSecondStartCompilesNothing(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Cache = filepath.Join(t.TempDir(), "made/on/demand")
		runsFrom(t, o)
		before, err := os.Stat(code(t, o.Cache))
		must(t, err)
		runsFrom(t, o)
		after, err := os.Stat(code(t, o.Cache))
		must(t, err)
		if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
			t.Error("the compiled code was written again")
		}
		got, ok := InCache(o.Cache, append(program(doNothing), section(0, []byte(name("name")+"\x01")...)...), o.Isolation)
		if !ok || got.Size < before.Size() || got.Took <= 0 {
			t.Errorf("in the cache: %+v, %v", got, ok)
		}
		if got, ok := InCache(o.Cache, program(unreachable), o.Isolation); ok {
			t.Errorf("in the cache, of another module: %+v", got)
		}
		if info, err := os.Stat(o.Cache); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("the cache has the mode %v, %v", info.Mode(), err)
		}
	})
}

func TestCompilingIsAllThatIsDone(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Cache, o.Module = filepath.Join(t.TempDir(), "cache"), program(unreachable) // a trap, if it ran
		must(t, Compile(t.Context(), o))
		if got, ok := InCache(o.Cache, o.Module, o.Isolation); !ok || got.Size == 0 {
			t.Errorf("in the cache: %+v, %v", got, ok)
		}
		o.Module = program("\xff")
		if err := Compile(t.Context(), o); err == nil || !strings.Contains(err.Error(), "cannot run") {
			t.Errorf("a bad module: %v", err)
		}
	})
}

func TestADamagedCacheHeals(t *testing.T) {
	damage := map[string]func(text []byte) []byte{
		"empty":       func([]byte) []byte { return nil },
		"cut off":     func(text []byte) []byte { return text[:len(text)/2] },
		"flipped bit": func(text []byte) []byte { text[len(text)/2] ^= 4; return text },
		"forged":      func([]byte) []byte { return []byte("WAZEVO\x01v1.12.0" + strings.Repeat("\xff", 200)) },
		"noise":       func(text []byte) []byte { return bytes.Repeat([]byte("noise"), len(text)/5) },
	}
	for name, change := range damage {
		t.Run(name, func(t *testing.T) {
			bothIsolations(t, func(t *testing.T, o Options) {
				o.Cache = t.TempDir()
				must(t, os.Chmod(o.Cache, 0o700))
				runsFrom(t, o)
				file := code(t, o.Cache)
				good, err := os.ReadFile(file)
				must(t, err)
				must(t, os.WriteFile(file, change(bytes.Clone(good)), 0o600))
				runsFrom(t, o)
				if healed, err := os.ReadFile(code(t, o.Cache)); err != nil || !bytes.Equal(good, healed) {
					t.Errorf("%d bytes are in the cache now, %v; were %d", len(healed), err, len(good))
				}
			})
		})
	}
}

func TestManyStartsAtOnceCompileOnce(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Cache = t.TempDir()
		must(t, os.Chmod(o.Cache, 0o700))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { runsFrom(t, o) })
		}
		wg.Wait()
		if got := entries(t, o.Cache); len(got) != 1 {
			t.Errorf("entries: %q", got)
		}
	})
}

// startOnce is a role of this test's binary: it starts a module from a cache.
const startOnce = "__start-once"

func init() {
	roles[startOnce] = func(args []string) int {
		conn, err := Start(context.Background(), Options{Module: program(doNothing), Cache: args[0], Isolation: Isolation(args[1])})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		<-conn.Done()
		return conn.Stop(context.Background(), grace).Code
	}
}

// TestManyProcessesAtOnce has several of them compile the same, and find it.
func TestManyProcessesAtOnce(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		dir := filepath.Join(t.TempDir(), "cache")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if out, err := exec.Command(ownBinary(), startOnce, dir, string(o.Isolation)).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		wg.Wait()
		if got := entries(t, dir); len(got) != 1 {
			t.Errorf("entries: %q", got)
		}
	})
}

// TestCodeOfAnotherVersionIsNotUsed is what an upgrade of the engine meets.
func TestCodeOfAnotherVersionIsNotUsed(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Cache = filepath.Join(t.TempDir(), "cache")
		runsFrom(t, o)
		now := entries(t, o.Cache)[0]
		before := now[:strings.Index(now, "wazero-")] + "wazero-v0.9.0-" + runtime.GOOS + "-" + runtime.GOARCH
		must(t, os.Rename(filepath.Join(o.Cache, now), filepath.Join(o.Cache, before)))
		must(t, os.WriteFile(filepath.Join(o.Cache, before, "code"), []byte("of before"), 0o600))
		runsFrom(t, o)
		if got := entries(t, o.Cache); len(got) != 2 || !slices.Contains(got, now) || !slices.Contains(got, before) {
			t.Errorf("entries: %q", got)
		}
	})
}

// TestWithoutACache is about a folder that cannot be had, as on a full disk.
func TestWithoutACache(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, nil, 0o600))
		for _, dir := range []string{"", filepath.Join(file, "cache")} {
			o.Cache = dir
			runsFrom(t, o)
		}
	})
}

func TestACacheThatOthersMayWriteToIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are not told by mode here")
	}
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Module, o.Cache = program(doNothing), t.TempDir()
		must(t, os.Chmod(o.Cache, 0o777))
		conn, err := Start(t.Context(), o)
		if err == nil {
			conn.Stop(t.Context(), grace)
			t.Fatal("it started")
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("%q", o.Cache)) || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("error = %v", err)
		}
	})
}

func TestPruneRemovesTheLeastRecentlyUsed(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, one := range map[string]struct {
		age  time.Duration
		size int64
	}{
		"new": {0, cacheMost / 2}, "used": {time.Hour, cacheMost / 4}, "unused": {2 * time.Hour, cacheMost / 2},
		"ancient": {cacheAge + time.Hour, 1}, "tmp-old": {2 * cacheTempAge, 1}, "tmp-new": {0, 1},
	} {
		path := filepath.Join(dir, name)
		must(t, os.Mkdir(path, 0o700))
		f, err := os.Create(filepath.Join(path, "code"))
		must(t, err)
		must(t, f.Truncate(one.size)) // a hole: it takes no room
		must(t, f.Close())
		must(t, os.Chtimes(path, now, now.Add(-one.age)))
	}
	cache{dir}.prune(filepath.Join(dir, "new"))
	if got := strings.Join(entries(t, dir), " "); got != "new tmp-new used" {
		t.Errorf("left are: %s", got)
	}
}

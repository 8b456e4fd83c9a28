package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files below dir from pairs of name and content; "name*" is
// executable.
func write(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		name, mode := files[i], fs.FileMode(0o644)
		if strings.HasSuffix(name, "*") {
			name, mode = strings.TrimSuffix(name, "*"), 0o755
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(files[i+1]), mode))
	}
}

const program = "#!/bin/sh\nexit 0\n"

// demo makes the folder of a small extension.
func demo(t testing.TB, name, version string, more ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	write(t, dir, append([]string{
		"extension.json", fmt.Sprintf("{\n  \"name\": %q,\n  \"version\": %q,\n  \"exec\": \"./run.sh\"\n}\n", name, version),
		"run.sh*", program + "# " + version, "lib/a.txt", "a " + version}, more...)...)
	return dir
}

// tree is everything below dir as path -> content, with a mark for modes.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			got[rel] = "-> " + target
		case e.Type().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			mark := ""
			if info, _ := e.Info(); info.Mode()&0o100 != 0 && runtime.GOOS != "windows" {
				mark = "x "
			}
			got[rel] = mark + string(text)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return got
}

// entries lists the extensions folder, hidden names included.
func entries(t testing.TB, zotHome string) []string {
	t.Helper()
	var names []string
	list, err := os.ReadDir(home.Home(zotHome).ExtensionsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func pick(t testing.TB, zotHome, name string) *discovery.Candidate {
	t.Helper()
	c, err := Pick(discovery.Find(discovery.Options{Home: zotHome}), name, "")
	must(t, err)
	return c
}

func TestInstallCopiesAFolder(t *testing.T) {
	source := demo(t, "Demo", "1.0.0", ".git/config", "x", "sub/.git", "gitdir: x", "my file.txt", "spaces")
	o := Options{Home: filepath.Join(t.TempDir(), "new", "home")}
	result, err := Install(context.Background(), o, source)
	must(t, err)
	target := filepath.Join(o.Home, "extensions", "Demo")
	if result.Name != "Demo" || result.Version != "1.0.0" || result.Dir != target || !result.Changed {
		t.Errorf("result %+v", result)
	}
	want := tree(t, source)
	delete(want, filepath.FromSlash(".git/config"))
	delete(want, filepath.FromSlash("sub/.git"))
	if diff := cmp.Diff(want, tree(t, target)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Skip{{".git", "git's own data"}, {"sub/.git", "git's own data"}}, result.Skipped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".origins", "Demo"}, entries(t, o.Home)); diff != "" {
		t.Error(diff)
	}
	origin, known, err := OriginOf(o.Home, "Demo")
	must(t, err)
	if !known || origin.Source != source || origin.Kind != FromFolder || origin.Installed.IsZero() {
		t.Errorf("origin %+v", origin)
	}
}

func TestLinksThatLeaveAreNotCopied(t *testing.T) {
	source := demo(t, "demo", "1")
	if err := os.Symlink("lib/a.txt", filepath.Join(source, "inside")); err != nil {
		t.Skip("no links here:", err)
	}
	outside := t.TempDir()
	for name, target := range map[string]string{
		"absolute": outside, "upwards": "../..", "self": filepath.Join(source, "lib"), "lib/up": "../../x",
		"lib/fine": "../run.sh", "door": "../" + filepath.Base(outside), "loop": "loop",
	} {
		must(t, os.Symlink(target, filepath.Join(source, name)))
	}
	must(t, os.Symlink("absolute/file", filepath.Join(source, "through")))
	if runtime.GOOS != "windows" {
		makePipe(t, filepath.Join(source, "pipe"))
	}
	result, err := Install(context.Background(), Options{Home: t.TempDir()}, source)
	must(t, err)
	got := tree(t, result.Dir)
	if got["inside"] != "-> lib/a.txt" || got[filepath.FromSlash("lib/fine")] != "-> ../run.sh" {
		t.Errorf("links inside: %v", got)
	}
	var skipped []string
	for _, s := range result.Skipped {
		skipped = append(skipped, s.Path)
	}
	if diff := cmp.Diff([]string{"absolute", "door", "lib/up", "loop", "pipe", "self", "through", "upwards"}, skipped); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Lstat(filepath.Join(result.Dir, "absolute")); err == nil {
		t.Error("a link out of the tree was copied")
	}
}

func TestInstallRefusesBeforeAnythingIsWritten(t *testing.T) {
	manifest := func(text string) func(t *testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			write(t, dir, "extension.json", text, "run*", program, "plain", "x", "dir/x", "x")
			return dir
		}
	}
	tests := []struct {
		name   string
		source func(t *testing.T) string
		want   string
	}{
		{"upwards", manifest(`{"name":"../x","exec":"./run"}`), `name "../x" must begin with a letter or digit`},
		{"separator", manifest(`{"name":"a/b","exec":"./run"}`), `name "a/b" may hold only letters`},
		{"absolute", manifest(`{"name":"/etc","exec":"./run"}`), `name "/etc"`},
		{"dot", manifest(`{"name":".","exec":"./run"}`), `name "."`},
		{"empty", manifest(`{"name":"","exec":"./run"}`), `name "" is empty`},
		{"device", manifest(`{"name":"nul.txt","exec":"./run"}`), `name "nul.txt" is the name of a device`},
		{"65 characters", manifest(`{"name":"` + strings.Repeat("a", 65) + `","exec":"./run"}`), `has 65 characters`},
		{"other case of an installed one", manifest(`{"name":"TAKEN","exec":"./run"}`), `"TAKEN" cannot be installed: "taken" is already installed in`},
		{"installed one", manifest(`{"name":"taken","exec":"./run"}`), `bring it up to date with "zot ext update taken"`},
		{"broken manifest", manifest("{\n\"name\" \"x\"}"), `extension.json:2:8: `},
		{"newer zot", manifest(`{"name":"x","exec":"./run","minZot":"9.9.9"}`), `needs zot 9.9.9 or newer, and this is 0.1.0`},
		{"missing program", manifest(`{"name":"x","exec":"./rum"}`), `is not there; did you mean "run"?`},
		{"program that is a folder", manifest(`{"name":"x","exec":"./dir"}`), `is a folder`},
		{"no manifest", func(t *testing.T) string { return t.TempDir() }, "extension.json is not there"},
		{"manifest further down", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, dir, "examples/one/extension.json", "{}")
			return dir
		}, "there is one in examples/one"},
		{"no folder", func(t *testing.T) string { return filepath.Join(t.TempDir(), "nope") }, "is not a folder"},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, struct {
			name   string
			source func(t *testing.T) string
			want   string
		}{"program that may not run", manifest(`{"name":"x","exec":"./plain"}`), `is not executable; run: chmod +x`})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Home: t.TempDir(), ZotVersion: "0.1.0"}
			_, err := Install(context.Background(), o, demo(t, "taken", "1"))
			must(t, err)
			before := tree(t, o.Home)
			source := tt.source(t)
			_, err = Install(context.Background(), o, source)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
			if strings.Contains(err.Error(), stagingPrefix) {
				t.Errorf("a path of no meaning to the user: %v", err)
			}
			if diff := cmp.Diff(before, tree(t, o.Home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFolderInTheWay(t *testing.T) {
	o := Options{Home: t.TempDir()}
	write(t, filepath.Join(o.Home, "extensions", "DEMO"), "todos.json", "mine")
	_, err := Install(context.Background(), o, demo(t, "demo", "1"))
	if !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "is in the way") {
		t.Error(err)
	}
	write(t, filepath.Join(o.Home, "extensions", "other"), "extension.json", `{"name":"Weather","exec":"x"}`)
	_, err = Install(context.Background(), o, demo(t, "weather", "1"))
	if !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), `"Weather" is already installed in `+filepath.Join(o.Home, "extensions", "other")) {
		t.Error(err)
	}
}

func TestTwinsAreRefused(t *testing.T) {
	source := demo(t, "demo", "1", "Read.txt", "1", "read.TXT", "2")
	if list, _ := os.ReadDir(source); len(list) < 5 {
		t.Skip("the file system here takes them for one file")
	}
	o := Options{Home: t.TempDir()}
	_, err := Install(context.Background(), o, source)
	if err == nil || !strings.Contains(err.Error(), `"Read.txt" and "read.TXT" differ only in case`) {
		t.Error(err)
	}
	if got := entries(t, o.Home); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestSizeIsBounded(t *testing.T) {
	source := t.TempDir()
	write(t, source, "a", "12345", "b", "12345", "c/d", "12345")
	for name, c := range map[string]*copier{
		"more than 2 files": {maxFiles: 2, maxBytes: 1 << 20},
		"larger than 0 MiB": {maxFiles: 10, maxBytes: 14},
	} {
		c.ctx, c.seen = context.Background(), map[string]string{}
		var err error
		c.from, err = os.OpenRoot(source)
		must(t, err)
		c.to, err = os.OpenRoot(t.TempDir())
		must(t, err)
		if err := c.copy(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
		c.from.Close()
		c.to.Close()
	}
}

func TestInstallingAParentOfTheHomeIsRefused(t *testing.T) {
	source := demo(t, "demo", "1")
	_, err := Install(context.Background(), Options{Home: filepath.Join(source, "state")}, source)
	if err == nil || !strings.Contains(err.Error(), "holds the folder into which extensions are installed") {
		t.Error(err)
	}
}

// A step that fails (a full disk, for example) leaves no trace.
func TestFailedInstallLeavesNothing(t *testing.T) {
	t.Cleanup(func() { testOnlyStep = nil })
	source := demo(t, "demo", "1")
	for failing := 0; ; failing++ {
		o := Options{Home: t.TempDir()}
		n, failed := 0, ""
		testOnlyStep = func(step string) error {
			if n++; n-1 == failing && step != "clear" && step != "settle" {
				failed = step
				return fmt.Errorf("writing: %w", syscall.ENOSPC)
			}
			return nil
		}
		_, err := Install(context.Background(), o, source)
		testOnlyStep = nil
		if failed == "" {
			must(t, err)
			if n <= failing {
				return
			}
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error %v", failed, err)
		}
		if got := entries(t, o.Home); len(got) > 0 && !(len(got) == 1 && got[0] == ".origins") || len(recordNames(home.Home(o.Home))) > 0 {
			t.Errorf("%s left %v", failed, got)
		}
		if _, err := Install(context.Background(), o, source); err != nil {
			t.Errorf("after %s: %v", failed, err)
		}
	}
}

func TestCancelledInstallLeavesNothing(t *testing.T) {
	t.Cleanup(func() { testOnlyStep = nil })
	o := Options{Home: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	testOnlyStep = func(step string) error {
		if strings.HasPrefix(step, "copy lib") {
			cancel()
		}
		return nil
	}
	if _, err := Install(ctx, o, demo(t, "demo", "1")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := entries(t, o.Home); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestTwoInstallsOfOneName(t *testing.T) {
	o := Options{Home: t.TempDir()}
	sources := []string{demo(t, "demo", "1"), demo(t, "Demo", "2"), demo(t, "DEMO", "3")}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for _, source := range sources {
		wg.Go(func() {
			_, err := Install(context.Background(), o, source)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, ErrExists) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 || len(discovery.Find(discovery.Options{Home: o.Home}).Candidates) != 1 {
		t.Errorf("%d succeeded, %v", won, entries(t, o.Home))
	}
}

func TestMissingInterpreterIsOnlyAWarning(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("#! lines mean nothing there")
	}
	source := demo(t, "demo", "1", "run.sh*", "#!/usr/bin/env no-such-program\n")
	result, err := Install(context.Background(), Options{Home: t.TempDir()}, source)
	must(t, err)
	if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], `needs "no-such-program", which is not in PATH`) || !strings.Contains(result.Warnings[0], source) {
		t.Errorf("warnings %q", result.Warnings)
	}
}

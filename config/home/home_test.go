package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/config/home"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func skipWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("written for paths with slashes")
	}
}

func TestResolveOrder(t *testing.T) {
	skipWindows(t)
	full := home.Options{
		Flag: "/flag", Managed: "/managed", GOOS: "linux", UserHome: "/u",
		Getenv: env("ZOT_HOME", "/env", "XDG_STATE_HOME", "/xdg"),
	}
	noFlag, noEnv, noManaged := full, full, full
	noFlag.Flag = ""
	noEnv.Flag, noEnv.Getenv = "", env("ZOT_HOME", "", "XDG_STATE_HOME", "/xdg")
	noManaged.Flag, noManaged.Getenv, noManaged.Managed = "", env("XDG_STATE_HOME", "/xdg"), ""
	darwinXDG := noManaged
	darwinXDG.GOOS = "darwin"
	windowsXDG := noManaged
	windowsXDG.GOOS, windowsXDG.Getenv = "windows", env("XDG_STATE_HOME", `C:\xdg`)

	tests := []struct {
		name   string
		o      home.Options
		want   home.Home
		origin home.Origin
	}{
		{"flag", full, "/flag", home.FromFlag},
		{"variable", noFlag, "/env", home.FromEnv},
		{"managed, variable empty", noEnv, "/managed", home.FromManaged},
		{"xdg", noManaged, "/xdg/zot", home.FromXDG},
		{"xdg on macOS", darwinXDG, "/xdg/zot", home.FromXDG},
		{"xdg on Windows", windowsXDG, `C:\xdg\zot`, home.FromXDG},
		{"relative xdg is ignored", home.Options{GOOS: "linux", UserHome: "/u", Getenv: env("XDG_STATE_HOME", "x")}, "/u/.local/state/zot", home.FromDefault},
		{"linux", home.Options{GOOS: "linux", UserHome: "/u"}, "/u/.local/state/zot", home.FromDefault},
		{"macOS", home.Options{GOOS: "darwin", UserHome: "/u"}, "/u/Library/Application Support/zot", home.FromDefault},
		{"windows", home.Options{GOOS: "windows", UserHome: `C:\u`, Getenv: env("LOCALAPPDATA", `C:\u\AppData\Local`)}, `C:\u\AppData\Local\zot`, home.FromDefault},
		{"tilde", home.Options{GOOS: "linux", UserHome: "/u", Getenv: env("ZOT_HOME", "~/x")}, "/u/x", home.FromEnv},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, origin, err := home.Resolve(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want || origin != tt.origin {
				t.Errorf("got %q from %q, want %q from %q", got, origin, tt.want, tt.origin)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	skipWindows(t)
	project := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, value, want string }{
		{"relative", "state", "not an absolute path"},
		{"another user's home", "~bob/x", "not an absolute path"},
		{"tilde in the middle", "a~/x", "not an absolute path"},
		{"in the project", project + "/state", "inside the project"},
		{"the project itself", project, "inside the project"},
		{"in the project through a link", link + "/state", "inside the project"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := home.Resolve(home.Options{
				GOOS: "linux", UserHome: "/u", ProjectRoot: project, Getenv: env("ZOT_HOME", tt.value),
			})
			var le *home.LocationError
			if !errors.As(err, &le) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "ZOT_HOME") {
				t.Errorf("got error %v, want one that names ZOT_HOME and says %q", err, tt.want)
			}
		})
	}
	t.Run("the flag may name the project", func(t *testing.T) {
		_, _, err := home.Resolve(home.Options{GOOS: "linux", Flag: project + "/state", ProjectRoot: project})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("managed names its line", func(t *testing.T) {
		_, _, err := home.Resolve(home.Options{GOOS: "linux", Managed: "x", ManagedFrom: "/etc/zot/config.json:3:11"})
		if err == nil || !strings.Contains(err.Error(), "/etc/zot/config.json:3:11") {
			t.Errorf("got error %v", err)
		}
	})
}

func TestExpandLeavesOtherTildes(t *testing.T) {
	skipWindows(t)
	for in, want := range map[string]string{
		"~/a": "/u/a", "~": "/u", "~bob/a": "~bob/a", "a/~/b": "a/~/b", "/~x": "/~x", "": "",
	} {
		if got := home.Expand(in, "/u"); got != want {
			t.Errorf("Expand(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestProjectRoot(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"u/.zot", "u/plain/sub", "u/repo/.git", "u/repo/a/b", "u/repo/nested/.zot", "u/repo/nested/c"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	user := filepath.Join(base, "u")
	for dir, want := range map[string]string{
		"u/repo/a/b":      "u/repo",
		"u/repo":          "u/repo",
		"u/repo/nested/c": "u/repo/nested",
		"u/plain/sub":     "u/plain/sub", // the home folder is nobody's project
		"u":               "u",
	} {
		got := home.ProjectRoot(filepath.Join(base, dir), user)
		if got != filepath.Join(base, want) {
			t.Errorf("ProjectRoot(%s) = %s, want %s", dir, got, want)
		}
	}
}

func TestWriteFile(t *testing.T) {
	skipWindows(t)
	dir := t.TempDir()
	t.Run("a new file and its folders are the user's alone", func(t *testing.T) {
		path := filepath.Join(dir, "new", "deep", "f.json")
		mustWrite(t, path, "x")
		wantMode(t, path, 0o600)
		wantMode(t, filepath.Dir(path), 0o700)
	})
	t.Run("mode is kept", func(t *testing.T) {
		path := filepath.Join(dir, "mode")
		if err := os.WriteFile(path, nil, 0o640); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, path, "x")
		wantMode(t, path, 0o640)
	})
	t.Run("links stay, to files that exist and that do not", func(t *testing.T) {
		for _, name := range []string{"present", "absent"} {
			target := filepath.Join(dir, "target-"+name)
			if name == "present" {
				mustWrite(t, target, "old")
			}
			one, two := filepath.Join(dir, "one-"+name), filepath.Join(dir, "two-"+name)
			symlink(t, filepath.Base(target), one)
			symlink(t, one, two)
			mustWrite(t, two, "new")
			if got, _ := os.ReadFile(target); string(got) != "new" {
				t.Errorf("%s: target holds %q", name, got)
			}
			if info, _ := os.Lstat(two); info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s: the link is gone", name)
			}
		}
	})
	t.Run("faults leave everything as it was", func(t *testing.T) {
		loop := filepath.Join(dir, "loop")
		symlink(t, loop, loop)
		for _, path := range []string{loop, dir} {
			if err := home.WriteFile(path, []byte("x"), 0o600); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("writing %s: error %v does not name it", path, err)
			}
		}
	})
	left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestUpdateLosesNothing(t *testing.T) {
	h := home.Home(t.TempDir())
	path := h.Path("counter")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 5 {
				err := h.Update(path, func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old))
					return []byte(strconv.Itoa(n + 1)), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, _ := os.ReadFile(path); string(got) != "100" {
		t.Errorf("counter is %s after 100 updates", got)
	}
}

func TestUpdateKeepsTheFileOnError(t *testing.T) {
	h := home.Home(t.TempDir())
	path := h.Path("f")
	mustWrite(t, path, "old")
	boom := errors.New("boom")
	if err := h.Update(path, func([]byte) ([]byte, error) { return nil, boom }); err != boom {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("file holds %q", got)
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := home.WriteFile(path, []byte(text), home.FileMode); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o, want %o", path, got, want)
	}
}

// A program that does not know of the lock, such as an editor, may save between
// the reading and the writing: the change is made to what it saved.
func TestUpdateSeesAnotherProgram(t *testing.T) {
	h := home.Home(t.TempDir())
	path := h.Path("f")
	for _, first := range []string{"", "a"} {
		if first != "" {
			write(t, path, first)
		}
		calls := 0
		err := h.Update(path, func(old []byte) ([]byte, error) {
			if calls++; calls == 1 {
				write(t, path, "theirs")
			}
			return append(old, "+ours"...), nil
		})
		if got, _ := os.ReadFile(path); err != nil || string(got) != "theirs+ours" {
			t.Errorf("the file holds %q, %v", got, err)
		}
	}
	err := h.Update(path, func(old []byte) ([]byte, error) {
		write(t, path, string(old)+"x")
		return []byte("ours"), nil
	})
	if err == nil || !strings.Contains(err.Error(), "another program keeps changing the file") {
		t.Errorf("got error %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

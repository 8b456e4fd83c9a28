package paths

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree makes files (content = name) and links ("a -> b") below a real folder.
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, target, link := strings.Cut(e, " -> ")
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if link {
			symlink(t, filepath.FromSlash(strings.ReplaceAll(target, "$DIR", dir)), full)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(full, 0o755)
		} else {
			err = os.WriteFile(full, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("this system does not let us make links: %v", err)
	}
}

const (
	composed   = "caf\u00e9.txt"
	decomposed = "cafe\u0301.txt"
)

func TestResolveForms(t *testing.T) {
	dir := tree(t, "p/f", "p/sub/g", "p/with space", "p/"+decomposed, "p/shot\u202fAM.png",
		"p/file -> f", "p/chain -> file", "p/dangling -> new/there", "p/deep -> $DIR/out/x",
		"out/x/y", "p/a#b", "p/~/tilde", "p/odd ", "p/odd")
	cwd := filepath.Join(dir, "p")
	url := "file://" + filepath.ToSlash(filepath.Join(cwd, "f"))
	if runtime.GOOS == "windows" {
		url = "file:///" + filepath.ToSlash(filepath.Join(cwd, "f"))
	}
	cases := []struct {
		given, want string
		exists      bool
	}{
		{"f", "p/f", true},
		{"./f", "p/f", true},
		{"sub/../f", "p/f", true},
		{"f ", "p/f", true},
		{"\nf\n", "p/f", true},
		{"@f", "p/f", true},
		{"@scope/new", "p/@scope/new", false},
		{"new.txt ", "p/new.txt", false},
		{"~/f", "home-f", false},
		{"./~/tilde", "p/~/tilde", true},
		{url, "p/f", true},
		{strings.Replace(url, "file:///", "FILE://localhost/", 1), "p/f", true},
		{url + "#L10", "p/f", true},
		{strings.Replace(url, "/p/f", "/p/with%20space", 1), "p/with space", true},
		{strings.Replace(url, "/p/f", "/p/a#b", 1), "p/a#b", true},
		{"a#b", "p/a#b", true},
		{composed, "p/" + decomposed, true},
		{"shot AM.png", "p/shot\u202fAM.png", true},
		{"odd ", "p/odd ", true},
		{"file", "p/f", true},
		{"chain", "p/f", true},
		{"dangling", "p/new/there", false},
		{"deep/y", "out/x/y", true},
		{"deep/new/z", "out/x/new/z", false},
		{"deep/../x/y", "out/x/y", true}, // ".." after a link is above its target
		{"nothing/../f", "p/f", true},
		{"nothing/../../out/x/y", "out/x/y", true},
		{"sub/", "p/sub", true},
	}
	for _, c := range cases {
		t.Run(c.given, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.HasSuffix(c.want, " ") {
				t.Skip("names cannot end in a space here")
			}
			r := Resolver{CWD: cwd, Home: filepath.Join(dir, "home")}
			want := filepath.Join(dir, filepath.FromSlash(c.want))
			if c.want == "home-f" {
				want = filepath.Join(dir, "home", "f")
			}
			p, err := r.Resolve(c.given)
			if err != nil {
				t.Fatal(err)
			}
			if p.Real != want || p.Exists != c.exists || p.Given != c.given {
				t.Errorf("Resolve(%q) = %q, exists %v; want %q, %v", c.given, p.Real, p.Exists, want, c.exists)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	dir := tree(t, "f", "loop -> loop2", "loop2 -> loop", "self -> self")
	r := Resolver{CWD: dir}
	for given, want := range map[string]string{
		"":              "empty",
		"  ":            "empty",
		"a\x00b":        "zero byte",
		"file:///a%00b": "zero byte",
		"~/f":           "home",
		"loop":          "circle",
		"self/x":        "circle",
		"file://host/x": "another host",
		"file://x":      "needs a path",
	} {
		if _, err := r.Resolve(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q) = %v, want an error about %q", given, err, want)
		}
	}
	if _, err := r.Resolve("f/x"); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "f")) {
		t.Errorf("a file used as a folder: %v, want an error naming it", err)
	}
	if _, err := (Resolver{}).Resolve("f"); err == nil {
		t.Error("a relative path without a working folder resolved")
	}
}

func TestAmbiguousLooseNameIsNotGuessed(t *testing.T) {
	dir := tree(t, "a\u00a0b", "a\u2009b")
	p, err := Resolver{CWD: dir}.Resolve("a b")
	if err != nil || p.Exists {
		t.Errorf("Resolve = %+v, %v; want a path that names nothing", p, err)
	}
}

func TestCaseFoldingFileSystem(t *testing.T) {
	dir := tree(t, "Folder/File")
	p, err := Resolver{CWD: dir}.Resolve("fOLDER/fILE")
	if err != nil {
		t.Fatal(err)
	}
	if !p.Exists {
		t.Skip("this file system tells case apart")
	}
	if want := filepath.Join(dir, "Folder", "File"); p.Real != want {
		t.Errorf("Real = %q, want the spelling on disk, %q", p.Real, want)
	}
}

func TestContains(t *testing.T) {
	root := filepath.FromSlash("/a/b")
	for path, want := range map[string]bool{
		"/a/b": true, "/a/b/c": true, "/a/bc": false, "/a": false, "/": false, "/a/b/..c": true, "/x": false,
	} {
		if got := Contains(root, filepath.FromSlash(path)); got != want {
			t.Errorf("Contains(%q, %q) = %v", root, path, got)
		}
	}
	if !ContainsFold(filepath.FromSlash("/p/.ZOT"), filepath.FromSlash("/p/.zot/x")) {
		t.Error("ContainsFold tells case apart")
	}
	if Fold(composed) != Fold(strings.ToUpper(decomposed)) {
		t.Error("Fold tells compositions apart")
	}
}

func TestChanged(t *testing.T) {
	dir := tree(t, "f", "l -> f")
	r := Resolver{CWD: dir}
	for given, want := range map[string]bool{"f": false, "./f": false, "l": true, "f ": true, "new": false} {
		p, err := r.Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		if p.Changed(dir) != want {
			t.Errorf("Changed of %q is %v", given, !want)
		}
	}
}

func mustResolve(t *testing.T, dir, given string) Path {
	t.Helper()
	p, err := Resolver{CWD: dir}.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func replace(t *testing.T, dir, given, data string) error {
	t.Helper()
	pl, err := HoldMaking(mustResolve(t, dir, given))
	if err != nil {
		return err
	}
	defer pl.Close()
	return pl.Replace([]byte(data), nil)
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestReplaceFollowsLinksAndKeepsThem(t *testing.T) {
	dir := tree(t, "real", "one -> real", "two -> one", "dangling -> made/here")
	for _, given := range []string{"one", "two", "dangling"} {
		if err := replace(t, dir, given, "by "+given); err != nil {
			t.Fatal(err)
		}
		if got := content(t, filepath.Join(dir, given)); got != "by "+given {
			t.Errorf("%s holds %q", given, got)
		}
		if info, err := os.Lstat(filepath.Join(dir, given)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link", given)
		}
	}
	if got := content(t, filepath.Join(dir, "real")); got != "by two" {
		t.Errorf("the target holds %q", got)
	}
	if got := content(t, filepath.Join(dir, "made", "here")); got != "by dangling" {
		t.Errorf("the target of the dangling link holds %q", got)
	}
}

func TestReplaceKeepsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits here")
	}
	dir := tree(t, "run")
	run := filepath.Join(dir, "run")
	if err := os.Chmod(run, 0o751); err != nil {
		t.Fatal(err)
	}
	if err := replace(t, dir, "run", "x"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(run); info.Mode().Perm() != 0o751 {
		t.Errorf("mode is %o", info.Mode().Perm())
	}
}

func TestFailedReplaceLeavesNothing(t *testing.T) {
	dir := tree(t, "f")
	stop := errors.New("stop")
	for _, given := range []string{"f", "new", "a/b/c"} {
		pl, err := HoldMaking(mustResolve(t, dir, given))
		if err != nil {
			t.Fatal(err)
		}
		if err := pl.Replace([]byte("x"), func() error { return stop }); !errors.Is(err, stop) {
			t.Errorf("err = %v", err)
		}
		pl.Close()
	}
	if got := names(t, dir); len(got) != 1 || content(t, filepath.Join(dir, "f")) != "f" {
		t.Errorf("left behind: %q", got)
	}
}

func TestReplaceRefusesWhatIsNoFile(t *testing.T) {
	dir := tree(t, "folder/x")
	err := replace(t, dir, "folder", "x")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "folder")) {
		t.Errorf("err = %v, want one naming the folder", err)
	}
}

// TestSwappedFolder plays the race: judged as a folder, then made a link.
func TestSwappedFolder(t *testing.T) {
	dir := tree(t, "in/f", "out/f")
	p := mustResolve(t, dir, "in/f")
	swap := func() {
		if err := os.Rename(filepath.Join(dir, "in"), filepath.Join(dir, "was")); err != nil {
			t.Fatal(err)
		}
		symlink(t, "out", filepath.Join(dir, "in"))
	}
	jail, err := NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	swap()
	if pl, err := Hold(p); !errors.Is(err, ErrMoved) {
		t.Errorf("Hold after the swap = %v, %v; want ErrMoved", pl, err)
	}
	if pl, err := jail.Hold(Write, p, true); !errors.Is(err, ErrMoved) {
		t.Errorf("Jail.Hold after the swap = %v, %v; want ErrMoved", pl, err)
	}
}

// TestSwappedFile plays the same race on the last name, after the folder is held.
func TestSwappedFile(t *testing.T) {
	dir := tree(t, "f", "secret")
	pl, err := Hold(mustResolve(t, dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer pl.Close()
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	symlink(t, "secret", filepath.Join(dir, "f"))
	if _, _, err := pl.Open(); !errors.Is(err, ErrMoved) {
		t.Errorf("Open = %v, want ErrMoved", err)
	}
	if err := pl.Replace([]byte("x"), nil); !errors.Is(err, ErrMoved) {
		t.Errorf("Replace = %v, want ErrMoved", err)
	}
	if got := content(t, filepath.Join(dir, "secret")); got != "secret" {
		t.Errorf("secret holds %q", got)
	}
}

func TestJail(t *testing.T) {
	dir := tree(t, "jail/f", "jail/out -> ../outside", "jail/abs -> $DIR/outside/s", "outside/s", "jail2/f")
	root := filepath.Join(dir, "jail")
	j, err := NewJail(root)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, given := range []string{"out/s", "abs", "out/new", "../outside/s", "../jail2/f", filepath.Join(dir, "outside", "s"), "out/../outside/s"} {
		p := mustResolve(t, root, given)
		var esc *EscapeError
		if err := j.Check(Read, p.Real); !errors.As(err, &esc) {
			t.Errorf("Check(%q) = %v", given, err)
		}
		if _, err := j.Hold(Write, p, true); !errors.As(err, &esc) || !strings.Contains(err.Error(), p.Real) {
			t.Errorf("Hold(%q) = %v", given, err)
		}
	}
	for _, given := range []string{"f", "deep/new/file", "."} {
		pl, err := j.Hold(Write, mustResolve(t, root, given), true)
		if err != nil {
			t.Fatalf("Hold(%q): %v", given, err)
		}
		pl.Close()
	}
	if got := names(t, root); len(got) != 3 {
		t.Errorf("folders made for nothing stay: %q", got)
	}
}

// FuzzConfinement: whatever the spelling, what a jail opens is inside, and the
// file outside is neither read nor changed.
func FuzzConfinement(f *testing.F) {
	for _, s := range []string{"in/f", "../out/secret", "l/secret", "in/../l/../out/secret", "file:///x", "~/secret",
		"in/up/out/secret", "@../out/secret", "l/\x00", " ../out/secret ", "d/x", "in//f/", "..\\out\\secret", "IN/F", "up/up/out/secret"} {
		f.Add(s)
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	jailDir, out := filepath.Join(base, "jail"), filepath.Join(base, "out")
	for _, d := range []string{filepath.Join(jailDir, "in"), out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			f.Fatal(err)
		}
	}
	const secret = "the secret"
	os.WriteFile(filepath.Join(out, "secret"), []byte(secret), 0o644)
	os.WriteFile(filepath.Join(jailDir, "in", "f"), []byte("open"), 0o644)
	for name, target := range map[string]string{"l": "../out", "in/up": "../..", "d": "../out/new", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(jailDir, name)); err != nil {
			f.Skip("this system does not let us make links")
		}
	}
	j, err := NewJail(jailDir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { j.Close() })
	f.Fuzz(func(t *testing.T, given string) {
		if len(given) > 300 {
			return
		}
		p, err := Resolver{CWD: jailDir, Home: out}.Resolve(given)
		if err != nil {
			return
		}
		if !filepath.IsAbs(p.Real) || filepath.Clean(p.Real) != p.Real {
			t.Fatalf("Real = %q is not a clean absolute path", p.Real)
		}
		if p.Exists {
			if real, err := filepath.EvalSymlinks(p.Real); err != nil || real != p.Real {
				t.Fatalf("Real = %q goes through a link to %q, %v", p.Real, real, err)
			}
		}
		pl, err := j.Hold(Write, p, true)
		if err != nil {
			return
		}
		defer pl.Close()
		if !Contains(jailDir, p.Real) {
			t.Fatalf("held %q, which is outside", p.Real)
		}
		if file, info, err := pl.Open(); err == nil {
			defer file.Close()
			if data, _ := io.ReadAll(file); !info.IsDir() && strings.Contains(string(data), secret) {
				t.Fatalf("%q reads the secret", given)
			}
		}
		_ = pl.Replace([]byte("written"), nil)
		if data, _ := os.ReadFile(filepath.Join(out, "secret")); string(data) != secret {
			t.Fatalf("%q wrote outside", given)
		}
		if left, _ := os.ReadDir(out); len(left) != 1 {
			t.Fatalf("%q created something outside", given)
		}
	})
}

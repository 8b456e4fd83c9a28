package tree_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies/tree"
)

// folder makes a folder of files; a name that ends in * is executable.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if bare, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = bare, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func digest(t testing.TB, dir string) string {
	t.Helper()
	tr, err := tree.Hash(dir, tree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr.Digest()
}

func TestDigestStandsForTheFiles(t *testing.T) {
	base := map[string]string{"extension.json": "{}", "run.sh*": "echo", "lib/a": "1", "lib/b": "2"}
	want := digest(t, folder(t, base))
	if got := digest(t, folder(t, base)); got != want {
		t.Errorf("the same files give %s and %s", want, got)
	}
	// Written down, so that a change of the way of hashing does not go unseen.
	const written = "zt1:8fbae27f64199848e31d1e23639190b49ec508221ff7a8523001c7a418e16cab"
	if runtime.GOOS != "windows" && want != written {
		t.Errorf("digest is %s, want %s", want, written)
	}
	for name, files := range map[string]map[string]string{
		"content":     {"extension.json": "{}", "run.sh*": "echO", "lib/a": "1", "lib/b": "2"},
		"flag":        {"extension.json": "{}", "run.sh": "echo", "lib/a": "1", "lib/b": "2"},
		"name":        {"extension.json": "{}", "run.sh*": "echo", "lib/a": "1", "lib/c": "2"},
		"one more":    {"extension.json": "{}", "run.sh*": "echo", "lib/a": "1", "lib/b": "2", "c": ""},
		"moved bytes": {"extension.json": "{}", "run.sh*": "echo", "lib/a": "12", "lib/b": ""},
	} {
		if runtime.GOOS == "windows" && name == "flag" {
			continue
		}
		if digest(t, folder(t, files)) == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

func TestChangedNamesFiles(t *testing.T) {
	a, _ := tree.Hash(folder(t, map[string]string{"a": "1", "b": "2", "c": "3"}), tree.Options{})
	b, _ := tree.Hash(folder(t, map[string]string{"a": "1", "b": "x", "d": "4"}), tree.Options{})
	if got := strings.Join(tree.Changed(a, b), " "); got != "b c d" {
		t.Errorf("changed are %s", got)
	}
}

func TestRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	outside := folder(t, map[string]string{"secret": "s"})
	cases := map[string]func(dir string) error{
		"a link or a special file": func(dir string) error { return os.Symlink(outside+"/secret", dir+"/l") },
		"a repository inside":      func(dir string) error { return os.MkdirAll(dir+"/sub/.GIT", 0o755) },
	}
	if runtime.GOOS == "linux" {
		cases["are one file on some systems"] = func(dir string) error { return os.WriteFile(dir+"/A", nil, 0o644) }
	}
	for want, spoil := range cases {
		dir := folder(t, map[string]string{"a": "1"})
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		_, err := tree.Hash(dir, tree.Options{})
		var te *tree.Error
		if !errors.As(err, &te) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	big := folder(t, map[string]string{"a": ""})
	if err := os.Truncate(filepath.Join(big, "a"), tree.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Hash(big, tree.Options{}); err == nil || !strings.Contains(err.Error(), "more than 256 MiB") {
		t.Errorf("got %v", err)
	}
	if _, err := tree.Hash(filepath.Join(big, "none"), tree.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestCache(t *testing.T) {
	dir := folder(t, map[string]string{"a": "1", "b": "2"})
	old := time.Now().Add(-time.Hour)
	for _, f := range []string{"a", "b"} {
		if err := os.Chtimes(filepath.Join(dir, f), old, old); err != nil {
			t.Fatal(err)
		}
	}
	h := home.Home(t.TempDir())
	c := tree.OpenCache(h)
	want, _ := tree.Hash(dir, tree.Options{Cache: c})
	if err := c.Save(h); err != nil {
		t.Fatal(err)
	}
	c = tree.OpenCache(h)
	got, err := tree.Hash(dir, tree.Options{Cache: c})
	if err != nil || got.Digest() != want.Digest() {
		t.Errorf("got %v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	fresh, _ := tree.Hash(dir, tree.Options{})
	if got, _ := tree.Hash(dir, tree.Options{Cache: c}); got.Digest() != fresh.Digest() {
		t.Error("the cache hides a change")
	}
}

// BenchmarkHash compares hashing a folder with SHA-256 over the same bytes read
// from the same file, and with a folder in which nothing has changed.
func BenchmarkHash(b *testing.B) {
	const size = 32 << 20
	dir := folder(b, map[string]string{"a": strings.Repeat("x", size)})
	hash := func(b *testing.B, o tree.Options) {
		if _, err := tree.Hash(dir, o); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("folder", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			hash(b, tree.Options{})
		}
	})
	b.Run("sha256", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			data, err := os.ReadFile(filepath.Join(dir, "a"))
			if err != nil {
				b.Fatal(err)
			}
			sha256.Sum256(data)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		// What was written just now may be written again within the same tick.
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "a"), old, old); err != nil {
			b.Fatal(err)
		}
		c := tree.OpenCache(home.Home(b.TempDir()))
		hash(b, tree.Options{Cache: c})
		for b.Loop() {
			hash(b, tree.Options{Cache: c})
		}
	})
}

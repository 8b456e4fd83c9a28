package lock_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/schemas"
)

const digest = "zt1:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func sample() *lock.File {
	return &lock.File{Extensions: map[string]lock.Entry{
		"zeta": {Digest: digest, Source: "vendored:.zot/extensions/zeta", Transport: "wasi", Permissions: &policies.Grant{Tools: []string{"b", "a"}, NetConnect: []string{"a.b:443"}}},
		"alfa": {Version: "1.0.0", Digest: digest, Source: "git+https://h/r", Ref: "main", Commit: strings.Repeat("a", 40),
			Platforms: map[string]string{"linux/arm64": digest}, Transport: "subprocess", Permissions: &policies.Grant{All: true},
			Descriptors: "sha256:" + strings.Repeat("0", 64)},
	}}
}

func TestWritingAgainGivesNoDifference(t *testing.T) {
	h := home.Home(t.TempDir())
	path := h.LockFile()
	if changed, err := sample().Save(h, path); err != nil || !changed {
		t.Fatalf("%t, %v", changed, err)
	}
	text, _ := os.ReadFile(path)
	if problems := schemas.Validate("lock", text); len(problems) > 0 {
		t.Errorf("%v in\n%s", problems, text)
	}
	f, err := lock.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := f.Save(h, path); err != nil || changed {
		t.Errorf("%t, %v", changed, err)
	}
	if again, _ := f.Bytes(); string(again) != string(text) {
		t.Errorf("got\n%s\nwant\n%s", again, text)
	}
	if _, err := lock.Load(h.Path("none")); !errors.Is(err, lock.ErrNone) {
		t.Errorf("got %v", err)
	}
}

func TestFaultsHavePlaces(t *testing.T) {
	good, _ := sample().Bytes()
	for spoil, want := range map[string]string{
		`"version": 1`:                `x.json:`,
		`"source": "git+https://h/r"`: `x.json:`,
	} {
		text := strings.Replace(string(good), spoil, strings.Replace(spoil, ":", "s:", 1), 1)
		_, err := lock.Parse("x.json", []byte(text))
		var fe *schemas.FileError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), want) || fe.Problems[0].Line == 0 {
			t.Errorf("%s: got %v", spoil, err)
		}
	}
	for text, want := range map[string]string{
		"{\n<<<<<<< ours\n}": "x.json:2:1: two versions of the lock were merged",
		"{\"version\": 1":    "x.json:1:",
		`{"version": 1, "extensions": {}, "extensions": {}}`:                                                            "is there twice",
		`{"version": 2, "extensions": {}}`:                                                                              "x.json:1:13",
		`{"version": 1, "extensions": {"a": {"source": "https://h/r", "transport": "wasi", "permissions": {}}}}`:        "x.json:1:",
		`{"version": 1, "extensions": {"../a": {"source": "git+https://h/r", "transport": "wasi", "permissions": {}}}}`: "x.json",
	} {
		_, err := lock.Parse("x.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestFacts(t *testing.T) {
	f := sample()
	found := lock.Found{Name: "Alfa", Source: "https://H:443/r.git", Digest: digest, Descriptors: "sha256:" + strings.Repeat("0", 64), Platform: "linux/amd64"}
	facts := f.Facts(found)
	if !facts.Entry || !facts.Kept || facts.ContentDrift || facts.SourceDrift || facts.DescriptorDrift || facts.PlatformMissing || !facts.Permissions.All {
		t.Errorf("got %+v", facts)
	}
	found.Digest, found.Source, found.Descriptors = "zt1:"+strings.Repeat("0", 64), "ssh://git@h/r", ""
	facts = f.Facts(found)
	if !facts.ContentDrift || !facts.SourceDrift || !facts.DescriptorDrift {
		t.Errorf("got %+v", facts)
	}
	if facts := f.Facts(lock.Found{Name: "x"}); facts.Entry || !facts.Kept {
		t.Errorf("got %+v", facts)
	}
	var none *lock.File
	if facts := none.Facts(found); facts.Kept {
		t.Errorf("got %+v", facts)
	}
}

func TestDescriptors(t *testing.T) {
	a, _ := lock.Descriptors(json.RawMessage(`{"tools": [{"name": "x", "description": "<do>"}]}`))
	b, _ := lock.Descriptors(json.RawMessage(`{"tools":[{"description":"<do>","name":"x"}]}`))
	c, _ := lock.Descriptors(json.RawMessage(`{"tools":[{"description":"<do >","name":"x"}]}`))
	if a != b || a == c || !strings.HasPrefix(a, "sha256:") {
		t.Errorf("%s %s %s", a, b, c)
	}
	if none, err := lock.Descriptors(nil); none != "" || err != nil {
		t.Errorf("%s %v", none, err)
	}
}

func TestStore(t *testing.T) {
	src := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "lib/a": 0o644} {
		path := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	s := lock.Store{Dir: filepath.Join(t.TempDir(), "store")}
	d, tr, err := s.Put(src)
	if err != nil || len(tr.Files) != 2 {
		t.Fatalf("%v, %v", tr, err)
	}
	t.Cleanup(func() { _ = s.Remove(d) })
	if err := os.WriteFile(filepath.Join(s.Dir, "origins.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Digests(); err != nil || !slices.Equal(all, []string{d}) {
		t.Errorf("the store lists %v, %v", all, err)
	}
	if none, err := (lock.Store{Dir: filepath.Join(s.Dir, "none")}).Digests(); err != nil || len(none) != 0 {
		t.Errorf("a store that is not there lists %v, %v", none, err)
	}
	dir, err := s.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := s.Put(src); err != nil || again != d {
		t.Errorf("%s, %v", again, err)
	}
	left, _ := filepath.Glob(filepath.Join(s.Dir, ".new-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if info, _ := os.Stat(filepath.Join(dir, "lib")); runtime.GOOS != "windows" && info.Mode().Perm() != 0o500 {
		t.Errorf("folders of the store can be written: %v", info.Mode())
	}
	if info, _ := os.Stat(filepath.Join(dir, "run.sh")); runtime.GOOS != "windows" && info.Mode().Perm() != 0o500 {
		t.Errorf("a program lost its flag or can be written: %v", info.Mode())
	}

	spoil := filepath.Join(dir, "lib", "a")
	if err := errors.Join(os.Chmod(spoil, 0o600), os.WriteFile(spoil, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var drift *lock.DriftError
	if _, err := s.Open(d); !errors.As(err, &drift) {
		t.Errorf("a file that was changed: %v", err)
	}
	if again, _, err := s.Put(src); err != nil || again != d {
		t.Errorf("putting it back: %s, %v", again, err)
	}
	if _, err := s.Open(d); err != nil {
		t.Errorf("after putting it back: %v", err)
	}
	if err := s.Remove(d); err != nil || s.Has(d) {
		t.Errorf("removed: %v", err)
	}
	if _, err := s.Open(d); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Path("zt1:../../x"); err == nil {
		t.Error("a digest must not lead out of the store")
	}
}

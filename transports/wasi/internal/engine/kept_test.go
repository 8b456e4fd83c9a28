//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"testing"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

// TestKept tries every call on folders that are closed or fixed, by name, in
// another case, through links and by moving what holds them.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"fixed/sub/file", "closed/file", "open/file", "deep/closed/file"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("as it was"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"open/tofixed": "../fixed", "toclosed": "closed", "open/file2": "../fixed/sub/file"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := openJail(t, dir)
	r.kept = newKept([]string{"closed", "deep/closed"}, []string{"fixed"})
	open := func(name string, flag experimental.Oflag) experimental.Errno {
		f, errno := r.OpenFile(name, flag, 0o644)
		if errno == 0 {
			_ = f.Close()
		}
		return errno
	}
	const write = experimental.O_WRONLY | experimental.O_CREAT
	for _, try := range []struct {
		what  string
		errno experimental.Errno
		want  experimental.Errno
	}{
		{"write fixed", open("fixed/sub/file", write), experimental.EROFS},
		{"write fixed in another way", open("open/../fixed/./sub/file", write), experimental.EROFS},
		{"truncate fixed", open("fixed/sub/file", experimental.O_RDWR|experimental.O_TRUNC), experimental.EROFS},
		{"create in fixed", open("fixed/new", write), experimental.EROFS},
		{"write through a link to a folder", open("open/tofixed/sub/file", write), experimental.EROFS},
		{"write through a link to a file", open("open/file2", write), experimental.EROFS},
		{"mkdir in fixed", r.Mkdir("fixed/d", 0o755), experimental.EROFS},
		{"unlink in fixed", r.Unlink("fixed/sub/file"), experimental.EROFS},
		{"rmdir in fixed", r.Rmdir("fixed/sub"), experimental.EROFS},
		{"touch fixed", r.Utimens("fixed/sub/file", 0, 0), experimental.EROFS},
		{"move fixed away", r.Rename("fixed", "other"), experimental.EROFS},
		{"move into fixed", r.Rename("open/file", "fixed/file"), experimental.EROFS},
		{"move over fixed", r.Rename("open", "fixed"), experimental.EROFS},
		{"move what holds closed", r.Rename("deep", "other"), experimental.EROFS},
		{"read closed", open("closed/file", 0), experimental.EPERM},
		{"open closed", open("closed", experimental.O_DIRECTORY), experimental.EPERM},
		{"read closed through a link", open("toclosed/file", 0), experimental.EPERM},
		{"read closed deep down", open("deep/closed/file", 0), experimental.EPERM},
		{"look at closed", second(r.Stat("closed/file")), experimental.EPERM},
		{"look at closed itself", second(r.Lstat("closed")), experimental.EPERM},
		{"write closed", open("closed/file", write), experimental.EPERM},
		{"read fixed", open("fixed/sub/file", 0), 0},
		{"read open", open("open/file", 0), 0},
		{"write open", open("open/file3", write), 0},
		{"move open", r.Rename("open/file3", "open/file4"), 0},
		{"unlink a link to fixed", r.Unlink("open/file2"), 0},
	} {
		if try.errno != try.want {
			t.Errorf("%s: %v, want %v", try.what, try.errno, try.want)
		}
	}
	for _, name := range []string{"fixed/sub/file", "closed/file", "deep/closed/file"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "as it was" {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "fixed")); len(entries) != 1 {
		t.Errorf("fixed holds %v", entries)
	}
	if errno := open("FIXED/new", write); errno != experimental.EROFS {
		t.Errorf("another case: %v", errno) // one folder on some systems, so judged as one on all
	}
}

func second[A any](_ A, errno experimental.Errno) experimental.Errno { return errno }

// TestNamesThatAreFixedAnywhere tries to plant a folder by its name.
func TestNamesThatAreFixedAnywhere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".git/hooks", "a/skills", "b", "a/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := openJail(t, dir)
	r.kept = newKept(nil, []string{"**/.git", "**/.zot", "**/.claude/skills"})
	open := func(name string) experimental.Errno {
		f, errno := r.OpenFile(name, experimental.O_WRONLY|experimental.O_CREAT, 0o644)
		if errno == 0 {
			_ = f.Close()
		}
		return errno
	}
	for _, try := range []struct {
		what  string
		errno experimental.Errno
		want  experimental.Errno
	}{
		{"a hook", open(".git/hooks/pre-commit"), experimental.EROFS},
		{"in another case", open("a/.GIT/config"), experimental.EROFS},
		{"a folder of that name", r.Mkdir("b/.zot", 0o755), experimental.EROFS},
		{"a file of that name", open("b/.git"), experimental.EROFS},
		{"move to that name", r.Rename("b", "a/.zot"), experimental.EROFS},
		{"move away", r.Rename("a/.git", "b/git"), experimental.EROFS},
		{"half of a name is free", r.Mkdir("b/.claude", 0o755), 0},
		{"the other half is not", r.Mkdir("b/.claude/skills", 0o755), experimental.EROFS},
		{"move the other half", r.Rename("a/skills", "b/.claude/skills"), experimental.EROFS},
		{"move what holds the other half", r.Rename("a", ".claude"), experimental.EROFS},
		{"anything else", open("a/x"), 0},
		{"a name that only looks like it", open("b/x.git"), 0},
	} {
		if try.errno != try.want {
			t.Errorf("%s: %v, want %v", try.what, try.errno, try.want)
		}
	}
}

package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
)

// aged sets when a session was written last.
func aged(t *testing.T, path string, ago time.Duration) {
	t.Helper()
	when := at.Add(-ago)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func TestEachFolderHasItsOwn(t *testing.T) {
	st := newStore(t)
	root := t.TempDir()
	one, two := filepath.Join(root, "one"), filepath.Join(root, "two")
	if err := os.Mkdir(one, 0o755); err != nil {
		t.Fatal(err)
	}
	older := closed(t, create(t, st, one, user("older")))
	newer := closed(t, create(t, st, one, user("newer")))
	other := closed(t, create(t, st, two, user("other")))
	aged(t, older, 2*time.Hour)
	aged(t, newer, time.Hour)
	aged(t, other, 0)

	if got, err := st.Latest(one); err != nil || got.First != "newer" {
		t.Errorf("latest of one: %q, %v", got.First, err)
	}
	if got, err := st.Latest(filepath.Join(one, "sub")); !errors.Is(err, ErrNotFound) {
		t.Errorf("a sub-folder continues %q, %v", got.First, err)
	}
	infos, errs := st.List(one)
	if len(infos) != 2 || infos[0].First != "newer" || errs != nil {
		t.Errorf("list of one: %+v, %v", infos, errs)
	}
	if all, _ := st.ListAll(); len(all) != 3 || all[0].First != "other" {
		t.Errorf("all: %+v", all)
	}
	got, err := st.Latest(two)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *FolderError
	if err := got.CheckFolder(one); !errors.As(err, &wrong) || !wrong.Gone || !strings.Contains(err.Error(), two) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a vanished folder: %v", err)
	}
	if got, _ = st.Latest(one); got.CheckFolder(one+"/") != nil {
		t.Error("its own folder is refused")
	}
	if err := got.CheckFolder(two); err == nil || strings.Contains(err.Error(), "gone") {
		t.Errorf("another folder: %v", err)
	}
}

func TestFind(t *testing.T) {
	st := newStore(t)
	a := create(t, st, "/a", user("a"))
	b := create(t, st, "/b", user("b"))
	closed(t, a)
	closed(t, b)
	for _, ref := range []string{a.meta.ID, a.meta.ID[:4], a.meta.ID[:12], filepath.Base(a.path), strings.TrimSuffix(filepath.Base(a.path), ext), a.path} {
		if got, err := st.Find(ref); err != nil || got.ID != a.meta.ID {
			t.Errorf("%s: got %q, %v", ref, got.ID, err)
		}
	}
	for _, ref := range []string{a.meta.ID[:3], "zzzz", a.meta.ID + "0", ""} {
		if _, err := st.Find(ref); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v, want ErrNotFound", ref, err)
		}
	}
	for _, s := range []*Session{a, b} { // the same id in two folders
		text := bytes.ReplaceAll(read(t, s.path), []byte(s.meta.ID), []byte("12345678-0000"))
		path := filepath.Join(filepath.Dir(s.path), "20260101-000000-12345678.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := st.Find("1234")
	var many *AmbiguousError
	if !errors.As(err, &many) || len(many.Sessions) != 2 || !strings.Contains(err.Error(), "/a") {
		t.Errorf("got %v, want an AmbiguousError with both", err)
	}
}

// counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	n int64
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.n += int64(n)
	return n, err
}

func TestListingReadsOnlyTheEnds(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/p", user("the first prompt"))
	if err := s.Rename("named early"); err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		for _, m := range []message.Message{user(fmt.Sprintf("prompt %d", i)), answer(strings.Repeat("x", 5000))} {
			if err := s.Append(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := closed(t, s)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(len(read(t, path)))
	c, sc := &counter{ReaderAt: f}, &scan{}
	if err := sc.read(c, size); err != nil {
		t.Fatal(err)
	}
	if c.n > 64<<10 {
		t.Errorf("read %d bytes of %d, want at most 64 KiB", c.n, size)
	}
	if sc.info.Title != "named early" || sc.info.First != "the first prompt" || sc.info.Last != "prompt 399" || sc.info.Messages != -1 {
		t.Errorf("listing: %+v", sc.info)
	}
}

func TestAHugeFirstPromptHasAPreview(t *testing.T) {
	st := newStore(t)
	for _, text := range []string{strings.Repeat("ab\"é\n", 12_000), strings.Repeat("\x01", 60_000), "x" + strings.Repeat("😀", 15_000)} {
		path := closed(t, create(t, st, "/p", user(text), answer("y")))
		info, err := st.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		want := []rune(oneLine(text))
		if len(want) > 0 && !strings.HasPrefix(info.First, string(want[:50])) {
			t.Errorf("preview %.80q of %.20q", info.First, text)
		}
	}
}

func TestForkAndTree(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/p", rich...)
	if err := s.Rename("source"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []message.Message{answer("four"), user("five")} {
		if err := s.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ordinal, want int
		cwd           string
	}{{-1, 5, ""}, {4, 4, ""}, {2, 3, "/elsewhere"}, {99, 5, ""}} {
		info, err := st.Fork(s.Path(), c.ordinal, c.cwd)
		if err != nil {
			t.Fatal(err)
		}
		l := mustLoad(t, st, info.Path)
		if len(l.Messages) != c.want || info.Parent != s.meta.ID || info.ForkPoint != c.want || info.ID == s.meta.ID || info.Title != "source" {
			t.Errorf("fork at %d: %d messages, %+v", c.ordinal, len(l.Messages), info.Meta)
		}
		if diff := cmp.Diff(rich, l.Messages[:3]); diff != "" || len(l.Notices) != 0 {
			t.Errorf("fork at %d lost content: %s %q", c.ordinal, diff, l.Notices)
		}
		if c.cwd != "" && (info.Cwd != c.cwd || info.CheckFolder(c.cwd) != nil) {
			t.Errorf("fork is in %q", info.Cwd)
		}
	}
	if _, err := st.Fork(s.Path(), 0, ""); err == nil {
		t.Error("a fork without a message was made")
	}
	closed(t, s)
	infos, errs := st.ListAll()
	if len(infos) != 5 || errs != nil {
		t.Fatalf("%d sessions, %v", len(infos), errs)
	}
	roots := Tree(infos)
	if len(roots) != 1 || len(roots[0].Forks) != 4 {
		t.Errorf("tree: %d roots", len(roots))
	}
	circle := Tree([]Info{{Meta: Meta{ID: "a", Parent: "b"}}, {Meta: Meta{ID: "b", Parent: "a"}}, {Meta: Meta{ID: "c", Parent: "c"}}})
	n := 0
	var walk func([]*Node)
	walk = func(ns []*Node) {
		for _, node := range ns {
			n++
			walk(node.Forks)
		}
	}
	if walk(circle); n != 3 {
		t.Errorf("%d of 3 sessions of a circle are in the tree", n)
	}
}

func TestExportAndImport(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "/secret/folder", rich...)
	if err := s.Rename("t"); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(user("summary"), 3); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := st.Export(closed(t, s), &out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "/secret/folder") || strings.Contains(out.String(), `"blob"`) {
		t.Error("the export names the folder, or a file beside it")
	}
	other := newStore(t)
	text := strings.Replace(out.String(), "\n", "\n{damaged\n", 1)
	info, notices, err := other.Import(strings.NewReader(text), "/there")
	if err != nil {
		t.Fatal(err)
	}
	if info.ID == s.meta.ID || info.Cwd != "/there" || info.Model != "m" || info.Title != "t" || len(notices) != 1 {
		t.Errorf("imported %+v, notices %q", info.Meta, notices)
	}
	l := mustLoad(t, other, info.Path)
	if diff := cmp.Diff(append([]message.Message{user("summary")}, rich...), l.Messages); diff != "" {
		t.Errorf("messages (-exported +imported):\n%s", diff)
	}
	if info.Size > 20<<10 {
		t.Errorf("%d bytes: large content is in the file", info.Size)
	}
}

func TestImportsOfStrangers(t *testing.T) {
	st := newStore(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	meta := `{"type":"meta","meta":{"id":"x","model":"m","provider":"p","started":"","version":""}}` + "\n"
	text := meta + fmt.Sprintf(`{"type":"message","message":{"role":"user","content":[{"text":"a","blob":%q},{"text":"b","blob":"../../secret"}],"time":""}}`, secret) + "\n"
	info, _, err := st.Import(strings.NewReader(text), "/p")
	if err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, st, info.Path).Messages[0].Text(); strings.Contains(got, "precious") {
		t.Errorf("a file was read: %q", got)
	}
	for name, bad := range map[string]string{"nothing": "", "no session": "hello\nworld\n", "no message": meta} {
		if _, _, err := st.Import(strings.NewReader(bad), "/p"); err == nil {
			t.Errorf("%s: imported", name)
		}
	}
	if files, _ := filesIn(st.Folder("/p")); len(files) != 1 {
		t.Errorf("%d files are left, want the good one", len(files))
	}
}

func TestPrune(t *testing.T) {
	st := newStore(t)
	big := func(b byte) message.Message {
		return message.Message{Role: message.User, Content: []message.Block{message.Image{MIMEType: "image/png", Data: bytes.Repeat([]byte{b}, 50_000)}}}
	}
	old := closed(t, create(t, st, "/p", user("old"), big(1), big(2)))
	kept := closed(t, create(t, st, "/p", user("kept"), big(2)))
	open := create(t, st, "/p", user("open"))
	defer open.Close()
	aged(t, old, 100*time.Hour)
	aged(t, open.Path(), 90*time.Hour)
	aged(t, kept, time.Hour)
	blobDir := string(blobsOf(old))
	entries, _ := os.ReadDir(blobDir)
	for _, e := range entries {
		aged(t, filepath.Join(blobDir, e.Name()), 100*time.Hour)
	}
	dry, err := st.Prune(PruneOptions{OlderThan: 48 * time.Hour, DryRun: true})
	if err != nil || len(dry.Sessions) != 2 || !exists(old) {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	got, err := st.Prune(PruneOptions{OlderThan: 48 * time.Hour})
	if err != nil || len(got.Sessions) != 1 || got.Sessions[0].First != "old" || len(got.InUse) != 1 || got.Bytes < 50_000 {
		t.Errorf("pruned %+v, %v", got, err)
	}
	if l := mustLoad(t, st, kept); len(l.Notices) != 0 {
		t.Errorf("the kept one lost an image: %q", l.Notices)
	}
	if entries, _ := os.ReadDir(blobDir); len(entries) != 1 {
		t.Errorf("%d blobs are left, want 1", len(entries))
	}
	if got, err := st.Prune(PruneOptions{}); err != nil || len(got.Sessions) != 0 {
		t.Errorf("without conditions: %+v, %v", got, err)
	}
	closed(t, open)
	if got, err := st.Prune(PruneOptions{Keep: 1, Cwd: "/p"}); err != nil || len(got.Sessions) != 1 {
		t.Errorf("keeping one: %+v, %v", got, err)
	}
}

func TestRenameOfAClosedSession(t *testing.T) {
	st := newStore(t)
	path := closed(t, create(t, st, "/p", rich...))
	if err := st.Rename(path, "new\x1b[31m name"); err != nil {
		t.Fatal(err)
	}
	info, err := st.Stat(path)
	if err != nil || info.Name() != "new[31m name" {
		t.Errorf("name %q, %v", info.Name(), err)
	}
	if diff := cmp.Diff(rich, mustLoad(t, st, path).Messages); diff != "" {
		t.Errorf("renaming changed the messages:\n%s", diff)
	}
	if infos, _ := st.List("/p"); !slices.ContainsFunc(infos, func(i Info) bool { return i.Path == path }) {
		t.Error("it is not listed")
	}
}

package trust_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/schemas"
)

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func perms(t *testing.T, text string) *policies.Grant {
	t.Helper()
	g, err := policies.ParsePermissions(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// project makes a project with one extension, and returns its root and a
// function that scans it as it is.
func project(t *testing.T) (root string, scan func(permissions string) *trust.Bundle) {
	root = t.TempDir()
	write(t, root, ".zot/config.json", "{}")
	write(t, root, ".zot/extensions/todo/extension.json", "{}")
	write(t, root, ".zot/extensions/todo/run.py", "print()")
	write(t, root, ".zot/local/notes.txt", "mine")
	return root, func(permissions string) *trust.Bundle {
		t.Helper()
		b, err := trust.Scan(root, trust.Sources{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.Extensions["todo"] = trust.Extension{Dir: ".zot/extensions/todo", Start: `["./run.py"]`, Permissions: perms(t, permissions)}
		b.Settings = []string{`model="m"`}
		return b
	}
}

const both = `{"net": {"connect": ["a.example:443", "b.example:443"]}}`

func TestNoSecondQuestionWhileNothingWidened(t *testing.T) {
	root, scan := project(t)
	id := trust.Identify(root, "")
	store := trust.Store{Home: home.Home(t.TempDir())}
	if r, err := store.Lookup(id); r != nil || err != nil {
		t.Fatalf("%v, %v", r, err)
	}
	first := scan(both)
	var none *trust.Record
	if c := none.Compare(first); c.None() || len(c.Started) != 1 || len(c.Rights["todo"]) != 2 || len(c.Settings) != 1 {
		t.Errorf("everything is new: %+v", c)
	}
	if err := store.Approve(id, trust.NewRecord(id, first, time.Now())); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(store.Home.TrustFile())
	if problems := schemas.Validate("trust", text); len(problems) > 0 {
		t.Errorf("%v in\n%s", problems, text)
	}
	r, err := store.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Compare(scan(both)); !c.None() {
		t.Errorf("the same: %+v", c)
	}
	write(t, root, ".zot/local/notes.txt", "other")
	if c := r.Compare(scan(both)); !c.None() {
		t.Errorf("a note of the user's own: %+v", c)
	}

	// A commit that only takes a permission away.
	write(t, root, ".zot/extensions/todo/extension.json", `{"less": 1}`)
	less := scan(`{"net": {"connect": ["a.example:443"]}}`)
	if c := r.Compare(less); !c.None() {
		t.Errorf("narrowed: %+v", c)
	}
	if rights, changed := r.Approval("todo", less); rights == nil || changed != nil {
		t.Errorf("narrowed: %v, %v", rights, changed)
	}
	// One more host: the question shows that host alone.
	more := scan(`{"net": {"connect": ["a.example:443", "b.example:443", "c.example:443"]}}`)
	c := r.Compare(more)
	if len(c.Rights["todo"]) != 1 || c.Rights["todo"][0].String() != "net.connect c.example:443" || len(c.Files)+len(c.Started)+len(c.Settings) > 0 {
		t.Errorf("widened: %+v", c)
	}
	if rights, _ := r.Approval("todo", more); rights.Covers(policies.NetConnect, "c.example:443") || !rights.Covers(policies.NetConnect, "a.example:443") {
		t.Errorf("the approval must hold what it did: %+v", rights)
	}

	found, err := store.Revoke(id)
	if r, _ := store.Lookup(id); !found || err != nil || r != nil {
		t.Errorf("revoked: %t, %v, %v", found, err, r)
	}
}

func TestOneByteBehindAnUnchangedManifest(t *testing.T) {
	root, scan := project(t)
	id := trust.Identify(root, "")
	r := trust.NewRecord(id, scan(both), time.Now())
	write(t, root, ".zot/extensions/todo/run.py", "print(1)")
	b := scan(both)
	c := r.Compare(b)
	if strings.Join(c.Files, " ") != ".zot/extensions/todo/run.py" {
		t.Errorf("got %+v", c)
	}
	if rights, changed := r.Approval("todo", b); rights != nil || strings.Join(changed, " ") != ".zot/extensions/todo/run.py" {
		t.Errorf("got %v, %v", rights, changed)
	}
	write(t, root, ".zot/extensions/todo/run.py", "print()")
	b = scan(both)
	b.Extensions["todo"] = trust.Extension{Dir: ".zot/extensions/todo", Start: `["sh","-c","x"]`, Permissions: perms(t, both)}
	b.Digest = "zb1:other"
	if rights, _ := r.Approval("todo", b); rights != nil || len(r.Compare(b).Started) != 1 {
		t.Error("another way of starting must be asked about")
	}
	if err := os.Remove(filepath.Join(root, ".zot/extensions/todo/run.py")); err != nil {
		t.Fatal(err)
	}
	if c := r.Compare(scan(both)); len(c.Files) != 1 {
		t.Errorf("a file that is gone: %+v", c)
	}
}

// Whoever is interrupted while it approves leaves what was approved before.
func TestAnApprovalThatIsInterruptedLeavesTheOneBefore(t *testing.T) {
	root, scan := project(t)
	id := trust.Identify(root, "")
	store := trust.Store{Home: home.Home(t.TempDir())}
	first := trust.NewRecord(id, scan(both), time.Now())
	if err := store.Approve(id, first); err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(store.Home.TrustFile())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".zot/extensions/todo/run.py", "changed")
	write(t, store.Home.Dir(), "trust.json", "{ not json") // it fails where it writes the record
	if err := store.Approve(id, trust.NewRecord(id, scan(both), time.Now())); err == nil {
		t.Fatal("approved")
	}
	write(t, store.Home.Dir(), "trust.json", string(record))
	if got, err := store.Lookup(id); err != nil || got == nil || got.Digest != first.Digest {
		t.Errorf("%v, %v", got, err)
	}
}

func TestADamagedStoreApprovesNothing(t *testing.T) {
	root, scan := project(t)
	id := trust.Identify(root, "")
	store := trust.Store{Home: home.Home(t.TempDir())}
	r := trust.NewRecord(id, scan(both), time.Now())
	if err := store.Approve(id, r); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(store.Home.ProjectDir(id.ID), "approved-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	write(t, store.Home.ProjectDir(id.ID), filepath.Base(files[0]), "{}")
	if got, err := store.Lookup(id); got != nil || err == nil {
		t.Errorf("got %v, %v", got, err)
	}
	broken := "{ not json"
	write(t, store.Home.Dir(), "trust.json", broken)
	if got, err := store.Lookup(id); got != nil || err == nil {
		t.Errorf("got %v, %v", got, err)
	}
	if err := store.Approve(id, r); err == nil {
		t.Error("a broken file must not be written over")
	}
	if text, _ := os.ReadFile(store.Home.TrustFile()); string(text) != broken {
		t.Errorf("file holds %s", text)
	}
}

func TestScanRefusesLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	root, _ := project(t)
	if err := os.Symlink("/etc", filepath.Join(root, ".zot/extensions/evil")); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Scan(root, trust.Sources{}, nil); err == nil || !strings.Contains(err.Error(), "extensions/evil is a link") {
		t.Errorf("got %v", err)
	}
	other := t.TempDir()
	if err := os.Symlink(root, filepath.Join(other, ".zot")); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Scan(other, trust.Sources{}, nil); err == nil {
		t.Error("a .zot that is a link must be refused")
	}
	if _, err := trust.Scan(t.TempDir(), trust.Sources{Folders: []string{"../x"}}, nil); err == nil {
		t.Error("a folder outside must be refused")
	}
	if b, err := trust.Scan(t.TempDir(), trust.Sources{}, nil); err != nil || len(b.Files) != 0 {
		t.Errorf("a project with nothing: %v, %v", b, err)
	}
}

func TestIdentity(t *testing.T) {
	base := t.TempDir()
	repo := filepath.Join(base, "repo")
	write(t, repo, ".git/HEAD", "ref: x")
	write(t, repo, "sub/.zot/config.json", "{}")
	write(t, repo, "nested/.git/HEAD", "ref: x")
	tree := filepath.Join(base, "tree")
	write(t, tree, ".git", "gitdir: "+filepath.Join(repo, ".git/worktrees/tree")+"\n")
	write(t, repo, ".git/worktrees/tree/gitdir", filepath.Join(tree, ".git")+"\n")
	write(t, repo, ".git/worktrees/tree/commondir", "../..\n")
	// A folder that claims to be a work tree, and that the repository does not
	// know.
	fake := filepath.Join(base, "fake")
	write(t, fake, ".git", "gitdir: "+filepath.Join(repo, ".git/worktrees/tree")+"\n")
	plain := filepath.Join(base, "plain")
	write(t, plain, "x", "")

	id := func(dir string) string { return trust.Identify(filepath.Join(base, dir), base).ID }
	if id("repo") != id("tree") {
		t.Error("a work tree must share trust")
	}
	seen := map[string]string{}
	for _, dir := range []string{"repo", "repo/sub", "repo/nested", "fake", "plain"} {
		if other, ok := seen[id(dir)]; ok {
			t.Errorf("%s and %s have one identity", dir, other)
		}
		seen[id(dir)] = dir
	}
	if !trust.Identify(base, base).Session || !trust.Identify("/", base).Session || trust.Identify(repo, base).Session {
		t.Error("home and the root of the file system are for a session")
	}
	store := trust.Store{Home: home.Home(filepath.Join(base, "home"))}
	if err := store.Approve(trust.Identify(base, base), &trust.Record{}); err == nil {
		t.Error("the home folder must not be approved for good")
	}
}

func TestIdentityAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	base := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, tree := filepath.Join(base, "repo"), filepath.Join(base, "tree")
	run("init", "-q", repo)
	run("-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	run("-C", repo, "worktree", "add", "-q", tree)
	if a, b := trust.Identify(repo, ""), trust.Identify(tree, ""); a.ID != b.ID || a.Repository == "" {
		t.Errorf("%+v and %+v", a, b)
	}
}

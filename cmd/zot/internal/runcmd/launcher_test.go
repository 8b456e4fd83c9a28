package runcmd

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/transports"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A file that is swapped between the decision and the start is not what was
// decided about.
func TestAFileThatIsSwappedBeforeTheStart(t *testing.T) {
	dir := t.TempDir()
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	folder := filepath.Join(home, "extensions", "todo")
	marker := filepath.Join(dir, "marker")
	t.Cleanup(func() { // the store's folders cannot be written
		_ = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(path, 0o755)
			}
			return err
		})
	})
	writeFile(t, filepath.Join(folder, "extension.json"), `{"name": "todo", "exec": "./run.sh"}`)
	writeFile(t, filepath.Join(folder, "run.sh"), "#!/bin/sh\n")
	writeFile(t, filepath.Join(home, "config.json"), `{"policy": {"mode": "pinned"}}`)
	writeFile(t, filepath.Join(project, "x"), "")

	w, err := workspace.Open(workspace.Options{Home: home, CWD: project})
	if err != nil {
		t.Fatal(err)
	}
	_, g, err := w.Judge(nil, false, "")
	if err != nil {
		t.Fatal(err)
	}
	lockUser(t, w, g)
	if w, err = w.Again(); err != nil {
		t.Fatal(err)
	}
	plan := (&planner{w: w}).plan()
	if len(plan.Entries) != 1 {
		t.Fatalf("plan is %+v", plan)
	}
	writeFile(t, filepath.Join(folder, "run.sh"), "#!/bin/sh\ntouch "+marker+"\n")
	conn, err := plan.Entries[0].Launch(context.Background(), io.Discard)
	if err == nil {
		conn.Stop(context.Background(), transports.Grace{})
	}
	if err == nil || !strings.Contains(err.Error(), "changed while it was being started") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it ran")
	}
}

// lockUser pins the user's extensions as they are.
func lockUser(t *testing.T, w *workspace.Workspace, g *gate.Gate) {
	t.Helper()
	plan, _, err := w.Judge(nil, false, "")
	if err != nil {
		t.Fatal(err)
	}
	f := &lock.File{Extensions: map[string]lock.Entry{}}
	for _, c := range plan.Candidates {
		f.Extensions[c.Name] = lock.Entry{
			Digest: g.DigestOf(c), Source: g.Claimed(c), Transport: string(c.Manifest.Transport), Permissions: g.Bound(c).Asked(),
		}
	}
	if _, err := f.Save(w.Home, w.Home.LockFile()); err != nil {
		t.Fatal(err)
	}
}

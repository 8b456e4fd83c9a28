package confinement

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
)

func TestARightToTheProjectKeepsItsRepositoryAndWhatDecides(t *testing.T) {
	root, state := home.Real(t.TempDir()), home.Real(t.TempDir())
	data := filepath.Join(state, "data", "x")
	for _, dir := range []string{filepath.Join(root, ".git", "refs"), filepath.Join(root, "sub"), data} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k := Keep{Project: root, Home: home.Home(state), Data: data}
	kept := []string{"**/.git", "**/.zot", "**/.claude/skills", "**/.agents/skills"}
	for dir, want := range map[string]bool{
		root: true, filepath.Join(root, "sub"): true, filepath.Dir(root): true, data: false, t.TempDir(): false,
	} {
		mounts := Mounts(&policies.Grant{FSWrite: []string{dir}}, k, policies.Limits{})
		if len(mounts) != 1 || mounts[0].ReadOnly {
			t.Fatalf("%s: %+v", dir, mounts)
		}
		for _, name := range kept {
			if slices.Contains(mounts[0].Fixed, name) != want {
				t.Errorf("%s: %s is kept: %v", dir, name, !want)
			}
		}
	}
	// Named by itself, a repository is open.
	named := Mounts(&policies.Grant{FSWrite: []string{filepath.Join(root, ".git")}}, k, policies.Limits{})
	if len(named) != 1 || named[0].ReadOnly {
		t.Errorf("%+v", named)
	}
	if zot := Mounts(&policies.Grant{FSWrite: []string{state}}, k, policies.Limits{}); len(zot) != 1 || !zot[0].ReadOnly {
		t.Errorf("zot's own folder is open to nobody: %+v", zot)
	}
}

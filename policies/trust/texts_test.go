package trust_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/policies/trust"
)

// sources are what a project has for a model besides .zot, seen from its root
// and from a folder below.
var (
	fromRoot  = trust.Sources{Texts: []string{".claude/skills", ".agents/skills"}, Files: []string{"AGENTS.md"}}
	fromBelow = trust.Sources{Texts: []string{".claude/skills", ".agents/skills", "sub/.claude/skills"}, Files: []string{"AGENTS.md", "sub/AGENTS.md"}}
)

func texts(t *testing.T, root string, s trust.Sources) *trust.Bundle {
	t.Helper()
	b, err := trust.Scan(root, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func link(t *testing.T, root, target, name string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path)
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
}

func TestWhatAModelIsToldCountsByItsBytes(t *testing.T) {
	root := t.TempDir()
	write(t, root, "AGENTS.md", "be brief")
	write(t, root, ".claude/skills/look/SKILL.md", "look")
	write(t, root, ".claude/skills/look/helper.sh", "ls")
	first := texts(t, root, fromRoot)
	r := trust.NewRecord(trust.Identity{}, first, time.Now())
	skill, folder := ".claude/skills/look/SKILL.md", ".claude/skills/look"
	if !r.Vouches(first, skill, folder) || !r.Vouches(first, "AGENTS.md", "") || r.Vouches(first, "README.md", "") {
		t.Error("what was approved, and no more")
	}

	write(t, root, ".claude/skills/look/helper.sh", "rm")
	write(t, root, ".agents/skills/new/SKILL.md", "new")
	now := texts(t, root, fromRoot)
	if c := r.Compare(now); !slices.Equal(c.Files, []string{".agents/skills/new/SKILL.md", ".claude/skills/look/helper.sh"}) {
		t.Errorf("changed and new: %+v", c)
	}
	if r.Vouches(now, skill, folder) || !r.Vouches(now, skill, "") || r.Vouches(now, ".agents/skills/new/SKILL.md", "") {
		t.Error("a skill is all of its folder")
	}

	// One that is taken away asks nothing.
	if err := os.RemoveAll(filepath.Join(root, ".claude")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, ".agents")); err != nil {
		t.Fatal(err)
	}
	if c := r.Compare(texts(t, root, fromRoot)); !c.None() {
		t.Errorf("fewer: %+v", c)
	}
}

func TestApprovalsFromSeveralFoldersAddUp(t *testing.T) {
	root := t.TempDir()
	write(t, root, "AGENTS.md", "root")
	write(t, root, "sub/AGENTS.md", "sub")
	write(t, root, "sub/.claude/skills/x/SKILL.md", "x")
	below := texts(t, root, fromBelow)
	r := trust.NewRecord(trust.Identity{}, below, time.Now())

	write(t, root, "AGENTS.md", "root, changed")
	above := texts(t, root, fromRoot)
	if c := r.Compare(above); !slices.Equal(c.Files, []string{"AGENTS.md"}) {
		t.Fatalf("%+v", c)
	}
	again := trust.NewRecord(trust.Identity{}, above, time.Now())
	again.Keep(r, above)
	if c := again.Compare(texts(t, root, fromBelow)); !c.None() {
		t.Errorf("it was approved from below before: %+v", c)
	}
	write(t, root, "AGENTS.md", "root")
	if c := again.Compare(texts(t, root, fromRoot)); c.None() {
		t.Error("what was approved in place of something else does not stay")
	}
}

func TestLinksAmongTexts(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, outside, "SKILL.md", "theirs")
	write(t, root, "shared/skills/a/SKILL.md", "a")
	write(t, root, "CLAUDE.md", "be brief")
	link(t, root, "../../shared/skills/a", ".claude/skills/a")
	link(t, root, "../.claude/skills", ".agents/skills")
	link(t, root, "CLAUDE.md", "AGENTS.md")
	link(t, root, outside, ".claude/skills/out")
	link(t, root, "nowhere", ".claude/skills/gone")
	link(t, root, ".", ".claude/skills/loop")
	b := texts(t, root, fromRoot)
	r := trust.NewRecord(trust.Identity{}, b, time.Now())
	for _, p := range []string{".claude/skills/a/SKILL.md", ".agents/skills/a/SKILL.md", "AGENTS.md"} {
		if !r.Vouches(b, p, "") {
			t.Errorf("%s is not in %v", p, b.Files)
		}
	}
	if r.Vouches(b, ".claude/skills/out/SKILL.md", "") {
		t.Error("what lies outside is not the project's")
	}
	said := strings.Join(b.Skipped, "\n")
	for _, want := range []string{".claude/skills/out leads out of the project", ".claude/skills/gone leads nowhere"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said in\n%s", want, said)
		}
	}

	// The bytes behind a link, and the link, count.
	write(t, root, "shared/skills/a/SKILL.md", "a, changed")
	if c := r.Compare(texts(t, root, fromRoot)); !slices.Contains(c.Files, ".claude/skills/a/SKILL.md") {
		t.Errorf("%+v", c)
	}
	write(t, root, "shared/skills/a/SKILL.md", "a")
	write(t, root, "shared/skills/b/SKILL.md", "a")
	link(t, root, "../../shared/skills/b", ".claude/skills/a")
	if c := r.Compare(texts(t, root, fromRoot)); !slices.Contains(c.Files, ".claude/skills/a -> ../../shared/skills/b") {
		t.Errorf("%+v", c)
	}
}

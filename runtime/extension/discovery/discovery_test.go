package discovery

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/patriceckhart/zot/config/home"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a home and a project in temporary folders.
type world struct {
	t             *testing.T
	home, project string
}

func newWorld(t *testing.T) world {
	return world{t, t.TempDir(), t.TempDir()}
}

func (w world) options() Options {
	return Options{Home: w.home, ProjectDir: w.project, CWD: w.project}
}

func (w world) put(dir, text string) string {
	w.t.Helper()
	must(w.t, os.MkdirAll(dir, 0o755))
	must(w.t, os.WriteFile(filepath.Join(dir, "extension.json"), []byte(text), 0o644))
	return dir
}

func (w world) inHome(folder, text string) string {
	w.t.Helper()
	return w.put(filepath.Join(w.home, "extensions", folder), text)
}

func (w world) inProject(folder, text string) string {
	w.t.Helper()
	return w.put(filepath.Join(w.project, ".zot", "extensions", folder), text)
}

func named(name string) string { return fmt.Sprintf(`{"name":%q,"exec":"./x"}`, name) }

func off(name string) string { return fmt.Sprintf(`{"name":%q,"exec":"./x","enabled":false}`, name) }

// summary is a plan as one line for each candidate: scope name folder state.
func summary(p Plan) []string {
	var lines []string
	for _, c := range p.Candidates {
		line := fmt.Sprintf("%s %s %s %s", c.Scope, c.Name, c.Folder, c.State)
		if c.By != nil {
			line += " by " + string(c.By.Scope)
		}
		lines = append(lines, line)
	}
	return lines
}

func expect(t *testing.T, p Plan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, summary(p)); diff != "" {
		t.Error(diff)
	}
}

func TestRankIsFlagThenProjectThenHome(t *testing.T) {
	w := newWorld(t)
	w.inHome("1", named("zeta"))
	w.inHome("2", named("Alpha"))
	w.inHome("3", named("beta"))
	w.inProject("x", named("zeta"))
	w.inProject("y", named("gamma"))
	one, two := w.put(filepath.Join(w.project, "one"), named("one")), w.put(filepath.Join(w.project, "two"), named("BETA"))
	o := w.options()
	o.Explicit = []string{two, "./one", filepath.Join(one, "extension.json")}
	o.ExtraDirs = []string{filepath.Dir(w.put(filepath.Join(t.TempDir(), "more"), named("more")))}
	expect(t, Find(o),
		"flag BETA two load", "flag one one load", "flag one one shadowed by flag",
		"project gamma y load", "project zeta x load",
		"global Alpha 2 load", "global beta 3 shadowed by flag", "global zeta 1 shadowed by project",
		"extra more more load")

	o.NoDiscovery = true
	expect(t, Find(o), "flag BETA two load", "flag one one load", "flag one one shadowed by flag")
}

func TestWhatCannotLoadHidesNothing(t *testing.T) {
	w := newWorld(t)
	w.inProject("a", off("a"))
	w.inProject("b", `{"name":"b",`)
	w.inProject("c", named("c"))
	w.inProject("d", `{"name":"d","exec":"x","minZot":"9.0.0"}`)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.inHome(name, named(name))
	}
	o := w.options()
	o.ZotVersion = "0.1.0"
	o.Hold = func(c *Candidate) string {
		if c.Scope == ScopeProject {
			return "the project is not trusted"
		}
		return ""
	}
	p := Find(o)
	expect(t, p,
		"project a a disabled", "project b b invalid", "project c c held", "project d d invalid",
		"global a a load", "global b b load", "global c c load", "global d d load")
	reasons := []string{"disabled in extension.json", "its manifest has a fault (ZP083)", "the project is not trusted", "it needs a newer zot"}
	for i, want := range reasons {
		if p.Candidates[i].Reason != want {
			t.Errorf("%s: reason %q, want %q", p.Candidates[i].Name, p.Candidates[i].Reason, want)
		}
	}
	if err := p.Candidates[1].Err; err == nil || !strings.Contains(err.Error(), "extension.json:1:13: ") {
		t.Errorf("invalid without a place: %v", err)
	}
	if len(p.Loading()) != 4 {
		t.Errorf("loading %v", p.Loading())
	}
}

func TestTwoFoldersWithOneName(t *testing.T) {
	w := newWorld(t)
	w.inHome("b", named("same"))
	w.inHome("a", named("SAME"))
	p := Find(w.options())
	expect(t, p, "global SAME a load", "global same b shadowed by global")
	if want := "SAME in " + filepath.Join(w.home, "extensions", "a") + " comes first"; p.Candidates[1].Reason != want {
		t.Errorf("reason %q, want %q", p.Candidates[1].Reason, want)
	}
}

func TestFoldersThatAreNoExtensions(t *testing.T) {
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Join(w.home, "extensions", "leftover"), 0o755))
	must(t, os.WriteFile(filepath.Join(w.home, "extensions", "file"), nil, 0o644))
	w.inHome(".staging-1", named("staged"))
	expect(t, Find(w.options()))

	o := w.options()
	o.Explicit = []string{filepath.Join(w.home, "extensions", "leftover"), "nope"}
	p := Find(o)
	expect(t, p, "flag leftover leftover invalid", "flag nope nope invalid")
	if !strings.Contains(p.Candidates[0].Err.Error(), filepath.Join("leftover", "extension.json")) || p.Candidates[0].Reason != "it has no manifest" {
		t.Errorf("%v, %q", p.Candidates[0].Err, p.Candidates[0].Reason)
	}
}

func TestLinks(t *testing.T) {
	w := newWorld(t)
	real := w.put(filepath.Join(t.TempDir(), "work"), named("work"))
	dir := filepath.Join(w.home, "extensions")
	must(t, os.MkdirAll(dir, 0o755))
	if err := os.Symlink(real, filepath.Join(dir, "linked")); err != nil {
		t.Skip("no links here:", err)
	}
	must(t, os.Symlink("gone", filepath.Join(dir, "broken")))
	p := Find(w.options())
	expect(t, p, "global work linked load")
	if p.Candidates[0].Link != home.Real(real) {
		t.Errorf("link leads to %q, want %q", p.Candidates[0].Link, home.Real(real))
	}
	o := w.options()
	o.NoLinks = true
	expect(t, Find(o), "global work linked held")
}

func TestSwitchesConcernTheProjectAlone(t *testing.T) {
	w := newWorld(t)
	w.inProject("a", named("a"))
	w.inProject("b", off("b"))
	w.inHome("a", named("a"))
	must(t, SetSwitch(w.home, w.project, "A", false))
	must(t, SetSwitch(w.home, w.project, "b", true))
	s, err := ReadSwitches(w.home, w.project)
	must(t, err)
	o := w.options()
	o.Switches = s
	p := Find(o)
	expect(t, p, "project a a disabled", "project b b load", "global a a load")
	if p.Candidates[0].Reason != "disabled by you for this project" {
		t.Error(p.Candidates[0].Reason)
	}
	other, err := ReadSwitches(w.home, t.TempDir())
	must(t, err)
	if _, set := other.Of(ScopeProject, "a"); set {
		t.Error("another project has the switch too")
	}
}

func TestSwitchOfTheUsersOwnLeavesItsFilesAlone(t *testing.T) {
	w := newWorld(t)
	w.inProject("a", named("a"))
	w.inHome("a", named("a"))
	must(t, SetSwitch(w.home, "", "A", false))
	s, err := ReadSwitches(w.home, w.project)
	must(t, err)
	o := w.options()
	o.Switches = s
	p := Find(o)
	expect(t, p, "project a a load", "global a a disabled")
	if p.Candidates[1].Reason != "disabled by you" {
		t.Error(p.Candidates[1].Reason)
	}
}

func TestSwitchFileSurvives(t *testing.T) {
	w := newWorld(t)
	path := switchesPath(w.home, w.project)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(`{"extensions": {"x": {"later": 1}}}`), 0o600))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := SetSwitch(w.home, w.project, fmt.Sprint("e", i), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(path)
	must(t, err)
	if n := strings.Count(string(text), `"enabled": false`); n != 20 || !strings.Contains(string(text), `"later": 1`) {
		t.Errorf("%d of 20 switches in\n%s", n, text)
	}
	must(t, os.WriteFile(path, []byte(`{broken`), 0o600))
	if err := SetSwitch(w.home, w.project, "a", true); err == nil {
		t.Error("wrote over a file that it could not read")
	}
	if text, _ := os.ReadFile(path); string(text) != `{broken` {
		t.Errorf("now %s", text)
	}
}

func TestLookupByNameFolderAndPath(t *testing.T) {
	w := newWorld(t)
	w.inHome("a", named("b"))
	w.inHome("c", named("a"))
	w.inProject("z", named("A"))
	p := Find(w.options())
	for name, want := range map[string]string{
		"a": "z a c", "C": "c", "none": "", "b": "a", filepath.Join(w.home, "extensions", "a") + "/": "a",
	} {
		var got []string
		for _, c := range p.Lookup(name) {
			got = append(got, c.Folder)
		}
		sort.Strings(got)
		wanted := strings.Fields(want)
		sort.Strings(wanted)
		if diff := cmp.Diff(wanted, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Lookup(%q): %s", name, diff)
		}
	}
}

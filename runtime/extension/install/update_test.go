package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

// installedDemo installs demo 1.0.0 and makes its source 2.0.0.
func installedDemo(t *testing.T) (o Options, source, target string) {
	t.Helper()
	o = Options{Home: t.TempDir()}
	source = demo(t, "demo", "1.0.0", "gone/old.txt", "old")
	result, err := Install(context.Background(), o, source)
	must(t, err)
	write(t, source, "extension.json", "{\n  \"name\": \"demo\",\n  \"version\": \"2.0.0\",\n  \"exec\": \"./run.sh\"\n}\n",
		"lib/a.txt", "a 2.0.0", "lib/b.txt", "b 2.0.0")
	must(t, os.RemoveAll(filepath.Join(source, "gone")))
	return o, source, result.Dir
}

func updateDemo(t *testing.T, o Options, force bool) (Result, error) {
	t.Helper()
	return Update(context.Background(), UpdateOptions{Options: o, Force: force}, pick(t, o.Home, "demo"))
}

func TestUpdateKeepsState(t *testing.T) {
	o, source, target := installedDemo(t)
	write(t, target, "todos.json", "mine", "cache/deep/x", "y", "lib/notes", "n")
	must(t, os.MkdirAll(filepath.Join(target, "empty"), 0o755))
	if _, err := SetEnabled(o.Home, "", pick(t, o.Home, "demo"), false); err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenFile(filepath.Join(target, "todos.json"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer open.Close()

	result, err := updateDemo(t, o, false)
	if runtime.GOOS == "windows" && err != nil {
		t.Skip("a folder with an open file cannot be exchanged there")
	}
	must(t, err)
	if !result.Changed || result.Version != "2.0.0" {
		t.Errorf("%+v", result)
	}
	if diff := cmp.Diff([]string{"cache/deep/x", "lib/notes", "todos.json"}, result.Kept); diff != "" {
		t.Error(diff)
	}
	_, err = open.WriteString(" and more") // an extension that still runs
	must(t, err)

	want := tree(t, source)
	want["todos.json"], want[filepath.FromSlash("cache/deep/x")], want[filepath.FromSlash("lib/notes")] = "mine and more", "y", "n"
	want["extension.json"] = "{\n  \"name\": \"demo\",\n  \"version\": \"2.0.0\",\n  \"exec\": \"./run.sh\",\n  \"enabled\": false\n}\n"
	if diff := cmp.Diff(want, tree(t, target)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(target, "empty")); err != nil {
		t.Error("the extension's empty folder is gone")
	}
	if _, err := os.Stat(filepath.Join(target, "gone")); err == nil {
		t.Error("a folder of the old version is still there")
	}
	if diff := cmp.Diff([]string{".origins", "demo"}, entries(t, o.Home)); diff != "" {
		t.Error(diff)
	}
	again, err := updateDemo(t, o, false)
	must(t, err)
	if again.Changed || again.Note != "is up to date" {
		t.Errorf("%+v", again)
	}
}

// State wins over a file of that name in the new version, and stays state.
func TestUpdateDoesNotOverwriteState(t *testing.T) {
	o, source, target := installedDemo(t)
	write(t, target, "settings.json", "mine")
	write(t, source, "settings.json", "theirs")
	_, err := updateDemo(t, o, false)
	must(t, err)
	write(t, target, "settings.json", "mine again")
	write(t, source, "lib/c.txt", "c", "settings.json", "theirs again")
	_, err = updateDemo(t, o, false)
	must(t, err)
	if got := tree(t, target); got["settings.json"] != "mine again" || got[filepath.FromSlash("lib/c.txt")] != "c" {
		t.Errorf("%v", got)
	}
	again, err := updateDemo(t, o, false)
	must(t, err)
	if again.Changed {
		t.Errorf("%+v", again)
	}
}

func TestChangedFilesStopAnUpdate(t *testing.T) {
	o, _, target := installedDemo(t)
	write(t, target, "lib/a.txt", "edited")
	must(t, os.Remove(filepath.Join(target, "gone", "old.txt")))
	before := tree(t, target)
	_, err := updateDemo(t, o, false)
	var changed *ChangedError
	if !errors.As(err, &changed) || cmp.Diff([]string{"gone/old.txt", "lib/a.txt"}, changed.Files) != "" || !strings.Contains(err.Error(), "--force") {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, target)); diff != "" {
		t.Error(diff)
	}
	result, err := updateDemo(t, o, true)
	must(t, err)
	got := tree(t, target)
	if got[filepath.FromSlash("lib/a.txt")] != "a 2.0.0" || got[filepath.FromSlash("lib/a.txt.local")] != "edited" {
		t.Errorf("%v", got)
	}
	if diff := cmp.Diff([]string{"lib/a.txt.local"}, result.Kept); diff != "" {
		t.Error(diff)
	}
}

func TestForceRestoresAnUnchangedSource(t *testing.T) {
	o := Options{Home: t.TempDir()}
	result, err := Install(context.Background(), o, demo(t, "demo", "1.0.0"))
	must(t, err)
	write(t, result.Dir, "run.sh*", "edited")
	if r, err := updateDemo(t, o, false); err != nil || r.Changed {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := updateDemo(t, o, true); err != nil || !r.Changed {
		t.Errorf("%+v, %v", r, err)
	}
	if got := tree(t, result.Dir); !strings.HasSuffix(got["run.sh"], "# 1.0.0") || !strings.HasSuffix(got["run.sh.local"], "edited") {
		t.Errorf("%v", got)
	}
}

func TestFailedUpdateKeepsTheOldVersion(t *testing.T) {
	t.Cleanup(func() { testOnlyStep = nil })
	tests := map[string]struct {
		break_ func(t *testing.T, source string, o *UpdateOptions)
		want   string
	}{
		"invalid manifest": {func(t *testing.T, source string, _ *UpdateOptions) {
			write(t, source, "extension.json", `{"name":"demo","exec":5}`)
		}, "extension.json:1:23: exec must be a string"},
		"other name": {func(t *testing.T, source string, _ *UpdateOptions) {
			write(t, source, "extension.json", `{"name":"other","exec":"./run.sh"}`)
		}, `is called "other" in its new version`},
		"program gone": {func(t *testing.T, source string, _ *UpdateOptions) {
			must(t, os.Remove(filepath.Join(source, "run.sh")))
		}, "is not there"},
		"source gone": {func(t *testing.T, source string, _ *UpdateOptions) {
			must(t, os.RemoveAll(source))
		}, "which cannot be read any more"},
		"does not start": {func(t *testing.T, _ string, o *UpdateOptions) {
			o.Check = func(context.Context, *manifest.Manifest) error { return errors.New("exit status 3") }
		}, `the new version of "demo" was not taken: exit status 3`},
		"full disk": {func(*testing.T, string, *UpdateOptions) {
			testOnlyStep = func(step string) error {
				if step == "copy lib/b.txt" {
					return syscall.ENOSPC
				}
				return nil
			}
		}, "no space left on device"},
		"folder where state is a file": {func(t *testing.T, source string, o *UpdateOptions) {
			write(t, filepath.Join(o.Home, "extensions", "demo"), "data", "state")
			write(t, source, "data/x", "x")
		}, "keeping data: the new version has a folder of the name of this file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, source, target := installedDemo(t)
			uo := UpdateOptions{Options: o}
			tt.break_(t, source, &uo)
			before := tree(t, o.Home)
			_, err := Update(context.Background(), uo, pick(t, o.Home, "demo"))
			testOnlyStep = nil
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), stagingPrefix) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if diff := cmp.Diff(before, tree(t, o.Home)); diff != "" {
				t.Errorf("%s: %s", target, diff)
			}
		})
	}
}

func TestUpdateOfWhatWasNotInstalled(t *testing.T) {
	o := Options{Home: t.TempDir()}
	write(t, filepath.Join(o.Home, "extensions", "demo"), "extension.json", `{"name":"demo","exec":"x"}`)
	if _, err := updateDemo(t, o, false); err == nil || !strings.Contains(err.Error(), "is not recorded") {
		t.Error(err)
	}
	project := t.TempDir()
	write(t, filepath.Join(project, ".zot", "extensions", "mine"), "extension.json", `{"name":"mine","exec":"x"}`)
	c, err := Pick(discovery.Find(discovery.Options{ProjectDir: project}), "mine", "")
	must(t, err)
	if _, err := Update(context.Background(), UpdateOptions{Options: o}, c); err == nil || !strings.Contains(err.Error(), "update it there") {
		t.Error(err)
	}
}

// Systems that cannot exchange two folders rename twice; an interruption in
// between is mended by the next operation.
func TestReplaceInTwoSteps(t *testing.T) {
	t.Cleanup(func() { testOnlyStep = nil })
	newStage := func(t *testing.T) (*staging, string) {
		h := home.Home(t.TempDir())
		work, err := stage(h)
		must(t, err)
		target := filepath.Join(h.ExtensionsDir(), "demo")
		write(t, target, "version", "old")
		write(t, work.path(treeDir), "version", "new")
		return work, target
	}
	work, target := newStage(t)
	must(t, work.replaceInTwo(target, "demo"))
	if tree(t, target)["version"] != "new" || tree(t, work.path(oldDir))["version"] != "old" {
		t.Error("not exchanged")
	}
	work.clear()
	must(t, Tidy(work.home.Dir()))
	if tree(t, target)["version"] != "new" {
		t.Error("tidying undid a finished exchange")
	}

	work, target = newStage(t)
	testOnlyStep = func(string) error { return errors.New("broken") }
	if err := work.replaceInTwo(target, "demo"); err == nil || tree(t, target)["version"] != "old" {
		t.Errorf("%v, %v", err, tree(t, target))
	}

	testOnlyStep = nil
	work, target = newStage(t)
	testOnlyStep = func(string) error { panic("killed") }
	func() {
		defer func() { _ = recover() }()
		_ = work.replaceInTwo(target, "demo")
	}()
	testOnlyStep = nil
	must(t, work.lock.Unlock()) // as the end of the process does
	must(t, Tidy(work.home.Dir()))
	if got := tree(t, target)["version"]; got != "old" || len(entries(t, work.home.Dir())) != 1 {
		t.Errorf("version %q, %v", got, entries(t, work.home.Dir()))
	}
}

func TestSetEnabledLeavesOtherBytesAlone(t *testing.T) {
	for before, after := range map[string]string{
		`{"name":"a","exec":"x"}`: `{"name":"a","exec":"x", "enabled": false}`,
		"{\r\n\t// why\r\n\t\"name\": \"a\",\r\n\t\"exec\": \"x\",\r\n}\r\n":             "{\r\n\t// why\r\n\t\"name\": \"a\",\r\n\t\"exec\": \"x\",\r\n\t\"enabled\": false,\r\n}\r\n",
		"\ufeff{\"enabled\" :  true , \"name\":\"a\", \"exec\":\"x\", \"zzz\": [1,  2]}": "\ufeff{\"enabled\" :  false , \"name\":\"a\", \"exec\":\"x\", \"zzz\": [1,  2]}",
		`{"name":"a","enabled":null,"exec":"x"}`:                                         `{"name":"a","enabled":false,"exec":"x"}`,
	} {
		zotHome := t.TempDir()
		dir := filepath.Join(zotHome, "extensions", "a")
		write(t, dir, "extension.json", before)
		file := filepath.Join(dir, "extension.json")
		must(t, os.Chmod(file, 0o640))
		if changed, err := SetEnabled(zotHome, "", pick(t, zotHome, "a"), true); err != nil || changed {
			t.Errorf("enable what is enabled: %v, %v", changed, err)
		}
		if text, _ := os.ReadFile(file); string(text) != before {
			t.Errorf("written for nothing: %q", text)
		}
		if changed, err := SetEnabled(zotHome, "", pick(t, zotHome, "a"), false); err != nil || !changed {
			t.Errorf("%v, %v", changed, err)
		}
		text, _ := os.ReadFile(file)
		if string(text) != after {
			t.Errorf("got  %q\nwant %q", text, after)
		}
		if info, _ := os.Stat(file); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("mode %o", info.Mode().Perm())
		}
		if changed, err := SetEnabled(zotHome, "", pick(t, zotHome, "a"), true); err != nil || !changed || !pick(t, zotHome, "a").Manifest.Enabled {
			t.Errorf("%v, %v", changed, err)
		}
	}
}

func TestSetEnabledOfABrokenManifest(t *testing.T) {
	zotHome := t.TempDir()
	write(t, filepath.Join(zotHome, "extensions", "a"), "extension.json", `{"name":"a",,}`)
	if _, err := SetEnabled(zotHome, "", pick(t, zotHome, "a"), false); err == nil || !strings.Contains(err.Error(), "extension.json:1:13") {
		t.Error(err)
	}
	if got := tree(t, filepath.Join(zotHome, "extensions", "a"))["extension.json"]; got != `{"name":"a",,}` {
		t.Errorf("written over: %s", got)
	}
}

func TestProjectExtensionsAreSwitchedForTheUserAlone(t *testing.T) {
	zotHome, project := t.TempDir(), t.TempDir()
	write(t, filepath.Join(project, ".zot", "extensions", "a"), "extension.json", `{"name":"a","exec":"x"}`)
	before := tree(t, project)
	find := func() *discovery.Candidate {
		s, err := discovery.ReadSwitches(zotHome, project)
		must(t, err)
		c, err := Pick(discovery.Find(discovery.Options{Home: zotHome, ProjectDir: project, Switches: s}), "a", "")
		must(t, err)
		return c
	}
	for _, on := range []bool{false, true} {
		if changed, err := SetEnabled(zotHome, project, find(), on); err != nil || !changed {
			t.Errorf("%v, %v", changed, err)
		}
		if loads := find().State == discovery.Load; loads != on {
			t.Errorf("switched %v, loads %v", on, loads)
		}
		if changed, err := SetEnabled(zotHome, project, find(), on); err != nil || changed {
			t.Errorf("again: %v, %v", changed, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, project)); diff != "" {
		t.Error(diff)
	}
}

func TestRemove(t *testing.T) {
	o, _, target := installedDemo(t)
	write(t, filepath.Join(o.Home, "extensions", "folder"), "extension.json", `{"name":"hand-made","exec":"x"}`)
	must(t, Remove(o.Home, pick(t, o.Home, "DEMO")))
	if _, err := os.Lstat(target); err == nil {
		t.Error("still there")
	}
	if _, known, err := OriginOf(o.Home, "demo"); known || err != nil {
		t.Error("still recorded", err)
	}
	must(t, Remove(o.Home, pick(t, o.Home, "hand-made")))
	if diff := cmp.Diff([]string{".origins"}, entries(t, o.Home)); diff != "" {
		t.Error(diff)
	}
}

func TestRemoveOfAProjectAndOfALink(t *testing.T) {
	zotHome, project, work := t.TempDir(), t.TempDir(), demo(t, "work", "1")
	write(t, filepath.Join(project, ".zot", "extensions", "a"), "extension.json", `{"name":"a","exec":"x"}`)
	must(t, os.MkdirAll(filepath.Join(zotHome, "extensions"), 0o755))
	if err := os.Symlink(work, filepath.Join(zotHome, "extensions", "link")); err != nil {
		t.Skip("no links here:", err)
	}
	plan := discovery.Find(discovery.Options{Home: zotHome, ProjectDir: project})
	for _, name := range []string{"a", "work"} {
		c, err := Pick(plan, name, "")
		must(t, err)
		must(t, Remove(zotHome, c))
		if _, err := os.Lstat(c.Dir); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if len(tree(t, work)) != 3 {
		t.Error("what the link led to was removed")
	}
	if list, _ := os.ReadDir(filepath.Join(project, ".zot", "extensions")); len(list) > 0 {
		t.Errorf("left in the project: %v", list)
	}
}

func TestNothingOutsideIsRemoved(t *testing.T) {
	zotHome, elsewhere := t.TempDir(), demo(t, "a", "1")
	for _, c := range []*discovery.Candidate{
		{Scope: discovery.ScopeGlobal, Name: "a", Dir: elsewhere},
		{Scope: discovery.ScopeFlag, Name: "a", Dir: elsewhere},
		{Scope: discovery.ScopeExtra, Name: "a", Dir: elsewhere},
		{Scope: discovery.ScopeProject, Name: "a", Dir: elsewhere},
		{Scope: discovery.ScopeGlobal, Name: "a", Dir: filepath.Join(zotHome, "extensions", "..")},
		{Scope: discovery.ScopeGlobal, Name: "a", Dir: filepath.Join(zotHome, "extensions")},
		{Scope: discovery.ScopeGlobal, Name: "a", Dir: filepath.Join(zotHome, "extensions", ".origins")},
	} {
		if err := Remove(zotHome, c); err == nil || !strings.Contains(err.Error(), "not removed by it") {
			t.Errorf("%s: %v", c.Dir, err)
		}
	}
	if len(tree(t, elsewhere)) != 3 {
		t.Error("removed")
	}
}

func TestAmbiguousNamesAreRefused(t *testing.T) {
	zotHome, project := t.TempDir(), t.TempDir()
	write(t, filepath.Join(zotHome, "extensions", "a"), "extension.json", `{"name":"b","exec":"x"}`)
	write(t, filepath.Join(zotHome, "extensions", "c"), "extension.json", `{"name":"a","exec":"x"}`)
	write(t, filepath.Join(project, ".zot", "extensions", "c"), "extension.json", `{"name":"c","exec":"x"}`)
	plan := discovery.Find(discovery.Options{Home: zotHome, ProjectDir: project})
	_, err := Pick(plan, "a", "")
	var several *AmbiguousError
	if !errors.As(err, &several) || len(several.Candidates) != 2 || !strings.Contains(err.Error(), filepath.Join(zotHome, "extensions", "c")) {
		t.Error(err)
	}
	if c, err := Pick(plan, filepath.Join(zotHome, "extensions", "c"), ""); err != nil || c.Name != "a" {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := Pick(plan, "c", discovery.ScopeProject); err != nil || c.Name != "c" {
		t.Errorf("%v, %v", c, err)
	}
	_, err = Pick(plan, "bb", "")
	if want := `no extension is called "bb"; did you mean "b"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

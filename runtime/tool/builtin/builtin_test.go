package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// A bench is a folder with the tools set on it.
type bench struct {
	t     *testing.T
	dir   string
	tools map[string]tool.Tool
}

func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{CWD: dir, Home: filepath.Join(dir, "home")}
	for _, c := range change {
		c(&o)
	}
	b := &bench{t: t, dir: dir, tools: map[string]tool.Tool{}}
	all := New(o)
	t.Cleanup(func() { Close(all) })
	for _, tl := range all {
		b.tools[tl.Spec().Name] = tl
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) file(name, content string) string {
	b.t.Helper()
	p := b.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) link(name, target string) {
	b.t.Helper()
	if err := os.Symlink(filepath.FromSlash(target), b.path(name)); err != nil {
		b.t.Skipf("this system does not let us make links: %v", err)
	}
}

func (b *bench) holds(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	if string(got) != want {
		b.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

// only checks that the folder has these entries and no others, such as
// temporary files.
func (b *bench) only(names ...string) {
	b.t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		b.t.Errorf("the folder has %q, want %q", got, names)
	}
}

type j = map[string]any

// run calls a tool; args is JSON text or a value to encode.
func (b *bench) run(name string, args any) tool.Result {
	b.t.Helper()
	raw, ok := args.(string)
	if !ok {
		enc, err := json.Marshal(args)
		if err != nil {
			b.t.Fatal(err)
		}
		raw = string(enc)
	}
	res, err := b.tools[name].Run(context.Background(), tool.Call{ID: "1", Name: name, Args: json.RawMessage(raw)})
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// ok runs a call that has to succeed and returns its text.
func (b *bench) ok(name string, args any) string {
	b.t.Helper()
	res := b.run(name, args)
	text := message.TextOf(res.Content)
	if res.IsError || res.Status != tool.Completed {
		b.t.Fatalf("%s %v failed (%s): %s", name, args, res.Status, text)
	}
	return text
}

// fails runs a call that has to fail and wants its text to hold the parts.
func (b *bench) fails(name string, args any, parts ...string) string {
	b.t.Helper()
	res := b.run(name, args)
	text := message.TextOf(res.Content)
	if !res.IsError {
		b.t.Fatalf("%s %v succeeded: %s", name, args, text)
	}
	has(b.t, text, parts...)
	return text
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

func edit(path string, pairs ...string) j {
	var list []j
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, j{"oldText": pairs[i], "newText": pairs[i+1]})
	}
	return j{"path": path, "edits": list}
}

func TestSpecs(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"read", "write", "edit", "bash"} {
		tl, ok := b.tools[name]
		if !ok {
			t.Fatalf("there is no tool %q", name)
		}
		spec := tl.Spec()
		var schema struct{ Type string }
		if err := json.Unmarshal(spec.Schema, &schema); err != nil || schema.Type != "object" {
			t.Errorf("%s: schema of type %q, %v", name, schema.Type, err)
		}
		if spec.Description == "" || strings.ContainsAny(strings.ReplaceAll(spec.Description, "{oldText, newText}", ""), "{}") {
			t.Errorf("%s: description has something left to fill in:\n%s", name, spec.Description)
		}
		if _, ok := tl.(tool.Accessor); !ok {
			t.Errorf("%s is no Accessor", name)
		}
		if _, ok := tl.(tool.Previewer); !ok {
			t.Errorf("%s is no Previewer", name)
		}
	}
}

// TestOnePathRule uses every form of a path with every tool on files.
func TestOnePathRule(t *testing.T) {
	const accent = "caf\u00e9.txt"
	for _, form := range []struct{ name, given, real string }{
		{"plain", "f.txt", "f.txt"},
		{"dot", "./f.txt", "f.txt"},
		{"home", "~/f.txt", "home/f.txt"},
		{"trailing space", "f.txt ", "f.txt"},
		{"mention", "@f.txt", "f.txt"},
		{"url", "URL", "f.txt"},
		{"accent", accent, "cafe\u0301.txt"},
		{"through a link", "l/f.txt", "home/f.txt"},
	} {
		t.Run(form.name, func(t *testing.T) {
			b := newBench(t)
			b.file(form.real, "one\ntwo\n")
			b.file("home/other", "")
			b.link("l", "home")
			given, real := form.given, b.path(form.real)
			if given == "URL" {
				given = "file://" + filepath.ToSlash(real)
				if runtime.GOOS == "windows" {
					given = "file:///" + filepath.ToSlash(real)
				}
			}
			got := b.ok("read", j{"path": given})
			has(t, got, "one\ntwo\n")
			if form.name != "plain" && form.name != "dot" {
				has(t, got, real)
			}
			has(t, b.ok("edit", edit(given, "two", "2")), real)
			b.holds(form.real, "one\n2\n")
			has(t, b.ok("write", j{"path": given, "content": "new\n"}), real)
			b.holds(form.real, "new\n")
		})
	}
}

func TestAccessKeysMeet(t *testing.T) {
	b := newBench(t)
	b.file("f", "")
	b.link("l", "f")
	key := func(name, path string) tool.Access {
		raw, _ := json.Marshal(j{"path": path})
		got := b.tools[name].(tool.Accessor).Accesses(raw)
		if len(got) != 1 {
			t.Fatalf("Accesses of %s %s: %v", name, path, got)
		}
		return got[0]
	}
	if a, z := key("edit", "f"), key("write", "./l"); a != z || !a.Write {
		t.Errorf("edit f has %v and write of a link to it %v", a, z)
	}
	if a, z := key("read", "f"), key("read", "g"); a.Key == z.Key || a.Write {
		t.Errorf("read f has %v, read g %v", a, z)
	}
	got := b.tools["bash"].(tool.Accessor).Accesses(nil)
	if len(got) != 1 || got[0] != (tool.Access{Key: "*", Write: true}) {
		t.Errorf("bash: %v", got)
	}
	if got := b.tools["edit"].(tool.Accessor).Accesses(json.RawMessage(`{}`)); got != nil {
		t.Errorf("no path: %v", got)
	}
}

func TestPreviewShowsEverything(t *testing.T) {
	b := newBench(t)
	b.file("f", "x")
	b.link("l", "f")
	preview := func(name string, args j) string {
		raw, _ := json.Marshal(args)
		line := b.tools[name].(tool.Previewer).Preview(raw)
		if strings.ContainsAny(line, "\n\r\x1b\u202e") {
			t.Errorf("preview of %s has control characters: %q", name, line)
		}
		return line
	}
	has(t, preview("bash", j{"command": "echo a\nrm -rf x\x1b[2K\u202e"}), "echo a ⏎ rm -rf x", `\x1b[2K`, `\u202e`)
	has(t, preview("write", j{"path": "l", "content": "a\nb\n"}), "write l -> "+b.path("f"), "2 lines", "replaces")
	has(t, preview("edit", edit("f", "a", "b", "c", "d")), "edit f (2 edits)")
	has(t, preview("read", j{"path": "f\x1b[1m", "offset": 5}), `\x1b[1m`, "line 5")
	has(t, preview("bash", j{"nonsense": 1}), "nonsense")
}

// TestCheckJudgesTheRealPath: what the guard is asked about is the target.
func TestCheckJudgesTheRealPath(t *testing.T) {
	type asked struct {
		op   paths.Op
		real string
	}
	var log []asked
	b := newBench(t, func(o *Options) {
		o.CheckPath = func(op paths.Op, real string) error {
			log = append(log, asked{op, real})
			if strings.Contains(real, "secret") {
				return errors.New("it is protected")
			}
			return nil
		}
	})
	b.file("secret/s", "the secret")
	b.link("innocent", "secret")
	b.link("file", "secret/s")
	calls := []struct {
		name string
		args j
		op   paths.Op
		real string
	}{
		{"read", j{"path": "file"}, paths.Read, "secret/s"},
		{"read", j{"path": "innocent/s"}, paths.Read, "secret/s"},
		{"read", j{"path": "innocent/missing"}, paths.Read, "secret/missing"},
		{"read", j{"path": "innocent"}, paths.Read, "secret"},
		{"write", j{"path": "innocent/new/file", "content": "x"}, paths.Write, "secret/new/file"},
		{"write", j{"path": "file", "content": "x"}, paths.Write, "secret/s"},
		{"edit", edit("file", "secret", "x"), paths.Read, "secret/s"},
	}
	for _, c := range calls {
		log = nil
		res := b.run(c.name, c.args)
		text := message.TextOf(res.Content)
		if !res.IsError || res.Status != tool.Blocked || strings.Contains(text, "the secret") {
			t.Errorf("%s %v: %s %q, want it blocked", c.name, c.args, res.Status, text)
		}
		has(t, text, "it is protected", b.path(c.real))
		if len(log) == 0 || log[0] != (asked{c.op, b.path(c.real)}) {
			t.Errorf("%s %v asked about %v, want %s %s", c.name, c.args, log, c.op, b.path(c.real))
		}
	}
	b.holds("secret/s", "the secret")
	if _, err := os.Stat(b.path("secret/new")); err == nil {
		t.Error("a folder was made for a write that was refused")
	}
}

func TestJailConfinesFileTools(t *testing.T) {
	b := newBench(t)
	b.file("in/f", "inside\n")
	b.file("out/s", "outside\n")
	jail, err := paths.NewJail(b.path("in"))
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	b.link("in/l", "../out")
	inner := newBench(t, func(o *Options) { o.CWD, o.Jail = b.path("in"), func() *paths.Jail { return jail } })
	has(t, inner.ok("read", j{"path": "f"}), "inside")
	inner.ok("write", j{"path": "a/b", "content": "x"})
	inner.ok("edit", edit("f", "inside", "still"))
	for _, c := range []struct {
		name string
		args j
	}{
		{"read", j{"path": "../out/s"}}, {"read", j{"path": "l/s"}}, {"read", j{"path": "l"}},
		{"write", j{"path": "l/s", "content": "x"}}, {"write", j{"path": "../x", "content": "x"}},
		{"edit", edit("l/s", "outside", "x")},
	} {
		res := inner.run(c.name, c.args)
		if res.Status != tool.Blocked {
			t.Errorf("%s %v: %s", c.name, c.args, res.Status)
		}
	}
	b.holds("out/s", "outside\n")
}

func TestMissSuggestsCloseNames(t *testing.T) {
	b := newBench(t)
	b.file("README.md", "")
	b.file("src/agent/loop.go", "")
	for given, want := range map[string]string{
		"readme.md":     `"README.md"`,
		"READMEE.md":    `"README.md"`,
		"README.txt":    `"README.md"`,
		"loop.go":       filepath.FromSlash("src/agent/loop.go"),
		"srv/agent/x":   `"src"`,
		"src/agent/lop": "loop.go",
	} {
		if _, err := os.Stat(b.path(given)); err == nil {
			continue // the file system does not tell case apart
		}
		want = strings.ReplaceAll(want, `\`, `\\`)
		b.fails("read", j{"path": given}, "does not exist", "close names", want)
		b.fails("edit", edit(given, "a", "b"), "does not exist", want)
	}
}

func TestArgumentsAreTaken(t *testing.T) {
	b := newBench(t)
	b.file("f", "1\n2\n3\n4\n")
	has(t, b.ok("read", `{"file_path":"f","offset":"2","limit":"2","extra":true}`), "2\n3\n[lines 2-3 of 4")
	has(t, b.ok("read", `{"path":"f","offset":2.0,"limit":null}`), "lines 2-4")
	b.ok("edit", `{"path":"f","old_string":"1","new_string":"one"}`)
	b.ok("edit", `{"path":"f","edits":"[{\"oldText\":\"2\",\"newText\":\"two\"}]"}`)
	b.ok("edit", `{"path":"f","edits":{"oldText":"3","newText":"three"}}`)
	b.holds("f", "one\ntwo\nthree\n4\n")
	b.ok("write", `{"path":"g.json","content":{"a": 1}}`)
	b.holds("g.json", `{"a": 1}`)
}

func TestArgumentErrorsTeach(t *testing.T) {
	b := newBench(t)
	b.file("f", "x")
	for _, c := range []struct{ tool, args, want string }{
		{"read", `{}`, `"path" is missing`},
		{"read", `[]`, "JSON object"},
		{"read", `null`, "JSON object"},
		{"read", `{"path":["f"]}`, "has to be a string"},
		{"read", `{"path":"f","offset":"x"}`, "whole number"},
		{"read", `{"path":"f","offset":-3}`, "whole number"},
		{"read", `{"path":"f","limit":1.5}`, "whole number"},
		{"read", `{"path":""}`, "empty"},
		{"write", `{"path":"f"}`, `"content" is missing`},
		{"edit", `{"path":"f"}`, `"edits" is missing`},
		{"edit", `{"path":"f","edits":[]}`, "is empty"},
		{"edit", `{"path":"f","edits":7}`, "cannot be read"},
		{"edit", `{"path":"f","edits":[{"oldText":"x"}]}`, `edit 1 of 1: the argument "newText" is missing`},
		{"edit", `{"path":"f","edits":[{"oldText":"","newText":"y"}]}`, "use the write tool"},
		{"edit", `{"path":"f","edits":[{"oldText":"x","newText":"x"}]}`, "change nothing"},
		{"edit", `{"path":"f","edits":[{"oldText":"x","newText":"y"}],"replaceAll":"maybe"}`, "true or false"},
		{"bash", `{}`, `"command" is missing`},
		{"bash", `{"command":"  "}`, "is empty"},
		{"bash", `{"command":"true","timeout":0}`, "above 0"},
		{"bash", `{"command":"true","timeout":"soon"}`, "above 0"},
	} {
		b.fails(c.tool, c.args, c.tool+": ", c.want)
	}
	b.holds("f", "x")
}

package extcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/usage"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
)

// world is a home and a project, in which zot ext is run.
type world struct {
	t             *testing.T
	home, project string
	in            string // what is typed; nobody is there where it is empty
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	must(t, os.MkdirAll(filepath.Join(w.project, ".zot"), 0o755))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) deps(s *iostreams.Streams) Deps {
	return Deps{Streams: s, Version: "0.1.0", FollowEvery: time.Millisecond,
		Open: func(home, cwd string) (*workspace.Workspace, error) {
			return workspace.Open(workspace.Options{Home: w.home, CWD: w.project, Trust: true})
		}}
}

// run runs zot ext and returns what it printed, with the paths of the world
// shortened, and its exit code. An error is the last line of errs.
func (w *world) run(args ...string) (out, errs string, code int) {
	w.t.Helper()
	streams, stdout, stderr := iostreams.Test(w.in)
	streams.InTerminal = w.in != ""
	cmd := New(w.deps(streams))
	usage.Check(cmd)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	text := stderr.String()
	if err != nil {
		text += err.Error() + "\n"
	}
	pairs := []string{w.home, "HOME", w.project, "PROJECT"}
	if runtime.GOOS == "windows" {
		pairs = append(pairs, `\`, "/")
	}
	short := strings.NewReplacer(pairs...)
	return short.Replace(stdout.String()), short.Replace(text), exit.CodeOf(err)
}

// want runs zot ext and looks for text in its answer and beside it.
func (w *world) want(code int, out, errs string, args ...string) {
	w.t.Helper()
	gotOut, gotErrs, gotCode := w.run(args...)
	if gotCode != code || !strings.Contains(gotOut, out) || !strings.Contains(gotErrs, errs) || out == "" && gotOut != "" {
		w.t.Errorf("zot ext %s:\nexit %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q",
			strings.Join(args, " "), gotCode, code, gotOut, out, gotErrs, errs)
	}
}

func (w *world) write(path, text string, mode os.FileMode) string {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), mode))
	return path
}

// source makes an extension to install from.
func (w *world) source(name, manifest string) string {
	dir := filepath.Join(w.project, name)
	w.write(filepath.Join(dir, "extension.json"), manifest, 0o644)
	w.write(filepath.Join(dir, "run.sh"), "#!/bin/sh\n", 0o755)
	return dir
}

const helloManifest = `{"name":"hello","version":"1.0.0","exec":"./run.sh","language":"shell","description":"says hello"}`

func TestFromInstallToRemove(t *testing.T) {
	w := newWorld(t)
	w.want(0, "", "no extensions installed\n", "list")
	w.source("hello", helloManifest)
	w.want(0, "installed hello 1.0.0 in HOME/extensions/hello\n", "/reload-ext", "install", "./hello")
	w.want(1, "", `extension "hello" is already installed in HOME/extensions/hello`, "install", "hello")
	w.want(0, "global  hello  1.0.0    yes      load   shell     PROJECT/hello  HOME/extensions/hello  says hello\n", "", "list")
	w.want(0, "disabled hello\n", "", "disable", "HELLO")
	w.want(0, "hello is disabled already\n", "", "disable", "hello")
	w.want(0, "hello (global) does not load: disabled in extension.json\n", "", "list")
	w.want(0, "enabled hello\n", "", "enable", "hello")
	w.want(0, "hello is up to date\n", "", "update")
	w.source("hello", strings.Replace(helloManifest, "1.0.0", "1.1.0", 1))
	w.want(0, "updated hello from 1.0.0 to 1.1.0\n", "", "update", "hello")
	w.want(2, "", "nobody is there to be asked; say --yes", "remove", "hello")
	w.in = "n\n"
	w.want(0, "", "remove HOME/extensions/hello and all that is in it? [y/N] aborted\n", "remove", "hello")
	w.in = "yes\n"
	w.want(0, "removed hello from HOME/extensions/hello\n", "", "rm", "hello")
	w.want(1, "", `no extension is called "hello"`, "remove", "-y", "hello")
}

func TestListInJSON(t *testing.T) {
	w := newWorld(t)
	w.want(0, "[]\n", "", "list", "--json")
	w.source("hello", helloManifest)
	w.run("install", "hello")
	w.source(".zot/extensions/hello", strings.Replace(helloManifest, "1.0.0", "2.0.0", 1))
	w.source(".zot/extensions/broken", `{"name":"broken","exec":5}`)
	w.source(".zot/extensions/odd", `{"name":"odd","exec":"./run.sh","excec":1}`)
	out, _, code := w.run("list", "--json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 || len(rows) != 4 {
		t.Fatalf("%v, %d\n%s", err, code, out)
	}
	for i, want := range []map[string]any{
		{"name": "broken", "scope": "project", "state": "invalid", "error": `PROJECT/.zot/extensions/broken/extension.json:1:25: exec must be a string, not a number; write it in quotes: "5"`},
		{"name": "hello", "scope": "project", "state": "load", "version": "2.0.0", "enabled": true, "kind": "protocol", "transport": "subprocess"},
		{"name": "odd", "state": "load"},
		{"name": "hello", "scope": "global", "state": "shadowed", "reason": "hello in PROJECT/.zot/extensions/hello comes first", "source": "PROJECT/hello", "dir": "HOME/extensions/hello"},
	} {
		for key, value := range want {
			if rows[i][key] != value {
				t.Errorf("row %d: %s is %v, want %v", i, key, rows[i][key], value)
			}
		}
	}
	if warnings, _ := rows[2]["warnings"].([]any); len(warnings) != 1 {
		t.Errorf("warnings %v", rows[2]["warnings"])
	}
}

func TestListSaysWhyAndWhere(t *testing.T) {
	w := newWorld(t)
	w.source(".zot/extensions/broken", "{\n  \"name\": \"broken\",\n  \"exec\": 5\n}")
	w.want(0, `broken (project) does not load: its manifest has a fault (ZP083)
    PROJECT/.zot/extensions/broken/extension.json:3:11: exec must be a string, not a number
        3 |   "exec": 5
          |           ^
      help: write it in quotes: "5"
`, "", "list")
	w.source("elsewhere", `{"name":"`+"a"+`","exec":"x","description":"\u001b[31mred\u202e"}`)
	out, _, _ := w.run("list", "-e", "elsewhere")
	if strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, "flag") {
		t.Errorf("%q", out)
	}
}

func TestManifestFaultsOfASourceAreShownInPlace(t *testing.T) {
	w := newWorld(t)
	w.source("bad", "{\n  \"name\": \"../x\",\n  \"exec\": \"./run.sh\"\n}")
	w.want(1, "", `PROJECT/bad/extension.json:2:11: name "../x" must begin with a letter or digit (ZP080)
    2 |   "name": "../x",
      |           ^
  help: use 1 to 64 letters`, "install", "bad")
}

func TestSkippedFilesAndWarningsAreTold(t *testing.T) {
	w := newWorld(t)
	dir := w.source("hello", `{"name":"hello","exec":"./run.sh","zzz":1}`)
	w.write(filepath.Join(dir, ".git", "config"), "x", 0o644)
	w.want(0, "installed hello in", "not copied: .git (git's own data)\nwarning: extension.json:1:35: unknown key \"zzz\"", "install", "hello")
}

func TestProjectExtensionsAreSwitchedForTheUser(t *testing.T) {
	w := newWorld(t)
	dir := w.source(".zot/extensions/hello", helloManifest)
	w.want(0, "disabled hello, for you in this project\n", "", "disable", "hello")
	w.want(0, "hello (project) does not load: disabled by you for this project\n", "", "list")
	if text, _ := os.ReadFile(filepath.Join(dir, "extension.json")); string(text) != helloManifest {
		t.Errorf("the project's file was written: %s", text)
	}
	w.want(0, "enabled hello, for you in this project\n", "", "enable", "hello")
}

func TestAmbiguousNames(t *testing.T) {
	w := newWorld(t)
	w.source("hello", helloManifest)
	w.run("install", "hello")
	w.source(".zot/extensions/hello", helloManifest)
	for _, command := range []string{"disable", "enable"} {
		w.want(1, "", `"hello" fits 2 extensions; say which with --scope`, command, "hello")
	}
	w.want(1, "", "HOME/extensions/hello", "remove", "--yes", "hello")
	w.want(0, "disabled hello\n", "", "disable", "--scope", "global", "hello")
	w.want(2, "", `--scope "all" is neither project nor global`, "disable", "--scope", "all", "hello")
	w.want(0, "removed hello from PROJECT/.zot/extensions/hello", "", "remove", "-y", ".zot/extensions/hello")
}

func TestFailedUpdateFailsTheCommandAndTheOthersGoOn(t *testing.T) {
	w := newWorld(t)
	w.source("hello", helloManifest)
	w.source("other", `{"name":"other","version":"1","exec":"./run.sh"}`)
	w.run("install", "hello")
	w.run("install", "other")
	w.source("hello", `{"name":"hello","exec":[]}`)
	w.source("other", `{"name":"other","version":"2","exec":"./run.sh"}`)
	w.write(filepath.Join(w.home, "extensions", "byhand", "extension.json"), `{"name":"byhand","exec":"x"}`, 0o644)
	out, errs, code := w.run("update")
	if code != 1 || out != "updated other from 1 to 2\n" || !strings.Contains(errs, "hello stays as it is:") ||
		!strings.Contains(errs, "byhand was not installed from a source that zot knows") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}

func TestUsageErrors(t *testing.T) {
	w := newWorld(t)
	w.want(2, "", `ext has no command "isntall"; did you mean "install"?`, "isntall")
	w.want(2, "", "ext install: FOLDER|MODULE.wasm|GIT-ADDRESS is missing", "install")
	w.want(2, "", `"b" is one word too many`, "enable", "a", "b")
	w.want(2, "", "unknown flag: --jsn; did you mean --json?", "list", "--jsn")
	w.want(0, "", "Bring installed extensions up to date", []string{}...)
	w.want(0, "remove", "", "--help")
}

func TestLogs(t *testing.T) {
	w := newWorld(t)
	w.source("hello", helloManifest)
	w.run("install", "hello")
	w.want(1, "", `there is no log for "hello" yet: HOME/logs/ext-hello.log is made when the extension starts`, "logs", "hello")
	w.write(filepath.Join(w.home, "logs", "ext-hello.log"), "[zot] started\r\n\x1b[2J\x1b[31mred\x1b[0m\ttab\x07 50%\r100%\nno end", 0o600)
	w.want(0, "[zot] started\nred\ttab 50%\n100%\nno end", "", "logs", "HELLO")
	w.write(filepath.Join(w.home, "logs", "ext-gone.log"), "bye\n", 0o600)
	w.want(0, "bye\n", "", "logs", "gone")
	w.want(1, "", `no extension is called "../x"`, "logs", "../x")
}

// notified is a writer whose content can be waited for.
type notified struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{}
}

func (n *notified) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case n.changed <- struct{}{}:
	default:
	}
	return n.buf.Write(p)
}

func (n *notified) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(3 * time.Minute)
	for {
		n.mu.Lock()
		got := n.buf.String()
		n.mu.Unlock()
		if got == text {
			return
		}
		select {
		case <-n.changed:
		case <-deadline:
			t.Fatalf("got  %q\nwant %q", got, text)
		}
	}
}

func TestLogsFollowSurvivesRotation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file is not renamed there")
	}
	path := filepath.Join(t.TempDir(), "ext.log")
	out := &notified{changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	f := follower{path: path, out: newCleaner(out), every: time.Millisecond}
	waiting, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- f.follow(ctx, func() { close(waiting) }) }()
	<-waiting

	add := func(text string) {
		log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = log.WriteString(text)
		must(t, err)
		must(t, log.Close())
	}
	add("one\n")
	out.waitFor(t, "one\n")
	add("tw")
	out.waitFor(t, "one\ntw") // a question without a line end is seen too
	add("o\n")
	add("last\n")
	must(t, os.Rename(path, path+".1"))
	add("new\n")
	out.waitFor(t, "one\ntwo\nlast\nnew\n")
	must(t, os.Truncate(path, 0))
	add("c\n")
	out.waitFor(t, "one\ntwo\nlast\nnew\nc\n")
	cancel()
	if err := <-done; err != context.Canceled {
		t.Error(err)
	}
}

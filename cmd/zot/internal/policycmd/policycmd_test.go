package policycmd_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/trust"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
)

// A world is a user's state folder and a project.
type world struct {
	t             *testing.T
	home, project string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	w.write("project/.git/HEAD", "ref: refs/heads/main")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(filepath.Dir(w.home), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// vendor puts an extension into the project. Starting it would make a file.
func (w *world) vendor(name, permissions string) {
	w.write("project/.zot/extensions/"+name+"/extension.json", `{"name": "`+name+`", "version": "1.0.0", "exec": "./run.sh", "permissions": `+permissions+`}`)
	w.write("project/.zot/extensions/"+name+"/run.sh", "#!/bin/sh\ntouch "+filepath.Join(w.home, "marker")+"\n")
}

func (w *world) deps(s *iostreams.Streams) policycmd.Deps {
	return policycmd.Deps{
		Streams: s,
		Open: func(string, string) (*workspace.Workspace, error) {
			return workspace.Open(workspace.Options{Home: w.home, CWD: w.project})
		},
		// The far side of a source: a folder with an extension in it.
		Fetch: func(_ context.Context, source, into string) (string, install.Origin, error) {
			dir := filepath.Join(into, "guard")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return "", install.Origin{}, err
			}
			err := os.WriteFile(filepath.Join(dir, "extension.json"), []byte(`{"name": "guard", "exec": "guard.wasm", "permissions": {"intercept": {"tool_call": {"may": ["block"]}}}}`), 0o644)
			address, ref, _ := strings.Cut(source, "#")
			return dir, install.Origin{URL: address, Ref: ref, Commit: strings.Repeat("a", 40)}, err
		},
	}
}

func (w *world) run(line string) (out, errs string, code int) {
	w.t.Helper()
	streams, stdout, stderr := iostreams.Test("")
	root := &cobra.Command{Use: "zot", SilenceErrors: true, SilenceUsage: true}
	ext := &cobra.Command{Use: "ext"}
	ext.PersistentFlags().String("home", "", "")
	ext.PersistentFlags().String("cwd", "", "")
	ext.AddCommand(policycmd.Ext(w.deps(streams))...)
	root.AddCommand(policycmd.New(w.deps(streams)), policycmd.Trust(w.deps(streams)), ext)
	root.SetArgs(strings.Fields(line))
	err := root.Execute()
	text := stderr.String()
	if err != nil {
		text += err.Error() + "\n"
	}
	short := strings.NewReplacer(w.project, "PROJECT", w.home, "HOME")
	return short.Replace(stdout.String()), short.Replace(text), exit.CodeOf(err)
}

// want runs a command and looks for parts of what it prints, on either stream.
func (w *world) want(line string, code int, parts ...string) string {
	w.t.Helper()
	out, errs, got := w.run(line)
	if got != code {
		w.t.Errorf("zot %s: status %d, want %d\n%s%s", line, got, code, out, errs)
	}
	for _, part := range parts {
		if !strings.Contains(out+errs, part) {
			w.t.Errorf("zot %s: %q is missing from\n%s%s", line, part, out, errs)
		}
	}
	return out
}

func (w *world) noMarker() {
	w.t.Helper()
	if _, err := os.Stat(filepath.Join(w.home, "marker")); err == nil {
		w.t.Fatal("something of the project was started")
	}
}

// From nothing to a pinned project.
func TestAPinnedProject(t *testing.T) {
	w := newWorld(t)
	w.vendor("todo", `{"tools": ["todo_*"]}`)
	w.want("policy init --mode pinned", 0, "wrote policy to PROJECT/.zot/config.json", "pinned: only extensions run whose bytes the lock holds", "next: zot ext lock")
	w.want("policy init", 1, "PROJECT/.zot/config.json:3:13: there is a policy already")
	text, _ := os.ReadFile(filepath.Join(w.project, ".zot/config.json"))
	w.write("project/.zot/config.json", strings.Replace(string(text), `"mode": "pinned"`, `"mode": "pinned", "recommend": [{"name": "guard", "source": "https://example.org/sec/guard#v1"}]`, 1))

	w.want("ext lock --check", 27)
	out := w.want("ext lock", 0, "wrote PROJECT/.zot/extensions.lock.json with 2 extensions",
		"+ todo 1.0.0 from vendored:.zot/extensions/todo", "+ tools todo_*", "+ guard  from git+https://example.org/sec/guard", "+ intercept tool_call=block")
	if !strings.Contains(out, "digest zt1:") {
		t.Errorf("no digest in %s", out)
	}
	first, _ := os.ReadFile(filepath.Join(w.project, ".zot/extensions.lock.json"))
	w.want("ext lock", 0, "is up to date")
	if again, _ := os.ReadFile(filepath.Join(w.project, ".zot/extensions.lock.json")); string(again) != string(first) {
		t.Error("locking again must give the same bytes")
	}
	w.want("ext lock --check", 0, "is up to date")
	w.want("policy check", 0, "1 policy, mode pinned, 0 tests passed")
	w.want("ext verify", 0, "todo (project): ok", "guard (project): ok")
	w.want("ext sync --frozen", 0, "guard: in the store", "todo: stored from .zot/extensions/todo")
	w.noMarker()

	// A pull that changes one byte behind an unchanged manifest.
	w.write("project/.zot/extensions/todo/run.sh", "#!/bin/sh\ntrue\n")
	w.want("ext verify", 22, "todo (project): drift ZP031", "run.sh")
	w.want("ext lock --check", 27, "no longer what was pinned, and left so: todo", "then zot ext lock --update todo")
	w.want("ext lock", 27, "digest zt1:")
	w.want("ext lock --update todo", 0, "~ todo")
	w.want("ext verify", 0)
	// A manifest that asks for more.
	w.vendor("todo", `{"tools": ["todo_*"], "net": {"connect": ["x.example:443"]}}`)
	w.want("ext lock --check", 27, "+ net.connect x.example:443")

	// Another machine, with what was committed: the copy is enough.
	w.want("ext lock --update todo", 0)
	w.home += "2"
	w.want("policy explain guard", 0, "the project is not trusted", "said to be from git+https://example.org/sec/guard")
	w.want("ext sync --frozen", 0, "guard: stored from the project's copy")
	// Without it the store is filled from the source, and from nowhere else.
	copies := filepath.Join(w.project, ".zot/store")
	if err := os.RemoveAll(copies); err != nil {
		t.Fatal(err)
	}
	w.home += "3"
	w.want("policy show --effective", 0, "guard: ZP031, denied: its files are neither in the project nor in your store", "run zot ext sync, which fetches it from git+https://example.org/sec/guard")
	w.want("policy explain guard", 0, "deny (ZP031)", "said to be from", "run zot ext sync")
	w.want("ext sync --frozen", 22, "guard: not in the store, and nothing is fetched")
	w.want("ext sync", 0, "guard: fetched from git+https://example.org/sec/guard")
	w.want("ext sync", 0, "guard: in the store")
	// Locking again brings the copy back; a copy of what is gone goes.
	w.want("ext lock", 0, "up to date")
	if found, _ := os.ReadDir(copies); len(found) != 2 { // and .gitattributes
		t.Errorf("copies: %v", found)
	}
	w.write("project/.zot/config.json", `{"policy": {"mode": "pinned"}}`)
	w.want("ext lock", 0, "- guard")
	if found, _ := os.ReadDir(copies); len(found) != 1 {
		t.Errorf("copies: %v", found)
	}
	w.noMarker()
}

// Whoever locks is told what was written, what was left, and what helps.
func TestLockSaysWhatItLeft(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.project, ".zot/extensions.lock.json")
	for _, line := range []string{"ext lock", "ext lock --check"} {
		w.want(line, 0, "there is no extension to pin here, and no lock is needed")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a lock of nothing was written")
	}
	w.vendor("todo", `{"tools": ["a"]}`)
	w.want("ext lock", 0, "with 1 extension\n")

	// One changed and one new: the new one is pinned, the other stays.
	w.vendor("todo", `{"tools": ["b"]}`)
	w.vendor("other", `{}`)
	before, _ := os.ReadFile(path)
	w.want("ext lock --check", 27, "+ other", "~ todo", "is not up to date; run zot ext lock")
	if now, _ := os.ReadFile(path); string(now) != string(before) {
		t.Error("--check wrote")
	}
	w.want("ext lock --update todo", 0, "~ todo", "left as they are: other (new)")
	w.vendor("todo", `{"tools": ["c"]}`)
	w.want("ext lock", 27, "+ other", "with 2 extensions", "no longer what was pinned, and left so: todo; look at what changed, then zot ext lock --update todo")
	if now, _ := os.ReadFile(path); strings.Contains(string(now), `"c"`) || !strings.Contains(string(now), "other") {
		t.Errorf("lock holds %s", now)
	}
	w.want("ext lock other", 0, "left as they are: todo (changed)")

	// What is advised helps, for what lies in the project.
	w.want("ext verify", 22, "todo (project): drift ZP031", "git checkout .zot/extensions/todo", "zot ext lock --update todo", "not what was pinned: todo")
	w.want("ext sync", 22, "todo: ZP031", "git checkout .zot/extensions/todo", "zot ext lock --update todo", "not stored as the lock has it: todo")
	w.want("ext lock --update todo", 0)
	w.want("ext sync", 0, "todo: stored from .zot/extensions/todo")
	if err := os.RemoveAll(filepath.Join(w.project, ".zot/extensions/todo")); err != nil {
		t.Fatal(err)
	}
	w.want("ext verify", 22, "todo (project): missing ZP031, .zot/extensions/todo is gone")
	w.want("ext sync", 22, ".zot/extensions/todo is gone", "run zot ext lock, which takes it out")
	w.want("ext lock", 0, "- todo")
	w.want("ext verify", 0)

	// A lock that nobody can read is not written over.
	w.write("project/.zot/extensions.lock.json", "{]")
	w.want("ext lock", 1, "extensions.lock.json:1:2", "git checkout, or delete it")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.want("ext lock", 0, "with 1 extension")
}

// A policy that only recommends has no mode yet, and gets one.
func TestInitKeepsWhatIsThere(t *testing.T) {
	w := newWorld(t)
	w.write("project/.zot/config.json", "{\n  // ours\n  \"policy\": {\"recommend\": [{\"name\": \"guard\", \"source\": \"https://example.org/sec/guard#v1\"}]}\n}\n")
	w.want("policy init --mode pinned", 0, "wrote policy.mode to PROJECT/.zot/config.json")
	text, _ := os.ReadFile(filepath.Join(w.project, ".zot/config.json"))
	if !strings.Contains(string(text), "// ours") || !strings.Contains(string(text), "recommend") {
		t.Errorf("file holds %s", text)
	}
	w.want("ext lock", 0, "+ guard")
	w.want("policy check", 0, "mode pinned")
}

// A project may not tell where bytes come from: a rule about sources goes by
// what this machine fetched, and by nothing that a lock claims.
func TestClaimedSourcesPassNoRule(t *testing.T) {
	w := newWorld(t)
	w.write("project/.zot/config.json", `{"policy": {"mode": "locked", "recommend": [{"name": "guard", "source": "https://example.org/sec/guard"}]}}`)
	w.want("ext lock", 0)
	rule := `{"policy": {"rules": [{"id": "ours", "decision": "allow", "match": {"source": "git+https://example.org/sec/**"}}]}}`
	approve := func() {
		g := w.gate()
		if err := g.Approve(trust.NewRecord(g.Identity, g.Bundle, time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	w.home += "2" // somebody else's machine, which has only the clone
	w.write(filepath.Base(w.home)+"/config.json", rule)
	approve()
	w.want("policy explain guard", 0, "deny (ZP020)", "the source that the lock names was not seen here")
	w.want("ext sync", 0, "guard: fetched from")
	w.want("policy explain guard", 0, "allow (ZP001)")
}

// A program that was built for one system has a digest for each.
func TestPlatformsOfPrograms(t *testing.T) {
	w := newWorld(t)
	w.vendor("built", `{"tools": ["x"]}`)
	w.write("project/.zot/extensions/built/run.sh", "\x7fELF of this system")
	w.want("ext lock", 0, "+ built")
	path := filepath.Join(w.project, ".zot/extensions.lock.json")
	text, _ := os.ReadFile(path)
	here := `"` + gate.Platform + `"`
	if !strings.Contains(string(text), `"platforms": {`) || !strings.Contains(string(text), here) || strings.Contains(string(text), `"digest"`) {
		t.Fatalf("lock holds %s", text)
	}
	w.want("ext verify", 0, "built (project): ok")
	// On a system that the lock does not know.
	other := strings.Replace(string(text), here, `"plan9/mips"`, 1)
	w.write("project/.zot/extensions.lock.json", other)
	w.want("ext verify", 22, "drift ZP036")
	w.want("policy explain built", 0, "ZP010")
	w.want("ext lock --check", 27)
	w.want("ext lock", 0, "digest none -> zt1:")
	text, _ = os.ReadFile(path)
	if !strings.Contains(string(text), "plan9/mips") || !strings.Contains(string(text), here) {
		t.Errorf("lock holds %s", text)
	}
	w.want("ext lock", 0, "up to date")
	w.want("ext verify", 0)
	// A new program makes those of other systems old.
	w.write("project/.zot/extensions/built/run.sh", "\x7fELF, newer")
	w.want("ext lock", 27)
	w.want("ext lock --update built", 0)
	if text, _ = os.ReadFile(path); strings.Contains(string(text), "plan9/mips") {
		t.Errorf("lock holds %s", text)
	}
}

func TestNothingOfAnUntrustedProjectRuns(t *testing.T) {
	w := newWorld(t)
	w.vendor("todo", `{"net": {"connect": ["x.example:443"]}}`)
	w.write("project/.zot/config.json", `{"model": "theirs"}`)
	w.want("policy explain todo", 0, "may todo load?", "ask (ZP010)", "the project is not trusted", "vendored:.zot/extensions/todo")
	w.want("policy explain todo --cap net.connect=x.example:443", 0, "ask (ZP011)")
	w.want("policy show --effective", 0, "mode open, by zot itself", "todo: ZP010, held back")
	w.want("ext verify", 0, "todo (project): unlocked")
	w.want("trust status", 0, "PROJECT is not trusted; it would bring:", "extension todo", "right of todo: net.connect x.example:443", `setting model = "theirs"`, "file .zot/extensions/todo/run.sh")
	w.noMarker()
	w.want("trust revoke", 1, "nothing was approved")
}

func TestTrustDigestAndRevoke(t *testing.T) {
	w := newWorld(t)
	w.vendor("todo", `{"tools": ["*"]}`)
	out := strings.TrimSpace(w.want("trust digest", 0))
	if !strings.HasPrefix(out, "zb1:") {
		t.Fatalf("digest is %q", out)
	}
	t.Setenv("ZOT_TRUST_DIGEST", out)
	w.want("policy explain todo", 0, "allow (ZP001)")
	w.write("project/.zot/extensions/todo/run.sh", "other")
	w.want("policy explain todo", 0, "ask (ZP010)")
	t.Setenv("ZOT_TRUST_DIGEST", "")

	g := w.gate()
	if err := g.Approve(trust.NewRecord(g.Identity, g.Bundle, time.Now())); err != nil {
		t.Fatal(err)
	}
	w.want("trust status", 0, "PROJECT is trusted")
	w.want("policy explain todo", 0, "allow (ZP001)", "decided by   user approval", "has          tools *")
	// A second folder that goes by the approved name.
	w.write("project/.zot/extensions/aaa/extension.json", `{"name": "todo", "version": "1.0.0", "exec": "./run.sh", "permissions": {"tools": ["*"]}}`)
	w.write("project/.zot/extensions/aaa/run.sh", "evil")
	w.want("policy explain todo", 0, "ask (ZP011)")
	if err := os.RemoveAll(filepath.Join(w.project, ".zot/extensions/aaa")); err != nil {
		t.Fatal(err)
	}
	w.write("project/.zot/extensions/todo/run.sh", "evil")
	w.want("policy explain todo", 0, "ask (ZP011)", "changed .zot/extensions/todo/run.sh")
	w.want("trust revoke", 0, "is not trusted any more")
	w.want("policy explain todo", 0, "ask (ZP010)")
}

// gate is the policy as a start would see it.
func (w *world) gate() *gate.Gate {
	w.t.Helper()
	ws, err := workspace.Open(workspace.Options{Home: w.home, CWD: w.project})
	if err != nil {
		w.t.Fatal(err)
	}
	g := gate.Open(gate.Options{Home: ws.Home, ProjectRoot: ws.ProjectRoot, Settings: ws.Settings, Environ: ws.Environ, Headless: true})
	g.Judge(w.candidates(g))
	return g
}

func (w *world) candidates(g *gate.Gate) []*discovery.Candidate {
	return discovery.Find(discovery.Options{Home: w.home, ProjectDir: w.project, CWD: w.project, Pinned: g.Pinned()}).Candidates
}

func TestGateHolds(t *testing.T) {
	w := newWorld(t)
	w.vendor("todo", `{}`)
	w.write("home/extensions/mine/extension.json", `{"name": "mine", "exec": "./x"}`)
	w.write("home/config.json", `{"policy": {"rules": [{"id": "no-mine", "decision": "deny", "match": {"name": "mine"}, "reason": "not here"}]}}`)
	g := w.gate()
	held := map[string]string{}
	for _, c := range discovery.Find(discovery.Options{Home: w.home, ProjectDir: w.project, CWD: w.project, Hold: g.Hold}).Candidates {
		held[c.Name] = c.Reason
	}
	if !strings.HasPrefix(held["todo"], "ZP010, denied: the project is not trusted") {
		t.Errorf("todo: %s", held["todo"])
	}
	if want := "ZP021, denied: not here (user " + filepath.Join(w.home, "config.json") + ":1:23 rule no-mine); change that line of your own policy"; held["mine"] != want {
		t.Errorf("mine: got  %s\nwant %s", held["mine"], want)
	}
	w.write("home/config.json", `{"policy": {"rulez": []}}`)
	if got := w.gate().Set; got.Valid() {
		t.Error("a broken user policy must close")
	}
	w.want("policy explain mine", 0, "deny (ZP061)", `policy has no key "rulez"`)
	w.want("policy check", 20, "config.json:1:13: policy has no key \"rulez\" (ZP061)", "help: did you mean \"rules\"?")
}

func TestExplainAsJSON(t *testing.T) {
	w := newWorld(t)
	w.vendor("todo", `{}`)
	w.write("project/.zot/config.json", `{"policy": {"mode": "locked"}}`)
	out := w.want("policy explain todo --json", 0)
	var x struct {
		Verdict, Code, Mode string
		ModeBy              struct{ Layer string }
		Layers              []struct{ Verdict string }
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil || x.Verdict != "deny" || x.Code != "ZP020" || x.Mode != "locked" || x.ModeBy.Layer != "project" || len(x.Layers) != 1 {
		t.Errorf("got %+v, %v from\n%s", x, err, out)
	}
	w.want("policy explain todoo", 1, `did you mean "todo"?`)
	w.want("policy explain todo --cap net", 2, "write a capability")
	w.want("policy show", 0, "# project: PROJECT/.zot/config.json", `"mode": "locked"`)
	w.want("policy show --layer user", 0)
}

func TestCheckRunsTables(t *testing.T) {
	w := newWorld(t)
	w.write("project/.zot/config.yaml", "policy:\n  mode: pinned\n  rules:\n  - {decision: deny, match: {name: '*'}}\n  - {decision: deny, match: {name: x}}\n")
	w.write("project/.zot/policy.tests.yaml", "tests:\n- {name: right, extension: {name: a}, want: deny}\n- {name: wrong, extension: {name: a}, want: allow}\n")
	w.want("policy check", 1, "config.yaml:5:5 rule 2: it never decides", `policy.tests.yaml:3:3: "wrong": want allow, got deny ZP021`, "1 of 2 tests failed")
	w.want("policy check "+filepath.Join(w.project, ".zot/config.yaml"), 1, "1 of 2 tests failed")
}

func TestLinksCannotBePinned(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	w := newWorld(t)
	w.vendor("todo", `{}`)
	if err := os.Symlink("/etc/passwd", filepath.Join(w.project, ".zot/extensions/todo/l")); err != nil {
		t.Fatal(err)
	}
	w.want("ext lock", 1, "is a link or a special file")
	w.want("trust status", 0, "is not trusted", "is a link or a special file")
	w.want("ext verify", 22, "ZP081")
}

func TestCommandsOfTheShell(t *testing.T) {
	w := newWorld(t)
	w.write("home/config.json", `{"policy": {"tools": {"write": "ask", "bash": {"deny": ["rm *"], "ask": ["git push *"]}}}}`)
	w.write("project/.zot/config.json", `{"policy": {"tools": {"bash": {"allow": ["ls *", "rm *"], "unlisted": "ask"}}}}`)
	tools, err := gate.NewTools(w.gate().Set)
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"ls -l": "allow", "rm x": "deny", "ls && rm -rf x": "deny", "A=1 rm x": "deny", "(cd d; rm x)": "deny", "curl u": "ask", "git push": "ask", "ls >f": "ask",
	} {
		args, _ := json.Marshal(map[string]string{"command": command})
		d := tools.Decide("bash", args)
		if d.Verdict.String() != want || want != "allow" && (d.Reason == "" || d.By.File == "" || d.Remedy == "") {
			t.Errorf("%s: got %+v, want %s", command, d, want)
		}
	}
	args, _ := json.Marshal(map[string]string{"command": "ls; rm x"})
	if d := tools.Decide("bash", args); d.By.Rule != "tools.bash.deny rm *" || !strings.Contains(d.Reason, "rm x") {
		t.Errorf("the user's line decides: %+v", d)
	}
	if d := tools.Decide("write", nil); d.Verdict != policies.Ask || d.By.Rule != "tools.write" {
		t.Errorf("got %+v", d)
	}
	if d := tools.Decide("read", nil); !d.Allowed() {
		t.Errorf("got %+v", d)
	}
}

func TestALogThatMustBeKept(t *testing.T) {
	w := newWorld(t)
	w.write("home/extensions/mine/extension.json", `{"name": "mine", "exec": "./x"}`)
	w.write("home/config.json", `{"policy": {"audit": "required"}}`)
	g := w.gate()
	if err := g.Log("s1"); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(w.home, "logs/audit.jsonl"))
	if !strings.Contains(string(text), `"extension":"mine"`) || !strings.Contains(string(text), `"policy":"sha256:`) {
		t.Errorf("log holds %s", text)
	}
	if err := os.RemoveAll(filepath.Join(w.home, "logs")); err != nil {
		t.Fatal(err)
	}
	w.write("home/logs", "a file where a folder belongs")
	plan := discovery.Find(discovery.Options{Home: w.home, CWD: w.project, Hold: w.gate().Hold})
	if got := plan.Candidates[0].Reason; !strings.HasPrefix(got, "ZP090, denied") {
		t.Errorf("got %q", got)
	}
}

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/home"
)

// A world is a set of folders with settings files in them.
type world struct {
	t                      *testing.T
	home, managed, project string
	opts                   config.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), managed: filepath.Join(dir, "managed"), project: filepath.Join(dir, "project")}
	w.opts = config.Options{
		Home: home.Home(w.home), ManagedDir: w.managed, ProjectRoot: w.project, ProjectTrusted: true,
		ProjectID: "p1", UserHome: "/u", CWD: w.project,
		CheckOwner: func(string) error { return nil },
	}
	return w
}

func (w *world) path(layer config.Layer) string {
	return map[config.Layer]string{
		config.Managed:     filepath.Join(w.managed, "config.json"),
		config.User:        filepath.Join(w.home, "config.json"),
		config.Project:     filepath.Join(w.project, ".zot", "config.json"),
		config.Local:       filepath.Join(w.project, ".zot", "local", "config.json"),
		config.UserProject: filepath.Join(w.home, "projects", "p1", "config.json"),
	}[layer]
}

func (w *world) write(layer config.Layer, text string) {
	w.t.Helper()
	w.writePath(w.path(layer), text)
}

func (w *world) writePath(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() *config.Settings {
	w.t.Helper()
	s, err := config.Load(w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// short drops the folders of the test from a text.
func (w *world) short(text string) string {
	for _, r := range [][2]string{{w.home, "HOME"}, {w.managed, "MANAGED"}, {w.project, "PROJECT"}} {
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	return text
}

func (w *world) wantProblems(s *config.Settings, want ...string) {
	w.t.Helper()
	var got []string
	for _, p := range s.Problems {
		got = append(got, w.short(p.Error()))
	}
	if len(got) != len(want) {
		w.t.Fatalf("got problems\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			w.t.Errorf("problem %d is\n\t%s\nwant\n\t%s", i, got[i], want[i])
		}
	}
}

func (w *world) origin(s *config.Settings, key string) string {
	w.t.Helper()
	e, ok := s.Effective(config.MustPath(key))
	if !ok {
		return "not set"
	}
	return w.short(e.Literal() + " from " + e.Origin.String())
}

func TestDefaults(t *testing.T) {
	w := newWorld(t)
	s := w.load()
	w.wantProblems(s)
	c := s.Config
	if c.Timeouts.Hello != 30*time.Second || c.Timeouts.AutoReady != 250*time.Millisecond || c.Limits.Frame != 4<<20 ||
		c.Limits.QueueFrames != 256 || c.Compaction.Threshold != 85 || !c.Extensions.Project || c.Tools != nil || c.Confirmation != "off" {
		t.Errorf("defaults are wrong: %+v", c)
	}
	if got := w.origin(s, "timeouts.hello"); got != `"30s" from builtin` {
		t.Errorf("timeouts.hello is %s", got)
	}
}

func TestHigherLayersWin(t *testing.T) {
	w := newWorld(t)
	order := []config.Layer{config.Managed, config.User, config.Project, config.Local, config.UserProject}
	for _, layer := range order {
		w.write(layer, `{"model": "`+layer.String()+`"}`)
		s := w.load()
		if s.Config.Model != layer.String() {
			t.Errorf("with %s written, the model is %q", layer, s.Config.Model)
		}
		if got, want := w.origin(s, "model"), w.short(`"`+layer.String()+`" from `+layer.String()+" "+w.path(layer)+":1:2"); got != want {
			t.Errorf("origin is %s, want %s", got, want)
		}
	}
	w.opts.Environ = []string{"ZOT_MODEL=variable"}
	if got := w.origin(w.load(), "model"); got != `"variable" from env ZOT_MODEL` {
		t.Errorf("origin is %s", got)
	}
	w.opts.Flags = []config.Override{{Key: "model", Value: "flag", From: "--model"}}
	if got := w.origin(w.load(), "model"); got != `"flag" from flags --model` {
		t.Errorf("origin is %s", got)
	}
}

func TestObjectsMergeAndListsReplaceOrAppend(t *testing.T) {
	w := newWorld(t)
	w.write(config.User, `{"tools": ["a", "b"], "providers": {"x": {"timeout": 30}}, "timeouts": {"tool": "2m"}}`)
	w.write(config.Project, `{"+tools": ["b", "c"], "providers": {"x": {"model": "m"}}, "timeouts": {"hello": 5}}`)
	s := w.load()
	w.wantProblems(s)
	if got := s.Config.Tools; !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("tools are %v", got)
	}
	e, _ := s.Effective([]string{"tools"})
	if got := w.short(e.Origin.String() + " + " + e.Below[0].String()); got != "project PROJECT/.zot/config.json:1:2 + user HOME/config.json:1:2" {
		t.Errorf("tools come from %s", got)
	}
	x := s.Config.Providers["x"]
	if x.Timeout != 30*time.Second || x.Model != "m" {
		t.Errorf("provider x is %+v", x)
	}
	if c := s.Config.Timeouts; c.Tool != 2*time.Minute || c.Hello != 5*time.Second || c.Ready != 3*time.Second {
		t.Errorf("timeouts are %+v", c)
	}

	w.write(config.Local, `{"tools": []}`)
	if got := w.load().Config.Tools; got == nil || len(got) != 0 {
		t.Errorf("an empty list should replace: %v", got)
	}
}

func TestYAMLIsTheSame(t *testing.T) {
	w := newWorld(t)
	w.writePath(filepath.Join(w.home, "config.yaml"), "# mine\nmodel: m\ntimeouts:\n  hello: 5s\n+tools: [x]\n")
	s := w.load()
	w.wantProblems(s)
	if got := w.origin(s, "timeouts.hello"); got != `"5s" from user HOME/config.yaml:4:3` {
		t.Errorf("origin is %s", got)
	}
	w.write(config.User, "{}")
	s = w.load()
	w.wantProblems(s, "both HOME/config.json and HOME/config.yaml exist; keep one of them")
	if s.Config.Model != "" || len(s.Policy) != 1 || s.Policy[0].Err == nil {
		t.Errorf("neither file may count, and the policy of the layer must be lost: %+v", s.Policy)
	}
}

func TestEveryFaultHasItsPlaceAndGoodKeysApply(t *testing.T) {
	w := newWorld(t)
	w.write(config.User, "\ufeff{\r\n"+
		"  \"model\": \"good\",\r\n"+
		"  \"modle\": \"x\",\r\n"+
		"  \"Theme\": \"dark\",\r\n"+
		"  \"maxSteps\": \"ten\",\r\n"+
		"  \"timeouts\": {\"hello\": 0, \"helo\": 1, \"tool\": \"soon\", \"ready\": \"1s\"},\r\n"+
		"  \"reasoning\": \"hgih\",\r\n"+
		"  \"limits\": null,\r\n"+
		"  \"ui\": 5,\r\n"+
		"  \"tools\": [\"a\", 1],\r\n"+
		"  \"provider\": \"a\",\r\n"+
		"  \"provider\": \"b\",\r\n"+
		"  \"+model\": \"x\",\r\n"+
		"  \"apiKey\": \"sk\",\r\n"+
		"  \"baseURL\": \"ftp://x\",\r\n"+
		"  \"home\": \"/x\",\r\n"+
		"  \"x-note\": {\"any\": 1},\r\n"+
		"}\r\n")
	s := w.load()
	w.wantProblems(s,
		`HOME/config.json:3:3: unknown setting "modle"; did you mean "model"?`,
		`HOME/config.json:4:3: unknown setting "Theme"; names are case-sensitive: write "theme"`,
		`HOME/config.json:5:15: maxSteps: must be a whole number, and is a string; for example 500`,
		`HOME/config.json:6:25: timeouts.hello: 0s is out of bounds; write from 100ms to 10m0s`,
		`HOME/config.json:6:28: unknown setting "timeouts.helo"; did you mean "hello"?`,
		`HOME/config.json:6:47: timeouts.tool: "soon" is not a duration; write seconds, or a unit`,
		`HOME/config.json:7:16: reasoning: "hgih" is not among its values; write one of off, minimal`,
		`HOME/config.json:8:13: "limits" must be an object, and is null`,
		`HOME/config.json:9:9: "ui" must be an object, and is a number`,
		`HOME/config.json:10:12: tools: item 2 is a number, and must be a string`,
		`HOME/config.json:12:3: "provider" is set twice, first in line 11; neither counts`,
		`HOME/config.json:13:3: "model" does not hold a list, so nothing can be appended`,
		`HOME/config.json:14:3: unknown setting "apiKey"; keys are kept by zot login`,
		`HOME/config.json:15:14: baseURL: "ftp://x" is not an address`,
		`HOME/config.json:16:3: "home" may not be set by the user layer, and is ignored (ZP063); set it in: managed`,
	)
	c := s.Config
	if c.Model != "good" || c.Timeouts.Ready != time.Second || c.Timeouts.Hello != 30*time.Second || c.Provider != "" || c.Limits.Frame != 4<<20 {
		t.Errorf("good keys must apply and bad ones must not: %+v", c)
	}
	want := "config.json:3:3: unknown setting \"modle\"\n    3 |   \"modle\": \"x\",\n      |   ^\n  help: did you mean \"model\"?\n"
	if got := s.Problems[0].Render(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A name that comes twice hides none of the other faults, and comes in its turn.
func TestDuplicatesHideNothing(t *testing.T) {
	w := newWorld(t)
	w.write(config.User, `{
  "x-note": 1, "x-note": 2,
  "ui": {"histroy": 1},
  "retry": {"attempts": 3},
  "retry": {"atempts": 3, "maxWait": "soon", "maxWait": 5},
  "ui": {"mouse": "yes"},
  "theme": "dark", "theme": 5
}`)
	s := w.load()
	w.wantProblems(s,
		`HOME/config.json:3:10: unknown setting "ui.histroy"; did you mean "history"?`,
		`HOME/config.json:5:3: "retry" is set twice, first in line 4; neither counts`,
		`HOME/config.json:5:13: unknown setting "retry.atempts"; did you mean "attempts"?`,
		`HOME/config.json:5:38: retry.maxWait: "soon" is not a duration`,
		`HOME/config.json:5:46: "maxWait" is set twice, first in line 5; neither counts`,
		`HOME/config.json:6:3: "ui" is set twice, first in line 3; neither counts`,
		`HOME/config.json:6:19: ui.mouse: must be true or false, and is a string`,
		`HOME/config.json:7:20: "theme" is set twice, first in line 7; neither counts`,
		`HOME/config.json:7:29: theme: must be a string, and is a number`,
	)
	if c := s.Config; c.Retry.Attempts != 4 || c.Theme != "auto" {
		t.Errorf("what is set twice counts: %+v", c)
	}
}

func TestABrokenFileCostsItselfOnly(t *testing.T) {
	w := newWorld(t)
	w.write(config.User, `{"model": "m"}`)
	w.write(config.Project, "{\n  \"theme\": dark\n}")
	s := w.load()
	w.wantProblems(s, "PROJECT/.zot/config.json:2:")
	if s.Config.Model != "m" || s.Config.Theme != "auto" {
		t.Errorf("got %+v", s.Config)
	}
	if len(s.Policy) != 1 || s.Policy[0].Layer != config.Project || s.Policy[0].Err == nil {
		t.Errorf("the project's policy must be lost: %+v", s.Policy)
	}
}

func TestKeysThatMoveDataOrCredentials(t *testing.T) {
	w := newWorld(t)
	moving := `{"baseURL": "https://x", "httpProxy": "http://p:1", "credentialCommand": ["c"], "providers": {"a": {"headers": {"h": "v"}, "model": "m"}}}`
	w.write(config.Project, moving)
	w.write(config.Local, `{"confirmation": "off", "limits": {"frame": "1MiB"}}`)
	s := w.load()
	w.wantProblems(s,
		`PROJECT/.zot/config.json:1:2: "baseURL" may not be set by the project layer, and is ignored (ZP063); set it in: managed, user, user-project, env, flags`,
		`"httpProxy" may not`, `"credentialCommand" may not`, `"providers.a.headers.h" may not`,
		`"confirmation" may not be set by the local layer`, `"limits.frame" may not`)
	if c := s.Config; c.BaseURL != "" || c.CredentialCommand != nil || c.Providers["a"].Model != "m" || c.Providers["a"].Headers != nil {
		t.Errorf("got %+v", c)
	}
	w.write(config.Project, "{}")
	w.write(config.Local, "{}")
	w.write(config.User, moving)
	s = w.load()
	w.wantProblems(s)
	if s.Config.BaseURL != "https://x" || s.Config.Providers["a"].Headers["h"] != "v" {
		t.Errorf("got %+v", s.Config)
	}
}

func TestAnUntrustedProjectOnlyNarrows(t *testing.T) {
	w := newWorld(t)
	w.opts.ProjectTrusted = false
	w.write(config.User, `{"model": "mine", "extensions": {"global": false, "disabled": ["mine"], "dirs": ["/d"]}}`)
	w.write(config.Project, `{"model": "theirs", "tools": [], "policy": {"mode": "locked"},
		"extensions": {"global": true, "project": false, "disabled": ["guard"], "dirs": ["ext"]}}`)
	s := w.load()
	w.wantProblems(s)
	e := s.Config.Extensions
	if s.Config.Model != "mine" || s.Config.Tools != nil {
		t.Errorf("preferences of an untrusted project count: %+v", s.Config)
	}
	if e.Global || e.Project || !slices.Equal(e.Disabled, []string{"mine", "guard"}) || !slices.Equal(e.Dirs, []string{"/d", w.project + "/ext"}) {
		t.Errorf("discovery is %+v", e)
	}
	var held []string
	for _, h := range s.Held() {
		held = append(held, w.short(config.FormatPath(h.Path)+"="+h.Literal()+" "+h.Origin.String()))
	}
	slices.Sort(held)
	want := []string{
		"extensions.global=true project PROJECT/.zot/config.json:2:18",
		`model="theirs" project PROJECT/.zot/config.json:1:2`,
		"tools=[] project PROJECT/.zot/config.json:1:21",
	}
	if !slices.Equal(held, want) {
		t.Errorf("held back:\n\t%s\nwant\n\t%s", strings.Join(held, "\n\t"), strings.Join(want, "\n\t"))
	}
	if len(s.Policy) != 1 || s.Policy[0].Node.Get("mode").Text != "locked" {
		t.Errorf("the policy of an untrusted project must be handed on: %+v", s.Policy)
	}
	if w.short(s.Files[2].Path) != "PROJECT/.zot/config.json" || !s.Files[2].Held {
		t.Errorf("files are %+v", s.Files)
	}
}

func TestAMisspeltPolicyIsALostPolicy(t *testing.T) {
	for _, text := range []string{`{"Policy": {}}`, `{"polcy": {}}`, `{"policy": {}, "policy": {"mode": "open"}}`} {
		w := newWorld(t)
		w.write(config.User, text)
		s := w.load()
		if len(s.Policy) != 1 || s.Policy[0].Err == nil || len(s.Problems) != 1 {
			t.Errorf("%s: policy %+v, problems %v", text, s.Policy, s.Problems)
		}
	}
}

func TestManagedFilesOfOthersDoNotCount(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs a file that belongs to root")
	}
	w := newWorld(t)
	w.opts.CheckOwner = nil
	w.write(config.Managed, `{"model": "m"}`)
	s := w.load()
	w.wantProblems(s)
	if s.Config.Model != "m" {
		t.Errorf("model is %q", s.Config.Model)
	}
	for _, target := range []string{w.managed, w.path(config.Managed)} {
		info, _ := os.Stat(target)
		if err := os.Chmod(target, 0o777); err != nil {
			t.Fatal(err)
		}
		s = w.load()
		w.wantProblems(s, "others can write it; run chmod go-w on it (ZP064)")
		if s.Config.Model != "" || !s.Policy[0].Insecure {
			t.Errorf("model is %q, policy %+v", s.Config.Model, s.Policy)
		}
		if err := os.Chmod(target, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	// Whoever can write the folder can take the file away, which must not open
	// what it closed.
	if err := errors.Join(os.Chmod(w.managed, 0o777), os.Remove(w.path(config.Managed))); err != nil {
		t.Fatal(err)
	}
	s = w.load()
	w.wantProblems(s, "others can write it; run chmod go-w on it (ZP064)")
	if len(s.Policy) != 1 || !s.Policy[0].Insecure {
		t.Errorf("policy %+v", s.Policy)
	}
	if err := os.Chmod(w.managed, 0o755); err != nil {
		t.Fatal(err)
	}
	s = w.load()
	w.wantProblems(s)
}

func TestVariablesAreTypedByTheirSetting(t *testing.T) {
	w := newWorld(t)
	w.opts.Environ = []string{
		"ZOT_TOOLS=a, b", "ZOT_JAIL=0", "ZOT_UI_MOUSE=", "ZOT_MAX_STEPS=7", "ZOT_TIMEOUTS_HELLO=5",
		"ZOT_TIMEOUTS_AUTO_READY=1.5s", "ZOT_TEMPERATURE=0.5", "ZOT_THEME=", "ZOT_LIMITS_FRAME=8MiB",
		"ZOT_CA_FILE=~/ca.pem", "ZOT_EXTENSIONS_DIRS=./x,~/y", "ZOT_REASONING=", "ZOT_BASE_URL=https://h/v1",
		"ZOT_HOME=/elsewhere", "ZOT_POLICY_MODE=locked", "PATH=/bin", "ZOT_EXTENSIONS_DISABLED=",
	}
	s := w.load()
	w.wantProblems(s)
	c := s.Config
	if !slices.Equal(c.Tools, []string{"a", "b"}) || c.Jail || c.MaxSteps != 7 || c.Timeouts.Hello != 5*time.Second ||
		c.Timeouts.AutoReady != 1500*time.Millisecond || *c.Temperature != 0.5 || c.Theme != "" || c.Limits.Frame != 8<<20 ||
		c.CAFile != "/u/ca.pem" || !slices.Equal(c.Extensions.Dirs, []string{w.project + "/x", "/u/y"}) || c.BaseURL != "https://h/v1" {
		t.Errorf("got %+v", c)
	}
	if got := w.origin(s, "ui.mouse"); got != "false from builtin" {
		t.Errorf("an empty variable for a boolean counts as not set, got %s", got)
	}
	if s.Err() != nil {
		t.Error(s.Err())
	}
}

func TestBadVariablesAndFlagsAreErrorsThatNameThem(t *testing.T) {
	w := newWorld(t)
	w.opts.Environ = []string{"ZOT_MAX_STEPS=ten", "ZOT_JAIL=maybe", "ZOT_TIMEOUTS_TOOL=soon", "ZOT_MODLE=x", "ZOT_HOME_=x"}
	w.opts.Flags = []config.Override{{Key: "temperature", Value: "9", From: "--temperature"}, {Key: "home", Value: "/x", From: "--set"}}
	s := w.load()
	w.wantProblems(s,
		`ZOT_MAX_STEPS: "ten" is not a whole number; for example 500`,
		`ZOT_JAIL: "maybe" is neither true nor false`,
		`ZOT_TIMEOUTS_TOOL: "soon" is not a duration`,
		`ZOT_MODLE: no setting has this variable; did you mean ZOT_MODEL?`,
		`ZOT_HOME_: no setting has this variable; did you mean ZOT_HOME?`,
		`--temperature: 9 is out of bounds; write from 0 to 2`,
		`--set: "home" may not be set by a flag (ZP063)`)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "ZOT_JAIL") {
		t.Errorf("error is %v", err)
	}
	if s.Config.MaxSteps != 500 {
		t.Errorf("maxSteps is %d", s.Config.MaxSteps)
	}
}

func TestDotsInNamesSurvive(t *testing.T) {
	w := newWorld(t)
	w.write(config.User, `{"models": {"gpt-4.1": {"cost": {"input": 2}}, "gpt-4": {"name": "four"}},
		"providers": {"my.host": {"headers": {"X.A": "1", "+b": "2"}}}}`)
	w.write(config.Project, `{"models": {"gpt-4.1": {"cost": {"output": 8}}}}`)
	s := w.load()
	w.wantProblems(s)
	m := s.Config.Models["gpt-4.1"]
	if *m.Cost.Input != 2 || *m.Cost.Output != 8 || s.Config.Models["gpt-4"].Name != "four" {
		t.Errorf("models are %+v", s.Config.Models)
	}
	if h := s.Config.Providers["my.host"].Headers; h["X.A"] != "1" || h["+b"] != "2" {
		t.Errorf("headers are %v", h)
	}
	for _, key := range []string{`models."gpt-4.1".cost.input`, `models.gpt-4\.1.cost.input`} {
		if got := w.origin(s, key); got != "2 from user HOME/config.json:1:34" {
			t.Errorf("%s is %s", key, got)
		}
	}
	var names []string
	for _, e := range s.Entries("models") {
		names = append(names, config.FormatPath(e.Path))
	}
	if got := strings.Join(names, " "); got != `models.gpt-4.name models."gpt-4.1".cost.input models."gpt-4.1".cost.output` {
		t.Errorf("entries are %s", got)
	}
}

func TestPaths(t *testing.T) {
	for text, want := range map[string][]string{
		"a.b":         {"a", "b"},
		`a."b.c".d`:   {"a", "b.c", "d"},
		`a.b\.c`:      {"a", "b.c"},
		`"a\"b"`:      {`a"b`},
		`"".x`:        {"", "x"},
		`a.b"c`:       {"a", `b"c`},
		`models.\"x\`: {"models", `"x\`},
	} {
		got, err := config.ParsePath(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParsePath(%s) = %q, %v, want %q", text, got, err, want)
		}
		if again, err := config.ParsePath(config.FormatPath(want)); err != nil || !slices.Equal(again, want) {
			t.Errorf("FormatPath(%q) = %s reads as %q, %v", want, config.FormatPath(want), again, err)
		}
	}
	for _, text := range []string{"", "a.", ".a", "a..b", `"a`, `"a"b`} {
		if got, err := config.ParsePath(text); err == nil {
			t.Errorf("ParsePath(%q) = %q, want an error", text, got)
		}
	}
}

func TestTildesAndConfinementOfPaths(t *testing.T) {
	w := newWorld(t)
	w.write(config.User, `{"caFile": "~/ca.pem", "skills": {"dirs": ["~bob/x", "s~/y"]}}`)
	w.write(config.Project, `{"extensions": {"dirs": ["../out"]}, "skills": {"dirs": ["in"]}}`)
	w.write(config.Local, `{"extensions": {"dirs": ["/abs"]}}`)
	s := w.load()
	w.wantProblems(s,
		`PROJECT/.zot/config.json:1:25: extensions.dirs: "../out" leaves the project; write a path below the project's folder`,
		`PROJECT/.zot/local/config.json:1:25: extensions.dirs: "/abs" leaves the project`)
	if got := w.short(strings.Join(append(s.Config.Skills.Dirs, s.Config.CAFile), " ")); got != "HOME/~bob/x HOME/s~/y PROJECT/in /u/ca.pem" {
		t.Errorf("paths are %s", got)
	}
}

func TestManagedHome(t *testing.T) {
	w := newWorld(t)
	none := func(string) error { return nil }
	if v, _, err := config.ManagedHome(w.managed, none); v != "" || err != nil {
		t.Errorf("no file: %q, %v", v, err)
	}
	w.write(config.Managed, "{\n\"home\": \"~/state\"}")
	v, where, err := config.ManagedHome(w.managed, none)
	if v != "~/state" || w.short(where) != "MANAGED/config.json:2:9" || err != nil {
		t.Errorf("got %q from %q, %v", v, where, err)
	}
	w.wantProblems(w.load())
}

func TestAFolderIsNoSettingsFile(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.path(config.User), 0o755); err != nil { // a folder of that name
		t.Fatal(err)
	}
	w.wantProblems(w.load(), "HOME/config.json: no setting of this file counts: it is a folder, and must be a file")
}

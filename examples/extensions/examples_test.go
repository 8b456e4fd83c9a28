// Package extensions holds no code: its folders are example extensions. The
// tests here start each of them as zot does, by its manifest, and use it once.
package extensions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/schemas"
)

// uses has, for each example with a program, what one does with it.
var uses = map[string]func(t *testing.T, zot *exttest.Host){
	"hello": func(t *testing.T, zot *exttest.Host) {
		wantPrompt(t, zot.Command("hello", "Ada"), "hello to Ada")
		if got := zot.Command("where", ""); !strings.Contains(got.Display, "talking to demo") {
			t.Errorf("/where gave %+v", got)
		}
	},
	"hello-py": func(t *testing.T, zot *exttest.Host) {
		wantPrompt(t, zot.Command("hellopy", ""), "hello to me")
		wantPrompt(t, zot.Command("hellopy", "Ada"), "hello to Ada")
	},
	"clock": func(t *testing.T, zot *exttest.Host) {
		if got := zot.Command("clock", "Asia/Tokyo"); got.Action != "display" || !strings.HasPrefix(got.Display, "Asia/Tokyo: ") {
			t.Errorf("/clock gave %+v", got)
		}
		if got := zot.Command("clock", "Mars/Olympus"); got.Error == "" {
			t.Errorf("/clock on Mars gave %+v", got)
		}
		if got := zot.Command("stamp", ""); got.Action != "insert" || len(got.Insert) != len("2006-01-02T15:04:05.000Z") {
			t.Errorf("/stamp gave %+v", got)
		}
	},
	"weather": func(t *testing.T, zot *exttest.Host) {
		wantText(t, zot.CallTool("weather", `{"city":"Oslo"}`), false, "Oslo: -4 °C, snow")
		wantText(t, zot.CallTool("weather", `{"city":"Atlantis"}`), true, "no data for \"Atlantis\"; there is some for berlin, lima, oslo, rome")
		wantText(t, zot.CallTool("weather", `{"city":7}`), true, "give the city as text")
	},
	"guard": func(t *testing.T, zot *exttest.Host) {
		zot.Event(extproto.Event{Event: "tool_call", ToolName: "bash"})
		if got := zot.InterceptToolCall("bash", `{"command":"rm -rf /"}`); !got.Block || !strings.Contains(got.Reason, "rm -rf") {
			t.Errorf("rm -rf: %+v", got)
		}
		if got := zot.InterceptToolCall("bash", `{"command":"ls"}`); got.Block {
			t.Errorf("ls: %+v", got)
		}
	},
	"todo": func(t *testing.T, zot *exttest.Host) {
		zot.Command("todo", "buy milk")
		zot.Key("todo-main", "enter")
		zot.WaitLine("todo-main", "✓ buy milk")
		zot.ClosePanel("todo-main")
	},
	"scratchpad": func(t *testing.T, zot *exttest.Host) {
		if got := zot.Command("note", "call Ada"); got.Display != "noted as number 1" {
			t.Errorf("/note gave %+v", got)
		}
		if got := zot.Command("note", ""); got.Error == "" {
			t.Errorf("/note without text gave %+v", got)
		}
		wantText(t, zot.CallTool("scratchpad", `{"action":"add","text":"grüße"}`), false, "noted as number 2")
		wantText(t, zot.CallTool("scratchpad", `{"action":"list"}`), false, "1. call Ada (user)\n2. grüße (model)")
		wantText(t, zot.CallTool("scratchpad", `{"action":"burn"}`), true, "give {")
	},
	"prompt-style": func(t *testing.T, zot *exttest.Host) {
		if got := zot.BeforeAgentStart("Base."); !strings.HasPrefix(got, "Base.\n\n# House rules\n\n- Short functions") {
			t.Errorf("the prompt became %q", got)
		}
	},
	"tools-on-demand": func(t *testing.T, zot *exttest.Host) {
		for _, tool := range zot.Tools() {
			if tool.Deferred == (tool.Name == "load_converters") {
				t.Errorf("%s: deferred is %v", tool.Name, tool.Deferred)
			}
		}
		res := zot.CallTool("load_converters", `{"topic":"length"}`)
		if strings.Join(res.ActivateTools, " ") != "feet_to_metres miles_to_km" {
			t.Errorf("activated %q", res.ActivateTools)
		}
		wantText(t, zot.CallTool("feet_to_metres", `{"value":29032}`), false, "8848.95 m")
		wantText(t, zot.CallTool("load_converters", `{}`), true, "there are length, temperature")
	},
}

func wantPrompt(t *testing.T, got extproto.CommandResponse, part string) {
	t.Helper()
	if got.Action != "prompt" || !strings.Contains(got.Prompt, part) {
		t.Errorf("got %+v, want a prompt with %q", got, part)
	}
}

func wantText(t *testing.T, got extproto.ToolResult, isError bool, part string) {
	t.Helper()
	if got.IsError != isError || !strings.Contains(exttest.Text(got), part) {
		t.Errorf("got %+v, want %q (an error: %v)", got, part, isError)
	}
}

type manifest struct {
	Name     string   `json:"name"`
	Exec     string   `json:"exec"`
	Args     []string `json:"args"`
	Language string   `json:"language"`
	Skills   []string `json:"skills"`
}

// folders lists the examples, each with a manifest that has its name.
func folders(t *testing.T) map[string]manifest {
	t.Helper()
	paths, err := filepath.Glob("*/extension.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	all := map[string]manifest{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range schemas.Validate("manifest", text) {
			t.Error(schemas.Render(p, path, text))
		}
		var m manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if m.Name != filepath.Dir(path) {
			t.Errorf("%s has the name %q", path, m.Name)
		}
		all[m.Name] = m
	}
	return all
}

func TestExamples(t *testing.T) {
	for name, m := range folders(t) {
		t.Run(name, func(t *testing.T) {
			if m.Exec == "" || strings.HasSuffix(m.Exec, ".wasm") {
				return // modules have tests of their own
			}
			t.Parallel()
			use := uses[name]
			if use == nil {
				t.Fatal("nothing is done with this example")
			}
			use(t, start(t, m))
		})
	}
}

// start copies an example, builds it where it is in Go, and runs it the way
// its manifest says.
func start(t *testing.T, m manifest) *exttest.Host {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(m.Name)); err != nil {
		t.Fatal(err)
	}
	if m.Language == "go" {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, program(m.Exec)), "./"+m.Name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building: %v\n%s", err, out)
		}
	}
	needs(t, m)
	path := m.Exec
	if strings.HasPrefix(path, "./") {
		path = filepath.Join(dir, program(path))
	}
	cmd := exec.Command(path, m.Args...)
	cmd.Dir = dir
	return exttest.StartProcess(t, cmd, exttest.Options{Ack: extproto.HelloAck{DataDir: dir}})
}

func program(path string) string {
	if runtime.GOOS == "windows" {
		return path + ".exe"
	}
	return path
}

// needs skips the test where the machine lacks what the example runs on.
func needs(t *testing.T, m manifest) {
	t.Helper()
	switch m.Language {
	case "python":
		if runtime.GOOS == "windows" {
			t.Skip("Windows does not start scripts by their first line")
		}
		if err := exec.Command("python3", "-c", "").Run(); err != nil {
			t.Skipf("there is no python3: %v", err)
		}
	case "javascript":
		if err := exec.Command("node", "--version").Run(); err != nil {
			t.Skipf("there is no node: %v", err)
		}
	case "typescript":
		out, err := exec.Command("node", "-p", "Boolean(require('module').stripTypeScriptTypes)").Output()
		if err != nil {
			t.Skipf("there is no node: %v", err)
		}
		if _, err := os.Stat("scratchpad/node_modules"); strings.TrimSpace(string(out)) != "true" && err != nil {
			t.Skip("this node runs no TypeScript and `npm ci` was not run in scratchpad")
		}
	}
}

// Every README shows the commands to type, and those fit the folder.
func TestReadmes(t *testing.T) {
	index := read(t, "README.md")
	for name, m := range folders(t) {
		text := read(t, filepath.Join(name, "README.md"))
		if !strings.HasPrefix(text, "# "+name+"\n") || !strings.Contains(text, "```bash\n") || !strings.Contains(text, "zot ") {
			t.Errorf("%s/README.md does not show how it is run", name)
		}
		if m.Language == "go" && !strings.Contains(text, "go build -o "+strings.TrimPrefix(m.Exec, "./")+" .") {
			t.Errorf("%s/README.md does not show how %s is built", name, m.Exec)
		}
		if !strings.Contains(index, "["+name+"]("+name+")") {
			t.Errorf("README.md does not list %s", name)
		}
	}
}

// Bundles without a program have what they are for.
func TestBundles(t *testing.T) {
	all := folders(t)
	var theme struct{ Name string }
	if err := json.Unmarshal([]byte(read(t, "theme-only/theme.json")), &theme); err != nil || theme.Name == "" {
		t.Errorf("theme-only/theme.json: %v, name %q", err, theme.Name)
	}
	for _, dir := range all["skill-only"].Skills {
		skill := read(t, filepath.Join("skill-only", dir, "changelog", "SKILL.md"))
		if !strings.HasPrefix(skill, "---\nname: changelog\ndescription: ") {
			t.Errorf("the skill begins with %.80q", skill)
		}
	}
	if len(all["skill-only"].Skills) == 0 {
		t.Error("skill-only names no skills")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

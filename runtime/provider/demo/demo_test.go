package demo_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/demo"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

// Results as the built-in tools and a guard give them.
const (
	failing = "--- FAIL: TestMean (0.00s)\n    mean_test.go:7: Mean(2, 4, 9) = 7, want 5\nFAIL\nFAIL\texample.com/mean\t0.002s\nFAIL\n[exit code 1, 1.2s]"
	passing = "ok  \texample.com/mean\t0.002s\n[exit code 0, 1.1s]"
	edited  = "mean.go: 1 edit applied"
	guarded = "guard refused the call: rm -rf is never needed here"
	denied  = "ZP021, denied: a rule for commands (user config.json:3:33 tools.bash.deny git push *)"
	ran     = "(no output)\n[exit code 0, 0.0s]"
)

func code(t *testing.T) string {
	t.Helper()
	for _, f := range demo.Project() {
		if f.Name == "mean.go" {
			return f.Text
		}
	}
	t.Fatal("the project has no mean.go")
	return ""
}

// A session plays the part of the agent: it hands each call to act and sends
// the result back.
type session struct {
	t      *testing.T
	client model.Client
	tools  []string
	act    func(call message.ToolCall) (result string, isError bool)
}

func newSession(t *testing.T, act func(message.ToolCall) (string, bool)) *session {
	t.Helper()
	srv, err := demo.Start(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		hc.CloseIdleConnections()
		srv.Close()
	})
	c := openai.New(openai.Options{Provider: "demo", BaseURL: srv.URL(), HTTP: hc})
	return &session{t, c, []string{"bash", "read", "edit", "write", demo.ChangelogTool, demo.TrashTool}, act}
}

// prompt runs a prompt to its end and returns the names of the tools called
// and the last words.
func (s *session) prompt(text string) (called []string, last string) {
	s.t.Helper()
	req := model.Request{Model: demo.Model, Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: text}}}}}
	for _, n := range s.tools {
		req.Tools = append(req.Tools, model.Tool{Name: n})
	}
	for range 20 {
		got := providertest.Ask(s.t, s.client, req)
		if got.Err != nil {
			s.t.Fatal(got.Err)
		}
		if !got.Response.Usage.Known || !strings.Contains(got.Text, "scripted demo") {
			s.t.Errorf("usage %+v, text %q: want usage, and a text that says what it is", got.Response.Usage, got.Text)
		}
		req.Messages = append(req.Messages, got.Response.Message)
		calls := got.Response.Message.ToolCalls()
		if len(calls) == 0 {
			return called, got.Text
		}
		answers := message.Message{Role: message.Tool}
		for _, c := range calls {
			called = append(called, c.Name)
			result, isError := s.act(c)
			answers.Content = append(answers.Content, message.ToolResult{CallID: c.ID, IsError: isError, Content: []message.Block{message.Text{Text: result}}})
		}
		req.Messages = append(req.Messages, answers)
	}
	s.t.Fatal("the script does not end")
	return nil, ""
}

// good answers every call as the script hopes, unless instead has a result
// under "tool number", counting the calls of a tool from 1.
func good(t *testing.T, instead map[string]string) func(message.ToolCall) (string, bool) {
	counts := map[string]int{}
	return func(c message.ToolCall) (string, bool) {
		counts[c.Name]++
		key := c.Name + " " + string(rune('0'+counts[c.Name]))
		if r, ok := instead[key]; ok {
			return strings.TrimPrefix(r, "!"), strings.HasPrefix(r, "!")
		}
		switch key {
		case "bash 1":
			return failing, true
		case "read 1":
			return code(t), false
		case "bash 2":
			return guarded, true
		case "bash 3":
			return denied, true
		case "bash 4":
			return passing, false
		}
		return edited, false
	}
}

func TestWholeScript(t *testing.T) {
	var commands []string
	act := good(t, nil)
	s := newSession(t, func(c message.ToolCall) (string, bool) {
		commands = append(commands, string(c.Args))
		return act(c)
	})
	called, last := s.prompt(demo.Prompt)
	var want []string
	for _, st := range demo.Steps() {
		if st.Tool != "" {
			want = append(want, st.Tool)
		}
	}
	if strings.Join(called, " ") != strings.Join(want, " ") {
		t.Errorf("called %q, want %q", called, want)
	}
	for _, s := range []string{"The tests pass", "mean_test.go:7", "was refused", "by the policy", "changelog", "zot login", "script"} {
		if !strings.Contains(last, s) {
			t.Errorf("the summary lacks %q: %s", s, last)
		}
	}
	for i, s := range []string{"go test ./...", `"mean.go"`, `"newText":"sum / len(xs)"`, `"entry"`, demo.DangerousCommand, `"path":"` + demo.Leftovers, demo.PublishCommand, "go test ./..."} {
		if !strings.Contains(commands[i], s) {
			t.Errorf("call %d has the arguments %s, want %q in them", i+1, commands[i], s)
		}
	}
}

// Where a result is not what the script expects, it says so and stops.
func TestStops(t *testing.T) {
	tests := []struct {
		name    string
		instead map[string]string
		calls   int // made before it stops
		says    string
	}{
		{"the tests pass already", map[string]string{"bash 1": passing}, 1, "I expected a failing test"},
		{"the tests do not build", map[string]string{"bash 1": "!./mean.go:3:1: syntax error\nFAIL example.com/mean [build failed]\n[exit code 1, 1s]"}, 1, "syntax error"},
		{"the tests may not run", map[string]string{"bash 1": "!the user declined"}, 1, "The tests were not run: the user declined"},
		{"the code is another", map[string]string{"read 1": "package mean\n"}, 2, "it is there 0 times"},
		{"the code cannot be read", map[string]string{"read 1": "!no such file"}, 2, "it is there 0 times"},
		{"the edit is refused", map[string]string{"edit 1": "!blocked by policy"}, 3, "The edit was not made: blocked by policy"},
		{"nothing guards", map[string]string{"bash 2": ran}, 5, "was not refused"},
		{"the tests still fail", map[string]string{"bash 4": "!" + failing}, 8, "The tests do not pass"},
		{"the tests say nothing", map[string]string{"bash 4": ran}, 8, "The tests do not pass"},
		{"the tests are not run again", map[string]string{"bash 4": "!the call was interrupted"}, 8, "The tests do not pass"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called, last := newSession(t, good(t, tt.instead)).prompt(demo.Prompt)
			if len(called) != tt.calls || !strings.Contains(last, tt.says) || !strings.Contains(last, "I stop here") {
				t.Errorf("called %q and ended with: %s\nwant %d calls and %q", called, last, tt.calls, tt.says)
			}
			if strings.Contains(last, "The tests pass.") {
				t.Errorf("it claims success: %s", last)
			}
		})
	}
}

func TestExtensionsAreOptional(t *testing.T) {
	s := newSession(t, good(t, nil))
	s.tools = []string{"bash", "read", "edit"}
	called, last := s.prompt(demo.Prompt)
	if strings.Join(called, " ") != "bash read edit bash bash bash" || !strings.Contains(last, "no extension offered") {
		t.Errorf("without the tool: called %q, ended with %s", called, last)
	}
	called, last = newSession(t, good(t, map[string]string{demo.ChangelogTool + " 1": "!extension changelog/changelog_add failed: it died"})).prompt(demo.Prompt)
	if len(called) != 8 || !strings.Contains(last, "The tests pass") || strings.Contains(last, "noted it") {
		t.Errorf("with a tool that fails: called %q, ended with %s", called, last)
	}
}

// A session of somebody else's may have no policy about publishing.
func TestPolicyIsOptional(t *testing.T) {
	const failed = "!fatal: 'zot-demo-no-such-remote' does not appear to be a git repository\n[exit code 128, 0.0s]"
	called, last := newSession(t, good(t, map[string]string{"bash 3": failed})).prompt(demo.Prompt)
	if len(called) != 8 || !strings.Contains(last, "The tests pass") || strings.Contains(last, "policy") {
		t.Errorf("called %q, ended with %s", called, last)
	}
}

func TestOtherPrompts(t *testing.T) {
	s := newSession(t, good(t, nil))
	called, last := s.prompt("write me a poem")
	if len(called) != 0 || !strings.Contains(last, "zot login") || !strings.Contains(last, "zot demo") {
		t.Errorf("called %q, said %s", called, last)
	}
	s.tools = []string{"read"}
	if called, last = s.prompt(demo.Prompt); len(called) != 0 || !strings.Contains(last, `"bash"`) {
		t.Errorf("without bash: called %q, said %s", called, last)
	}
}

// The project is what the script takes it for: its tests fail where the script
// looks, and pass once the script's edit was made.
func TestRealProject(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs a Go project, twice")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to run the project's tests with")
	}
	dir := t.TempDir()
	for _, f := range demo.Project() {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, func(c message.ToolCall) (string, bool) {
		var args struct {
			Command, Path string
			Edits         []struct{ OldText, NewText string }
		}
		if err := json.Unmarshal(c.Args, &args); err != nil {
			t.Fatal(err)
		}
		switch {
		case c.Name == "read":
			data, err := os.ReadFile(filepath.Join(dir, args.Path))
			return string(data), err != nil
		case c.Name == "edit":
			file := filepath.Join(dir, args.Path)
			data, _ := os.ReadFile(file)
			text := strings.Replace(string(data), args.Edits[0].OldText, args.Edits[0].NewText, 1)
			return edited, os.WriteFile(file, []byte(text), 0o600) != nil
		case args.Command == demo.DangerousCommand:
			return guarded, true
		case args.Command == demo.TestCommand:
			cmd := exec.Command(goTool, "test", "./...")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
			out, err := cmd.CombinedOutput()
			return string(out), err != nil
		}
		return "noted", false
	})
	if _, last := s.prompt(demo.Prompt); !strings.Contains(last, "The tests pass") {
		t.Errorf("ended with: %s", last)
	}
}

func TestWire(t *testing.T) {
	srv, err := demo.Start(demo.Options{Delay: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	get := func(method, path, body string) (int, string) {
		req, _ := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data)
	}
	prompt, _ := json.Marshal(demo.Prompt)
	tools := `[{"function":{"name":"bash"}},{"function":{"name":"read"}},{"function":{"name":"edit"}}]`
	body := `{"model":"scripted-demo","tools":` + tools + `,"messages":[{"role":"user","content":[{"type":"text","text":` + string(prompt) + `}]}]`
	for _, tt := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/models", "", 200, `"id":"scripted-demo"`},
		{"GET", "/nowhere", "", 404, "/v1/nowhere"},
		{"POST", "/chat/completions", "{", 400, "not JSON"},
		{"POST", "/chat/completions", "{}", 200, "zot login"},
		{"POST", "/chat/completions", body + "}", 200, `"finish_reason":"tool_calls"`},
		{"POST", "/chat/completions", body + `,"stream":true}`, 200, ": scripted demo\n\ndata: "},
		{"POST", "/chat/completions", body + `,"stream":true}`, 200, `"reasoning_content":"(scripted)"`},
		{"POST", "/chat/completions", body + `,"stream":true}`, 200, "data: [DONE]\n\n"},
	} {
		if status, got := get(tt.method, tt.path, tt.body); status != tt.status || !strings.Contains(got, tt.says) {
			t.Errorf("%s %s %s: %d %s, want %d and %q", tt.method, tt.path, tt.body, status, got, tt.status, tt.says)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "127.0.0.1", "example.com:80"} {
		if _, err := demo.Start(demo.Options{Addr: addr}); err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("at %q: %v", addr, err)
		}
	}
	if _, err := demo.Start(demo.Options{Addr: strings.TrimSuffix(strings.TrimPrefix(srv.URL(), "http://"), "/v1")}); err == nil {
		t.Error("two servers listen at one address")
	}
}

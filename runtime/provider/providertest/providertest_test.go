package providertest_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func TestParseErrors(t *testing.T) {
	for script, want := range map[string]string{
		"say hi":                          `s:1: "say" stands before the first "turn"`,
		"turn\n\n# c\nsing hi":            `s:4: there is no step "sing"`,
		"turn\nexpect weather is fine":    `s:2: nothing is known to expect of "weather"`,
		"turn\nexpect prompt resembles x": `takes is, contains, lacks or matches, not "resembles"`,
		"turn\nexpect prompt matches (":   `s:2: error parsing regexp`,
		"turn\nsay \"open":                `s:2: "open is not a quoted text`,
		"turn\nquirk odd":                 `there is no quirk "odd"`,
		"turn\nstatus often":              `status takes a number first, not "often"`,
		"turn\nusage lots":                `usage takes none, or input=N`,
		"turn\ncall":                      `call takes a tool's name`,
		"turn\npause long":                `invalid duration`,
		"turn\nno way":                    `no takes "done"`,
		"turn\ncut now":                   `cut takes nothing`,
		"turn always\nturn":               `only the last turn can be "turn always"`,
		"turn sometimes":                  `turn takes nothing or "always"`,
		"turn\nexpect no luck":            `expect no takes "tool NAME"`,
		"turn\nexpect images some":        `expect images takes a number`,
	} {
		_, err := providertest.Parse("s", script)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %q", script, err, want)
		}
	}
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

func start(t *testing.T, script string) *providertest.Server {
	t.Helper()
	s, err := providertest.Parse("s", script)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := providertest.Start(s, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

const hi = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

// What the server is asked is checked as strictly as what it answers.
func TestStrictness(t *testing.T) {
	tests := []struct{ name, script, body, want string }{
		{"one too many", "", hi, "one more than the script has turns"},
		{"unmet expectation", "turn\n expect prompt is bye\n say x", hi, `s:2: expected a request whose prompt is "bye", got "hi"`},
		{"missing tool", "turn\n expect tool bash\n say x", hi, `s:2: expected tool "bash" among the tools`},
		{"unwanted tool", "turn\n expect no tool bash", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}]}`, `expected no tool "bash"`},
		{"no JSON", "", "{", "not JSON"},
		{"no model", "", `{"messages":[]}`, "names no model"},
		{"no messages", "", `{"model":"m"}`, "has no messages"},
		{"unknown role", "", `{"model":"m","messages":[{"role":"wizard","content":"x"}]}`, `no role "wizard"`},
		{"orphaned call", "", `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x"}]}`, `the call "a" has no result`},
		{"orphaned result", "", `{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, `the result of "a"`},
		{"poisoned arguments", "", `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x"}}]}]}`, "not a JSON object"},
		{"declaration with content", "", `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"system","content":null,"tools":[]}]}`, "must have no content key"},
		{"bad schema", "", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"string"}}}]}`, `tools[0].function.parameters: the schema of "f"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t, tt.script)
			status, body := post(t, srv.URL(), tt.body)
			err := srv.Check()
			if status != http.StatusBadRequest || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("answered %d %s\nand reports %v, want %q", status, body, err, tt.want)
			}
		})
	}
}

func TestUnusedTurn(t *testing.T) {
	srv := start(t, "turn\n say a\nturn\n say b\nturn always\n say c")
	post(t, srv.URL(), hi)
	if err := srv.Check(); err == nil || err.Error() != "s:3: this turn was never asked for" {
		t.Errorf("reports %v", err)
	}
	for range 3 {
		post(t, srv.URL(), hi)
	}
	if err := srv.Check(); err != nil {
		t.Errorf("reports %v", err)
	}
}

// As a program it prints its URL, serves, and fails when its script does.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	file, log, url := filepath.Join(dir, "x.model"), filepath.Join(dir, "log"), filepath.Join(dir, "url")
	if err := os.WriteFile(file, []byte("turn\n say hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(ask bool) (int, string) {
		stdin, end := io.Pipe()
		out, w := io.Pipe()
		var stderr bytes.Buffer
		code := make(chan int)
		go func() {
			code <- providertest.Main([]string{"-stdin", "-log", log, "-url", url, file}, stdin, w, &stderr)
		}()
		line := make([]byte, 100)
		n, err := out.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		if base := strings.TrimSpace(string(line[:n])); ask {
			post(t, base, hi)
		}
		end.Close()
		return <-code, stderr.String()
	}
	if code, msg := run(true); code != 0 {
		t.Errorf("exit %d: %s", code, msg)
	}
	if data, _ := os.ReadFile(log); string(data) != "request 1\nmodel m\nuser: hi\n" {
		t.Errorf("log = %q", data)
	}
	if code, msg := run(false); code != 1 || !strings.Contains(msg, "x.model:1: this turn was never asked for") {
		t.Errorf("exit %d: %s", code, msg)
	}
	if code := providertest.Main([]string{filepath.Join(dir, "none")}, nil, io.Discard, io.Discard); code != 1 {
		t.Errorf("exit %d for a missing file", code)
	}
}

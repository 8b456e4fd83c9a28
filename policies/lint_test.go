package policies_test

import (
	"strings"
	"testing"

	"github.com/patriceckhart/zot/policies"
)

func TestLint(t *testing.T) {
	set := load(t, layers{policies.User: `{
		"require": ["guard"],
		"rules": [
			{"id": "all", "decision": "deny", "match": {"name": "*"}},
			{"id": "one", "decision": "allow", "match": {"name": "todo"}},
			{"id": "same", "decision": "deny", "match": {"requests": "net.connect:*"}},
			{"id": "same", "decision": "ask", "match": {"requests": "net.connect:a.b:443"}},
			{"id": "p", "decision": "allow", "match": {"scope": "project", "name": "todo"}}]}`})
	var got []string
	for _, n := range set.Lint() {
		got = append(got, n.String())
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"user.json:5:4 rule one: it never decides: rule all in line 4", "user.json:7:4 rule same: rule same is there twice",
		"user.json:7:4 rule same: it never decides", "rule p: it grants nothing", "rule all: it denies guard, which line 2",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing from\n%s", want, all)
		}
	}
	fine := load(t, layers{policies.User: `{"rules": [{"decision": "deny", "match": {"name": "*", "except": {"name": "todo"}}}, {"decision": "allow", "match": {"name": "todo"}}]}`})
	if notes := fine.Lint(); len(notes) > 0 {
		t.Errorf("got %v", notes)
	}
}

func TestTables(t *testing.T) {
	set := load(t, layers{policies.Managed: `{"mode": "pinned", "rules": [{"decision": "deny", "match": {"requests": "net.connect:*"}}]}`})
	tests, err := policies.ParseTable("policy.tests.yaml", []byte(`
tests:
  - name: no network
    extension: {name: todo, locked: true, permissions: {net: {connect: ["x:443"]}}}
    use: net.connect=x:443
    want: deny
    code: ZP021
  - name: in the lock
    extension: {name: todo, locked: true, permissions: {tools: ["*"]}}
    want: allow
  - name: wrong on purpose
    extension: {name: todo}
    want: allow
`))
	if err != nil {
		t.Fatal(err)
	}
	failed := set.RunTable(tests, nil)
	if len(failed) != 1 || failed[0].Pos.Line != 11 || !strings.Contains(failed[0].String(), `"wrong on purpose": want allow, got deny ZP021`) {
		t.Errorf("got %v", failed)
	}
	for text, want := range map[string]string{
		`{"test": []}`: "a.json:1:2: unknown key", `{"tests": [{"want": "maybe"}]}`: "a.json:1:21: tests[0].want must be", `{"tests": [{"wnat": "deny"}]}`: "a.json:1:12",
		`{"tests": [{"want": "deny", "command": "ls", "extension": {}}]}`: "make it two tests", `{"tests": [{"want": "deny", "command": "ls", "tool": "read"}]}`: "runs no command",
		`{"tests": [{"want": "deny", "use": "nets"}]}`: "write a capability, perhaps with a value: net.connect=host:443",
	} {
		if _, err := policies.ParseTable("a.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestFetchingLaunchers(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y x": "npx", "uvx x": "uvx", "npm exec x": "npm exec", "C:\\n\\npx.cmd x": "npx", "go run .": "", "go run a.b/c@latest": "go run a.b/c@latest",
		"python3 x.py": "", "uv run x": "uv run", "uv tool run x": "uv tool run", "deno run https://x/y.ts": "deno https://x/y.ts", "./x": "", "env npx x": "npx", "pipx run x": "pipx run",
	} {
		words := strings.Fields(command)
		if got := policies.FetchingLauncher(words[0], words[1:]); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

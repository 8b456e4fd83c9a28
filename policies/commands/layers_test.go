package commands_test

import (
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/commands"
)

// TestTablesAboutCommands has a table ask about command lines and tools.
func TestTablesAboutCommands(t *testing.T) {
	text := []byte(`{"policy": {"tools": {
  "write": "ask",
  "bash": {
    "deny": ["rm -rf *"],
    "ask": ["git push *"]
  }
}}}`)
	f, err := document.Parse("config.json", text)
	if err != nil {
		t.Fatal(err)
	}
	set := policies.Load([]policies.Section{{Layer: policies.User, File: "config.json", Text: text, Node: f.Root.Get("policy")}})
	lines, err := commands.Of(set)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := policies.ParseTable("policy.tests.json", []byte(`{"tests": [
		{"command": "ls -l", "want": "allow"},
		{"command": "cd x && rm -rf y", "want": "deny", "code": "ZP021"},
		{"command": "git -C x push origin", "want": "ask"},
		{"command": "git push", "headless": true, "want": "deny", "code": "ZP012"},
		{"tool": "write", "want": "ask"}, {"tool": "read", "want": "allow"}, {"tool": "bash", "want": "allow"},
		{"name": "wrong", "command": "ls; git push", "want": "allow"}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	failed := set.RunTable(tests, lines.Decide)
	if len(failed) != 1 || failed[0].Pos.Line != 7 {
		t.Fatalf("%v", failed)
	}
	if got := failed[0].String(); !strings.Contains(got, `"wrong": want allow, got ask ZP021`) || !strings.Contains(got, "config.json:5:") {
		t.Error(got)
	}
}

package gate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
)

// tools reads the "tools" of each layer's policy.
func tools(t *testing.T, layers map[policies.Layer]string) *gate.Tools {
	t.Helper()
	var sections []policies.Section
	for layer, text := range layers {
		f, err := document.Parse(layer.String()+".json", []byte(`{"tools": `+text+`}`))
		if err != nil {
			t.Fatal(err)
		}
		sections = append(sections, policies.Section{Layer: layer, File: f.Name, Text: f.Data, Node: f.Root})
	}
	set := policies.Load(sections)
	if !set.Valid() {
		t.Fatal(set.Problems)
	}
	tools, err := gate.NewTools(set)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func command(line string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"command": %q}`, line))
}

// A line may need several yeses; who asks for each is known, so that one that
// lasts is not taken for another.
func TestAskingListsEveryRule(t *testing.T) {
	tools := tools(t, map[policies.Layer]string{
		policies.User:    `{"write": "ask", "bash": {"ask": ["git push *", "npm publish *"]}}`,
		policies.Project: `{"bash": {"allow": ["git *", "npm *"], "unlisted": "ask"}}`,
	})
	for _, tt := range []struct {
		tool, line string
		want       []string
	}{
		{"bash", "git log", nil},
		{"bash", "git push origin", []string{"tools.bash.ask git push *"}},
		{"bash", "git push && npm publish", []string{"tools.bash.ask git push *", "tools.bash.ask npm publish *"}},
		{"bash", "git push; make", []string{"tools.bash", "tools.bash.ask git push *"}},
		{"bash", "make", []string{"tools.bash"}},
		{"write", "", []string{"tools.write"}},
		{"read", "", nil},
	} {
		if got := tools.Asking(tt.tool, command(tt.line)); !slices.Equal(got, tt.want) {
			t.Errorf("%s %q: %q, want %q", tt.tool, tt.line, got, tt.want)
		}
		verdict := policies.Allow
		if len(tt.want) > 0 {
			verdict = policies.Ask
		}
		if d := tools.Decide(tt.tool, command(tt.line)); d.Verdict != verdict {
			t.Errorf("%s %q: %s", tt.tool, tt.line, d.Verdict)
		}
	}
}

// What is judged is what would run, however the arguments spell it.
func TestEverySpellingOfACommandIsJudged(t *testing.T) {
	tools := tools(t, map[policies.Layer]string{policies.User: `{"bash": {"deny": ["rm *"], "ask": ["touch *"]}}`})
	for _, args := range []string{
		`{"cmd":"rm x"}`, `{"command":["rm","x"]}`, `{"command":null,"cmd":"rm x"}`, `{"Command":"ls","command":["sh","-c","rm x"]}`,
		`{"command":"rm x","Command":"ls"}`, `{"command":"ls","command":"rm x"}`,
	} {
		if d := tools.Decide("bash", json.RawMessage(args)); d.Verdict != policies.Deny {
			t.Errorf("%s: %s", args, d.Verdict)
		}
		args = strings.ReplaceAll(args, "rm", "touch")
		if got := tools.Asking("bash", json.RawMessage(args)); !slices.Equal(got, []string{"tools.bash.ask touch *"}) {
			t.Errorf("%s: asks for %q", args, got)
		}
	}
}

// A "no" names the rule, its file and line, and what would change it.
func TestDecisionsNameTheirRule(t *testing.T) {
	tools := tools(t, map[policies.Layer]string{policies.Project: `{"bash": {"deny": ["rm *"], "allow": ["ls *"], "unlisted": "deny"}}`})
	for line, want := range map[string]string{
		"ls; rm x": "ZP021, denied: a rule for commands (rm x) (project project.json:1:30 tools.bash.deny rm *); whoever keeps this project can change that line",
		"make":     "ZP021, denied: no rule names it (project project.json:1:58 tools.bash); whoever keeps this project can change that line",
	} {
		d := tools.Decide("bash", command(line))
		if got := gate.Sentence(d); got != want {
			t.Errorf("%q:\n got %s\nwant %s", line, got, want)
		}
	}
}

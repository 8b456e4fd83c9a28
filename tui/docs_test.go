package tui_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/keys"
)

const page = "../docs/tui.md"

// The tables of commands and keys in the documentation are the ones of the
// program.
func TestDocumentedCommandsAndKeys(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	want := weave(t, weave(t, text, "commands", commandTable()), "keys", keyTable())
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("the tables in %s are not those of the program; go test ./tui -run TestDocumented -update", page)
	}
}

// weave puts a table between the two comments that name it.
func weave(t *testing.T, text, name, table string) string {
	t.Helper()
	start, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	i, j := strings.Index(text, start), strings.Index(text, end)
	if i < 0 || j < i {
		t.Fatalf("%s has no place for %s", page, name)
	}
	return text[:i+len(start)] + table + text[j:]
}

func commandTable() string {
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range tui.BuiltinCommands() {
		name := strings.TrimSpace("/" + c.Name + " " + c.Args)
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), c.Description)
	}
	return b.String()
}

func keyTable() string {
	var b strings.Builder
	b.WriteString("| action | keys | what it does |\n|---|---|---|\n")
	for _, k := range keys.Defaults() {
		var chords []string
		for _, c := range k.Keys {
			chords = append(chords, "`"+c+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Action, strings.Join(chords, " "), k.Help)
	}
	return b.String()
}

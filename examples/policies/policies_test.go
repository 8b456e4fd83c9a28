// Package policies holds policies to start from. Each is checked here with the
// table beside it, as the layer that it is meant for.
package policies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/commands"
)

// layerOf says who each policy is for.
var layerOf = map[string]string{
	"solo": "user", "team-pinned": "project", "locked-ci": "user", "managed-company": "managed",
}

func TestPolicies(t *testing.T) {
	files, err := filepath.Glob("*/config.json")
	if err != nil || len(files) != len(layerOf) {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) { check(t, file, layerOf[name]) })
	}
}

// check reads a policy as its layer, and puts the questions of its table.
func check(t *testing.T, file, layerName string) {
	settings, ok := config.ParseLayer(layerName)
	layer, known := policies.ParseLayer(layerName)
	if !ok || !known {
		t.Fatalf("no layer %q", layerName)
	}
	checked, err := config.CheckFile(settings, file, config.Options{ProjectRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checked.Problems {
		t.Error(p.Render())
	}
	text := read(t, file)
	parsed, err := document.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	set := policies.Load([]policies.Section{{Layer: layer, File: file, Text: text, Node: parsed.Root.Get("policy")}})
	for _, p := range set.Problems {
		t.Error(p.Render())
	}
	for _, n := range set.Lint() {
		t.Error(n)
	}
	lines, err := commands.Of(set)
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "policy.tests.*"))
	if len(tables) != 1 {
		t.Fatalf("%d tables beside %s", len(tables), file)
	}
	tests, err := policies.ParseTable(tables[0], read(t, tables[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, failed := range set.RunTable(tests, lines.Decide) {
		t.Errorf("%s: %s", document.Place(tables[0], failed.Pos), failed)
	}
	covers(t, set, tests)
}

// covers wants a test for each answer, so that a table says what the policy
// forbids and what it lets through.
func covers(t *testing.T, set *policies.Set, tests []policies.TableTest) {
	seen := map[string]bool{}
	for _, test := range tests {
		seen[test.Want] = true
	}
	if !seen["deny"] || !seen["allow"] {
		t.Error("the table has no test that allows, or none that denies")
	}
}

// Each page names its own folder and the commands that it shows are zot's.
func TestPages(t *testing.T) {
	for name := range layerOf {
		text := string(read(t, filepath.Join(name, "README.md")))
		if !strings.HasPrefix(text, "# "+name+"\n") {
			t.Errorf("%s/README.md has another name", name)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const readme = "../../README.md"

var readmeFile = regexp.MustCompile("(?ms)^<!-- file: (\\S+) -->\n```\\w+\n(.*?)^```$")

// readmeCmd writes the files that the README shows to the current folder.
func readmeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: readme")
	}
	text, err := os.ReadFile(readme)
	ts.Check(err)
	for _, m := range readmeFile.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\r\n", "\n"), -1) {
		path := ts.MkAbs(m[1])
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(m[2]), 0o644))
	}
}

// buildCmd builds a program of one file as if it was in this module, so that
// it finds the SDK. GOOS and GOARCH are the scenario's.
func buildCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: build FILE.go OUT")
	}
	root, err := filepath.Abs("../..")
	ts.Check(err)
	overlay := filepath.Join(ts.Getenv("WORK"), "overlay.json")
	plan, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "readmeprogram", "main.go"): ts.MkAbs(args[0])}})
	ts.Check(err)
	ts.Check(os.WriteFile(overlay, plan, 0o600))
	cmd := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay, "-o", ts.MkAbs(args[1]), "./readmeprogram")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+ts.Getenv("GOOS"), "GOARCH="+ts.Getenv("GOARCH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%v\n%s", err, out)
	}
}

var readmeCommand = regexp.MustCompile(`(?m)^\$ (?:.*\| )?zot(?: (.*?))?(?:  +#.*)?$`)

// Every command that the README shows is one that zot has, with its flags.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	found := readmeCommand.FindAllStringSubmatch(string(text), -1)
	if len(found) < 25 {
		t.Fatalf("only %d commands were found", len(found))
	}
	for _, m := range found {
		words := strings.Fields(strings.NewReplacer(`"`, "", "<", "").Replace(m[1]))
		cmd := exec.Command(os.Args[0], append(words, "--help")...)
		cmd.Env = append(os.Environ(), testOnlyMain+"=1", "ZOT_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || len(words) > 0 && words[0][0] != '-' && !strings.Contains(string(out), "zot "+words[0]) {
			t.Errorf("zot %s: %v\n%s", m[1], err, out)
		}
	}
}

// What the README links to in this repository is there.
func TestReadmeLinks(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}

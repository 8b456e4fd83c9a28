package extensions

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/schemas"
)

const manual = "../../docs/extensions.md"

var fenced = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks returns the code of a language in the manual.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var all []string
	for _, m := range fenced.FindAllStringSubmatch(read(t, manual), -1) {
		if m[1] == language {
			all = append(all, m[2])
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no %s", manual, language)
	}
	return all
}

// Every frame and manifest in the manual satisfies its schema, and every type
// of frame is shown.
func TestManualFrames(t *testing.T) {
	shown := map[string]bool{}
	for _, block := range blocks(t, "json") {
		if !strings.Contains(block, `"type":"`) {
			for _, p := range schemas.Validate("manifest", []byte(block)) {
				t.Error(schemas.Render(p, manual, []byte(block)))
			}
			continue
		}
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line != "" {
				head, _ := extproto.Peek([]byte(line))
				shown[head.Type] = true
				checkFrame(t, head.Type, line)
			}
		}
	}
	for _, host := range []bool{false, true} {
		for _, name := range extproto.FrameTypes(host) {
			if !shown[name] && name != "submit_slash" {
				t.Errorf("the manual shows no %s", name)
			}
		}
	}
}

// checkFrame accepts a line that is a frame of either side, with no field that
// its schema does not know.
func checkFrame(t *testing.T, frameType, line string) {
	t.Helper()
	_, fromExt := extproto.DecodeFromExtension([]byte(line))
	_, fromHost := extproto.DecodeFromHost([]byte(line))
	if fromExt != nil && fromHost != nil {
		t.Errorf("%s: %v; %v", line, fromExt, fromHost)
		return
	}
	name := "frames/" + frameType
	for _, p := range schemas.Validate(name, []byte(line)) {
		t.Error(schemas.Render(p, manual, []byte(line)))
	}
	text, _ := schemas.Get(name)
	var schema struct{ Properties map[string]any }
	var frame map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	json.Unmarshal([]byte(line), &frame)
	for field := range frame {
		if schema.Properties[field] == nil {
			t.Errorf("%s: %s has no field %q", line, frameType, field)
		}
	}
}

// Every program in Go compiles, and so does the test.
func TestManualGo(t *testing.T) {
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for i, code := range blocks(t, "go") {
		// The go tool is told that a folder is in the module, so that the
		// program finds the module's packages.
		name, as, compile := fmt.Sprintf("manual%d", i), "main.go", []string{"build"}
		if strings.Contains(code, "func Test") {
			as, compile = "main_test.go", []string{"test", "-c", "-vet=off"}
		}
		dir := t.TempDir()
		file, overlay := filepath.Join(dir, "code.go"), filepath.Join(dir, "overlay.json")
		plan, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, name, as): file}})
		for path, text := range map[string][]byte{file: []byte(code), overlay: plan} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", append(compile, "-overlay", overlay, "-o", filepath.Join(dir, "out"), "./"+name)...)
		cmd.Dir = module
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("program %d of the manual: %v\n%s", i, err, out)
		}
	}
}

// The first program of the manual does what the manual says of it.
func TestManualPython(t *testing.T) {
	needs(t, manifest{Language: "python"})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "greet.py"), []byte(blocks(t, "python")[0]), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "greet.py"))
	cmd.Dir = dir
	zot := exttest.StartProcess(t, cmd, exttest.Options{})
	wantPrompt(t, zot.Command("greet", "Ada"), "Greet Ada in one sentence.")
	wantPrompt(t, zot.Command("greet", ""), "Greet me in one sentence.")
}

// The shell line by which a test is made by hand works, and ends by itself.
func TestManualShell(t *testing.T) {
	needs(t, manifest{Language: "python"})
	if runtime.GOOS == "windows" {
		t.Skip("the manual's line is for a POSIX shell, which Windows has none of")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "greet.py"), []byte(blocks(t, "python")[0]), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks(t, "bash") {
		if !strings.HasPrefix(block, "printf") {
			continue
		}
		cmd := exec.Command("sh", "-c", block)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"prompt": "Greet Ada in one sentence."`) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// Links inside the manual lead somewhere.
func TestManualLinks(t *testing.T) {
	text := read(t, manual)
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors[strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if !anchors[m[1]] {
			t.Errorf("there is no section #%s", m[1])
		}
	}
}

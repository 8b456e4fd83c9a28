package extensions

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/wasi"
)

const wasmManual = "../../docs/wasm.md"

// manualProgram returns the first program of a language in docs/wasm.md, and the
// command after it that builds.
func manualProgram(t *testing.T, language string) (code, build string) {
	t.Helper()
	all := fenced.FindAllStringSubmatch(read(t, wasmManual), -1)
	for i, m := range all {
		if m[1] == language && i+1 < len(all) {
			lines := strings.Split(strings.TrimSpace(all[i+1][2]), "\n")
			return m[2], lines[len(lines)-1]
		}
	}
	t.Fatalf("%s has no %s", wasmManual, language)
	return "", ""
}

// The programs of the manual become modules by the commands of the manual, and
// do what it says, where the machine has the compiler.
func TestWasmManualPrograms(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh, and the manual's commands are for a POSIX shell")
	}
	notWithRace(t)
	for language, file := range map[string]string{"go": "main.go", "rust": "uptime.rs", "typescript": "uptime.ts", "zig": "uptime.zig"} {
		t.Run(language, func(t *testing.T) {
			code, build := manualProgram(t, language)
			dir := t.TempDir()
			if language == "go" {
				// In the module, which the program imports from.
				var err error
				if dir, err = os.MkdirTemp(".", "_uptime-"); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(dir) })
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			compiler(t, language, dir)
			cmd := exec.Command("sh", "-c", build)
			cmd.Dir = dir
			if language == "rust" {
				cmd.Env = append(os.Environ(), "PATH=/usr/bin:"+os.Getenv("PATH")) // the system's own, not rustup's
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", build, err, out)
			}
			uptime(t, filepath.Join(dir, "uptime.wasm"))
		})
	}
}

// compiler skips the test where the language's compiler does not make modules.
func compiler(t *testing.T, language, dir string) {
	t.Helper()
	switch language {
	case "rust":
		out, err := exec.Command("/usr/bin/rustc", "--print", "target-libdir", "--target", "wasm32-wasi").Output()
		if _, missing := os.Stat(strings.TrimSpace(string(out))); err != nil || missing != nil {
			t.Skip("needs Debian's rustc and libstd-rust-dev-wasm32")
		}
	case "zig":
		if version, err := exec.Command("zig", "version").Output(); err != nil || !strings.HasPrefix(string(version), "0.11.") {
			t.Skipf("needs Zig 0.11: %s %v", version, err)
		}
	case "typescript":
		modules := os.Getenv("ZOT_TEST_ASSEMBLYSCRIPT")
		if modules == "" {
			t.Skip("needs ZOT_TEST_ASSEMBLYSCRIPT: a node_modules folder with assemblyscript and @assemblyscript/wasi-shim")
		}
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
}

// uptime uses the manual's extension once.
func uptime(t *testing.T, module string) {
	t.Helper()
	conn, err := wasi.Start(t.Context(), wasi.Options{Path: module, Cache: cache, StartMax: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Stop(context.Background(), transports.Grace{})
	c := &conversation{t: t, conn: conn}
	c.until(`"hello"`)
	c.send(extproto.HelloAck{ProtocolVersion: extproto.Version})
	c.until(`"ready"`)
	ask := extproto.CommandInvoked{ID: "7", Name: "uptime"}
	c.send(ask)
	c.answerTo(ask)
	if last := c.frames[len(c.frames)-1]; !regexp.MustCompile(`"display":"up for [\d.]+s"`).MatchString(last) {
		t.Errorf("/uptime gave %s", last)
	}
	c.send(extproto.Shutdown{})
	c.untilEnd()
	if exit := conn.Stop(t.Context(), transports.Grace{Exit: time.Minute, Term: time.Second}); exit.Code != 0 {
		t.Errorf("it ended with %v", exit)
	}
}

// What the manual names is there: sections, files, tests and frames.
func TestWasmManual(t *testing.T) {
	text := read(t, wasmManual)
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors[strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(text, -1) {
		if m[1] == "" && !anchors[m[2]] {
			t.Errorf("there is no section #%s", m[2])
		}
		if _, err := os.Stat(filepath.Join("../../docs", m[1])); m[1] != "" && err != nil {
			t.Error(err)
		}
	}
	tests := ""
	for _, pattern := range []string{"transports/wasi/*_test.go", "transports/wasi/internal/*/*_test.go", "runtime/fetch/*_test.go", "runtime/extension/*_test.go", "policies/audit/*_test.go"} {
		files, _ := filepath.Glob("../../" + pattern)
		for _, file := range files {
			tests += read(t, file)
		}
	}
	for _, name := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(tests, "func "+name[1]+"(") {
			t.Errorf("there is no test %s", name[1])
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `{"type":`) {
			head, err := extproto.Peek([]byte(line))
			if err != nil || !json.Valid([]byte(line)) {
				t.Errorf("%s: %v", line, err)
			}
			checkFrame(t, head.Type, strings.TrimSpace(line))
		}
	}
}

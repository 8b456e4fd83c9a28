package democmd

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/wasi"
)

var update = flag.Bool("update", false, "build changelog/changelog.wasm anew")

// builtBy is what the module was built by, with Debian's wasi-libc of the same
// release. Another compiler makes other bytes of the same program.
const builtBy = "Debian clang version 14.0.6"

// The module in the repository is what its source is.
func TestTheModuleIsItsSource(t *testing.T) {
	version, err := exec.Command("clang", "--version").Output()
	if err != nil {
		t.Skipf("needs clang: %v", err)
	}
	if got, _, _ := strings.Cut(string(version), "\n"); got != builtBy {
		t.Skipf("the module was built by %s, and this is %s", builtBy, got)
	}
	out := filepath.Join(t.TempDir(), "changelog.wasm")
	cmd := exec.Command("clang", "--target=wasm32-wasi", "-Os", "-Wall", "-Wextra", "-Werror", "-Wl,--strip-all", "-o", out, "changelog.c")
	cmd.Dir = "changelog"
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs lld, wasi-libc and libclang-rt-14-dev-wasm32: %v\n%s", err, text)
	}
	built, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("changelog/changelog.wasm", built, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(built, module) {
		t.Error("changelog/changelog.wasm is not what its source is; run: go test ./cmd/zot/internal/democmd -update")
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == wasi.RunnerArg {
		os.Exit(wasi.RunnerMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// The module writes to the changelog of its one folder, whatever the entry is,
// and answers what it cannot do.
func TestTheModule(t *testing.T) {
	if len(module) > 1<<20 {
		t.Errorf("the module has %d bytes, more than a MiB", len(module))
	}
	dir := t.TempDir()
	conn, err := wasi.Start(t.Context(), wasi.Options{
		Module: module, Name: "changelog", MemPages: 64, StartMax: 10 * time.Minute, Mounts: []wasi.Mount{{Host: dir, Guest: "/C:/project"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Stop(context.Background(), transports.Grace{})
	for _, step := range []struct{ send, want string }{
		{"", `{"type":"hello","name":"changelog","version":"1.0.0"}`},
		{`{"type":"hello_ack","cwd":"C:\\project","extension_dir":"/x","capabilities":["request"]}`, `"name":"changelog_add"`},
		{"", `{"type":"ready"}`},
		{`{"type":"tool_call","id":"a\"1","name":"changelog_add","args":{"x":[{"entry":"deep"}],"entry":"Gr\u00f6ße \"7\"\n€"}}`, `"id":"a\"1","content":[{"type":"text","text":"added to CHANGELOG.md"}]}`},
		{`{"type":"tool_call","id":"2","name":"changelog_add","args":{}}`, `"id":"2","content":[{"type":"text","text":"give the entry as a sentence"}],"is_error":true}`},
		{`{"type":"no_such_frame"}`, ""},
		{`{"type":"shutdown"}`, `{"type":"shutdown_ack"}`},
	} {
		if step.send != "" {
			if err := conn.WriteFrame([]byte(step.send), time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if step.want == "" {
			continue
		}
		line, err := conn.ReadFrame()
		if err != nil || !strings.Contains(string(line), step.want) {
			t.Fatalf("after %s: %s, %v, want %s", step.send, line, err, step.want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if want := "\n- Größe \"7\" €\n"; string(text) != want {
		t.Errorf("the changelog is %q, %v, want %q", text, err, want)
	}
}

package ext_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The SDK needs no more of the system than two streams and a clock: compiled
// to WebAssembly, an extension holds a whole conversation.
func TestWebAssembly(t *testing.T) {
	module := buildGuest(t)
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	in := strings.NewReader(strings.Join([]string{ack,
		`{"type":"tool_call","id":"1","name":"echo","args":{"n":1}}`,
		`{"type":"tool_call","id":"2","name":"echo","args":{"n":2}}`,
		`{"type":"shutdown"}`}, "\n"))
	var out, stderr bytes.Buffer
	config := wazero.NewModuleConfig().WithStdin(in).WithStdout(&out).WithStderr(&stderr).
		WithSysNanotime().WithSysNanosleep().WithSysWalltime()
	if _, err := runtime.InstantiateWithConfig(ctx, module, config); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, want := range []string{
		`{"type":"tool_result","id":"1","content":[{"type":"text","text":"{\"n\":1}"}]}`,
		`{"type":"tool_result","id":"2","content":[{"type":"text","text":"{\"n\":2}"}]}`,
		`{"type":"notify","level":"info","message":"bye"}`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("there is no %s in\n%s%s", want, &out, &stderr)
		}
	}
	if last := lines[len(lines)-1]; last != `{"type":"shutdown_ack"}` {
		t.Errorf("the last line is %s", last)
	}
}

func buildGuest(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.Command("go", "build", "-o", path, "./testdata/guest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the guest: %v\n%s", err, out)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

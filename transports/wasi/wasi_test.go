package wasi

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/transporttest"
)

// roles are what this test's binary is under another first argument.
var roles = map[string]func(args []string) int{}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == RunnerArg {
		os.Exit(RunnerMain(os.Args[2:]))
	}
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			os.Exit(role(os.Args[2:]))
		}
	}
	dir, err := os.MkdirTemp("", "zot-wasi-test-")
	if err != nil {
		panic(err)
	}
	buildDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var (
	buildDir string
	builds   sync.Map // of folder and target to func() (string, error)
)

// guest builds the Go program in that folder as a module, once.
func guest(t testing.TB, folder string) []byte {
	t.Helper()
	module, err := os.ReadFile(build(t, folder, "GOOS=wasip1", "GOARCH=wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// native builds it for this system, and returns where it is.
func native(t testing.TB, folder string) string {
	t.Helper()
	return build(t, folder, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
}

func build(t testing.TB, folder string, target ...string) string {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("building a guest needs the go tool")
	}
	key := strings.Join(append([]string{filepath.Base(folder)}, target...), "-")
	run, _ := builds.LoadOrStore(key, sync.OnceValues(func() (string, error) {
		out := filepath.Join(buildDir, key)
		cmd := exec.Command(goTool, "build", "-trimpath", "-ldflags=-s -w", "-o", out, folder)
		cmd.Env = append(append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0"), target...)
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", &buildError{err, text}
		}
		return out, nil
	}))
	path, err := run.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

type buildError struct {
	err  error
	text []byte
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + string(bytes.TrimSpace(e.text)) }

// cacheDir is shared by the tests that are not about the cache.
func cacheDir() string { return filepath.Join(buildDir, "cache") }

var grace = transports.Grace{Exit: 50 * time.Millisecond, Term: 50 * time.Millisecond}

// patience is for compiling on a busy machine, with the race detector.
const patience = 10 * time.Minute

// start runs a module that the test stops.
func start(t testing.TB, o Options) *Conn {
	t.Helper()
	o.StartMax = cmp.Or(o.StartMax, patience)
	conn, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Stop(context.Background(), grace) })
	return conn
}

// bothIsolations runs the test in each.
func bothIsolations(t *testing.T, test func(t *testing.T, o Options)) {
	for _, isolation := range []Isolation{Runner, Inline} {
		t.Run(string(isolation), func(t *testing.T) {
			test(t, Options{Name: "guest", Isolation: isolation, Cache: cacheDir(), StartMax: patience})
		})
	}
}

const peerGuest = "../transporttest/testdata/guest"

// calls makes the suite bearable under the race detector, which is for other
// things than endurance.
func calls() int {
	if raceEnabled {
		return 1000
	}
	return 10_000
}

func TestContract(t *testing.T) {
	module := guest(t, peerGuest)
	bothIsolations(t, func(t *testing.T, o Options) {
		suite := transporttest.Suite{Cycles: 20, Calls: calls(), Start: func(t testing.TB, p transporttest.Program) transports.Conn {
			o := o
			o.Module, o.Args, o.Stderr, o.MaxFrame = module, []string{p.Name}, p.Stderr, p.MaxFrame
			conn, err := Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			return conn
		}}
		suite.Run(t)
	})
}

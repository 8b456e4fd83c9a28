package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patriceckhart/zot/transports/wasi"
)

// modules are what the scenarios of one run build and compile, each once: with
// the race detector, compiling takes longer than zot gives an extension to
// start.
type modules struct {
	dir      string
	mu       sync.Mutex
	built    map[string]string // by source folder
	compiled map[string]string // cache folders, by digest and isolation
}

var ofThisRun = &modules{built: map[string]string{}, compiled: map[string]string{}}

// withModules gives the modules a folder for as long as the tests run.
type withModules struct{ *testing.M }

func (m withModules) Run() int {
	dir, err := os.MkdirTemp("", "zot-modules-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ofThisRun.dir = dir
	return m.M.Run()
}

// moduleCmd builds a Go program as a module, and compiles it.
func moduleCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: module SOURCE-FOLDER FILE [ISOLATION]...")
	}
	module, err := ofThisRun.build(filepath.Clean(ts.MkAbs(args[0])))
	ts.Check(err)
	data, err := os.ReadFile(module)
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o644))
	compiledCmd(ts, false, args[1:])
}

// compiledCmd compiles a module and puts the result where zot keeps it.
func compiledCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: compiled FILE [ISOLATION]...")
	}
	module, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, isolation := range append([]string{string(wasi.Runner)}, args[1:]...) {
		dir, err := ofThisRun.compile(module, isolation)
		ts.Check(err)
		ts.Check(linkTree(dir, filepath.Join(ts.Getenv("ZOT_HOME"), "cache", "wasm")))
	}
}

// build returns the module of a source folder.
func (m *modules) build(source string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if file := m.built[source]; file != "" {
		return file, nil
	}
	file := filepath.Join(m.dir, fmt.Sprint(len(m.built))+".wasm")
	if err := run(source, []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-o", file, "."); err != nil {
		return "", err
	}
	m.built[source] = file
	return file, nil
}

// compile returns a cache folder with the compiled module.
func (m *modules) compile(module []byte, isolation string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := fmt.Sprintf("%x-%s", sha256.Sum256(module), isolation)
	if dir := m.compiled[key]; dir != "" {
		return dir, nil
	}
	compiler := filepath.Join(m.dir, "compiler.exe")
	if len(m.compiled) == 0 {
		if err := run("testdata/compiler", nil, "go", "build", "-o", compiler, "."); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(m.dir, key)
	file := dir + ".wasm"
	if err := os.WriteFile(file, module, 0o600); err != nil {
		return "", err
	}
	if err := run("", nil, compiler, file, dir, isolation); err != nil {
		return "", err
	}
	m.compiled[key] = dir
	return dir, nil
}

// run runs a program, and keeps what it says for the error.
func run(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", cmd, dir, err, out)
	}
	return nil
}

// linkTree makes a folder like another, of the same files.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if err := os.Link(path, filepath.Join(to, rel)); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

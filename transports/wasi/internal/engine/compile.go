package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// A ModuleError says what is wrong with a module.
type ModuleError struct{ Problem string }

func (e *ModuleError) Error() string { return "this WebAssembly module cannot run: " + e.Problem }

// ErrDamagedCache means that the compiled module in the cache is of no use.
// The engine cannot repair it, since it may only read there.
var ErrDamagedCache = errors.New("the compiled module in the cache is damaged")

// Version names the engine and its version, as far as compiled code depends
// on it.
func Version() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				version = dep.Version
			}
		}
	}
	return "wazero-" + version + "-" + runtime.GOOS + "-" + runtime.GOARCH
}

// Supported says whether this processor and system have a compiler; the
// engine's interpreter is too slow to be of use.
func Supported() bool {
	switch runtime.GOARCH {
	case "amd64", "arm64":
		return slices.Contains([]string{"linux", "darwin", "windows", "freebsd", "netbsd"}, runtime.GOOS)
	}
	return false
}

// Compile compiles the module into the cache folder, and so finds what is
// wrong with it, too.
func Compile(ctx context.Context, module []byte, cache string, pages uint32, interruptible bool) error {
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	c := Config{Module: module, Cache: cache, Pages: pages, Interruptible: interruptible}
	r, cached, err := newRuntime(ctx, c)
	if err != nil {
		return err
	}
	defer cached.release()
	defer r.Close(ctx)
	_, err = compile(ctx, r, cached, c)
	return err
}

func newRuntime(ctx context.Context, c Config) (wazero.Runtime, *sharedCache, error) {
	cached, err := openCache(c.Cache)
	if err != nil {
		return nil, nil, err
	}
	config := wazero.NewRuntimeConfigCompiler().
		WithCompilationCache(cached.cache).
		WithMemoryLimitPages(c.Pages).
		WithCloseOnContextDone(c.Interruptible).
		WithDebugInfoEnabled(false)
	return wazero.NewRuntimeWithConfig(ctx, config), cached, nil
}

func compile(ctx context.Context, r wazero.Runtime, cached *sharedCache, c Config) (wazero.CompiledModule, error) {
	cached.loading.Lock()
	compiled, err := compileModule(ctx, r, c)
	cached.loading.Unlock()
	if err != nil {
		return nil, err
	}
	if err := CheckImports(importsOf(compiled)); err != nil {
		return nil, err
	}
	if err := checkSignatures(compiled); err != nil {
		return nil, err
	}
	if _, ok := compiled.ExportedFunctions()["_start"]; !ok {
		return nil, &ModuleError{Problem: `it exports no "_start": build it as a command, not as a library or reactor`}
	}
	return compiled, nil
}

func importsOf(m wazero.CompiledModule) []string {
	var imports []string
	for _, f := range m.ImportedFunctions() {
		module, name, _ := f.Import()
		imports = append(imports, module+"."+name)
	}
	for _, memory := range m.ImportedMemories() {
		module, name, _ := memory.Import()
		imports = append(imports, module+"."+name+" (a memory)")
	}
	return imports
}

// compileModule tells a bad cache file from a bad module from a full disk.
func compileModule(ctx context.Context, r wazero.Runtime, c Config) (m wazero.CompiledModule, err error) {
	defer func() { // the engine trusts the lengths in a cache file
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamagedCache, p)
			if c.Cache == "" {
				err = &ModuleError{Problem: fmt.Sprint("the engine fails on it: ", p)}
			}
		}
	}()
	m, err = r.CompileModule(ctx, c.Module)
	var pathErr *fs.PathError
	switch {
	case err == nil:
		return m, nil
	case strings.Contains(err.Error(), "compilationcache:"), errors.As(err, &pathErr):
		// The latter is a file of another version that we may not remove.
		return nil, fmt.Errorf("%w: %v", ErrDamagedCache, err)
	case strings.Contains(err.Error(), "over limit of"):
		return nil, &ModuleError{Problem: fmt.Sprintf("it needs more memory than its limit of %d MiB: %v", uint64(c.Pages)*PageSize>>20, err)}
	}
	return nil, &ModuleError{Problem: err.Error()}
}

// CheckImports names what a module wants and will not get, all of it. An
// import is "module.name"; one of a kind other than function has that after it.
func CheckImports(imports []string) error {
	const offered = wasi_snapshot_preview1.ModuleName + "."
	var unknown []string
	hint := "only " + wasi_snapshot_preview1.ModuleName + " is offered; build for WASI preview 1 without other imports"
	for _, name := range imports {
		function, ok := strings.CutPrefix(name, offered)
		if _, known := offers()[function]; ok && known {
			continue
		}
		unknown = append(unknown, name)
		if strings.HasPrefix(name, "wasi_unstable.") {
			hint = "wasi_unstable is the version before preview 1; build with a newer toolchain"
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return &ModuleError{Problem: fmt.Sprintf("it imports %s; %s", strings.Join(unknown, ", "), hint)}
}

// checkSignatures finds a module that was built for something else of the
// same name.
func checkSignatures(m wazero.CompiledModule) error {
	for _, f := range m.ImportedFunctions() {
		module, name, _ := f.Import()
		if got, want := signatureOf(f), offers()[name]; got != want {
			return &ModuleError{Problem: fmt.Sprintf("it imports %s.%s as %s, and that is %s", module, name, got, want)}
		}
	}
	return nil
}

func signatureOf(f api.FunctionDefinition) string {
	names := func(types []api.ValueType) string {
		var all []string
		for _, t := range types {
			all = append(all, api.ValueTypeName(t))
		}
		return "(" + strings.Join(all, ", ") + ")"
	}
	return names(f.ParamTypes()) + " → " + names(f.ResultTypes())
}

// offers lists the functions of preview 1 that the engine has, with their
// signatures.
var offers = sync.OnceValue(func() map[string]string {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	signatures := map[string]string{}
	for name, f := range originals(ctx, r) {
		signatures[name] = signatureOf(f)
	}
	return signatures
})

// originals returns the engine's own functions of preview 1.
func originals(ctx context.Context, r wazero.Runtime) map[string]api.FunctionDefinition {
	b := r.NewHostModuleBuilder("preview1 as the engine has it")
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	compiled, err := b.Compile(ctx)
	if err != nil {
		panic(err) // the engine's own module
	}
	return compiled.ExportedFunctions()
}

// A sharedCache is the compiled code of a cache folder, held in memory once
// for all modules that run from it at the time.
type sharedCache struct {
	dir   string
	cache wazero.CompilationCache
	users int // guarded by caches

	// loading is held while a module is compiled or loaded: the engine lets
	// others have one that it is still loading.
	loading sync.Mutex
}

var caches = struct {
	sync.Mutex
	open map[string]*sharedCache
}{open: map[string]*sharedCache{}}

func openCache(dir string) (*sharedCache, error) {
	if dir == "" {
		return &sharedCache{cache: wazero.NewCompilationCache(), users: 1}, nil
	}
	caches.Lock()
	defer caches.Unlock()
	if c := caches.open[dir]; c != nil {
		c.users++
		return c, nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("compile cache %q: %w", dir, err)
	}
	c := &sharedCache{dir: dir, cache: cache, users: 1}
	caches.open[dir] = c
	return c, nil
}

func (c *sharedCache) release() {
	caches.Lock()
	defer caches.Unlock()
	if c.users--; c.users == 0 {
		_ = c.cache.Close(context.Background())
		delete(caches.open, c.dir)
	}
}

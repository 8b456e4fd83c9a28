// Package wasi runs an extension that is a WebAssembly module, with only the
// capabilities that it is given: a module of WASI preview 1, built from the
// same source as a program would be, that reads frames from its standard input
// and writes frames to its standard output.
//
//	conn, err := wasi.Start(ctx, wasi.Options{Path: "/…/weather.wasm", Cache: dir})
//
// By default the module runs in a runner: a process of this program's own
// binary, started with [RunnerArg], which main must hand to [RunnerMain] before
// it does anything else. What the guest does to itself (loops, memory, stack)
// stays in there, and is ended by a signal; where the system has a sandbox for
// processes, the runner is in it (package confine). With [Inline] the module
// runs within this process, at a price in speed for being interruptible.
//
// What a guest has of the outside: the folders in Options.Mounts, each in a
// jail of its own; the environment in Options.Env; clocks and random numbers;
// its three streams. It has no network and starts no processes. Everything
// else it asks of the host, in frames.
//
// inspect.go reads a module without running it, cache.go keeps compiled code,
// runner.go and child.go are the two sides of the runner, inline.go is the
// other isolation.
package wasi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// Isolation says where a module runs.
type Isolation string

// The isolations. The zero value is Runner.
const (
	Runner Isolation = "runner" // in a process of its own
	Inline Isolation = "inline" // in this process
)

// PageSize is the unit of [Options.MemPages] in bytes.
const PageSize = engine.PageSize

// MaxPages is the most memory that a module can have, in pages: 4 GiB.
const MaxPages = engine.MaxPages

// Defaults of [Options].
const (
	DefaultMemPages = 1024 // 64 MiB
	DefaultCallMax  = 60 * time.Second
	DefaultStartMax = 60 * time.Second

	DefaultOpenFiles = 256
)

// A Mount is a folder of the host that the guest may use, and where it finds
// it. Links in it that lead outside are not followed.
type Mount = engine.Mount

// A ModuleError says what is wrong with a module, and what to do.
type ModuleError = engine.ModuleError

// Options says what to run and what it may use.
type Options struct {
	Module []byte // the module, or nil:
	Path   string // the file that it is in

	Name   string // the program's own name; empty is that of the file
	Args   []string
	Env    []string // "KEY=value", the complete environment; nil is an empty one
	Mounts []Mount

	// MemPages bounds the guest's memory, in pages of [PageSize]; 0 is
	// DefaultMemPages. A module that wants more at its start is refused.
	MemPages uint32

	// OpenFiles bounds the files that the guest has open at a time; 0 is
	// DefaultOpenFiles.
	OpenFiles int

	// CallMax bounds how long the guest may compute without reading, writing
	// or waiting; 0 is DefaultCallMax. It is ended then.
	CallMax time.Duration

	// StartMax bounds the time until the module runs, its compilation
	// included; 0 is DefaultStartMax.
	StartMax time.Duration

	Isolation Isolation

	// Cache is a folder for compiled modules, made if need be, which belongs
	// to this package and this user alone. Without one every start compiles.
	Cache string

	// RequireConfinement refuses to start where the system cannot confine the
	// runner in every way that [confine] knows of, or with Inline.
	RequireConfinement bool

	// Stderr gets all that the guest writes to its standard error; nil
	// discards.
	Stderr io.Writer

	// MaxFrame bounds a frame in bytes, both ways; 0 is
	// [transports.DefaultMaxFrame].
	MaxFrame int

	// testOnlyUninterruptible leaves out what makes a module that runs inline
	// stoppable, to measure the rest.
	testOnlyUninterruptible bool
}

// A Conn is a running module.
type Conn struct {
	transports.Conn
	confinement confine.Report
	refused     <-chan transports.Refusal
}

var _ transports.Refuser = (*Conn)(nil)

// Refusals implements [transports.Refuser]: files outside of the mounts, also
// by a link; changes in a mount for reading; and limits that were met.
func (c *Conn) Refusals() <-chan transports.Refusal { return c.refused }

// Confinement says what the system enforces around the guest, beyond what
// WebAssembly does. It is the zero value for a module that runs inline.
func (c *Conn) Confinement() confine.Report { return c.confinement }

// Start runs the module. It returns when the module is about to run, or why it
// will not: a *[ModuleError] where the module is to blame. ctx bounds the start
// alone; a guest is ended by Stop.
func Start(ctx context.Context, o Options) (*Conn, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if !engine.Supported() {
		return nil, errUnsupported
	}
	if err := check(o); err != nil {
		return nil, err
	}
	o.Module = prepared(o.Module, o.Isolation)
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartMax, fmt.Errorf("%q did not start within %v", o.Name, o.StartMax))
	defer cancel()
	if o.Isolation == Inline {
		return startInline(ctx, o)
	}
	return startRunner(ctx, o)
}

// Compile compiles the module into the cache, so that its first start finds it
// there, and runs none of it. Where there is no room for it, that is no error.
func Compile(ctx context.Context, o Options) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	if !engine.Supported() {
		return errUnsupported
	}
	if err := check(o); err != nil {
		return err
	}
	o.Module = prepared(o.Module, o.Isolation)
	ctx, cancel := context.WithTimeout(ctx, o.StartMax)
	defer cancel()
	_, err = compiled(ctx, o, variantOf(o.Isolation))
	return err
}

var errUnsupported = errors.New("WebAssembly extensions need a 64-bit processor of the x86 or ARM family")

// complete reads the module and fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.Module == nil {
		module, err := os.ReadFile(o.Path)
		if err != nil {
			return o, fmt.Errorf("reading the module: %w", err)
		}
		o.Module = module
	}
	if o.Name == "" {
		o.Name = filepath.Base(o.Path)
	}
	if o.MemPages == 0 {
		o.MemPages = DefaultMemPages
	}
	if o.OpenFiles == 0 {
		o.OpenFiles = DefaultOpenFiles
	}
	if o.CallMax == 0 {
		o.CallMax = DefaultCallMax
	}
	if o.StartMax == 0 {
		o.StartMax = DefaultStartMax
	}
	if o.Isolation == "" {
		o.Isolation = Runner
	}
	return o, nil
}

// check refuses what could not be kept.
func check(o Options) error {
	switch {
	case o.Isolation != Runner && o.Isolation != Inline:
		return fmt.Errorf("isolation %q: it is %q or %q", o.Isolation, Runner, Inline)
	case o.RequireConfinement && o.Isolation == Inline:
		return errors.New("a module that runs inline is not confined by the system, and that is required")
	case o.MemPages > engine.MaxPages:
		return fmt.Errorf("memory of %d pages: the most is %d", o.MemPages, engine.MaxPages)
	case o.CallMax < 0 || o.StartMax < 0:
		return errors.New("a time limit is negative")
	case o.OpenFiles < 0:
		return errors.New("the limit of open files is negative")
	}
	for _, entry := range o.Env {
		if key, _, ok := strings.Cut(entry, "="); !ok || key == "" || strings.ContainsRune(entry, 0) {
			return fmt.Errorf("environment entry %q: it is KEY=value", entry)
		}
	}
	for _, arg := range append([]string{o.Name}, o.Args...) {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("argument %q holds a zero byte", arg)
		}
	}
	if err := checkMounts(o.Mounts); err != nil {
		return err
	}
	info, err := Inspect(o.Module)
	if err != nil {
		return err
	}
	return info.check(o.MemPages)
}

func checkMounts(mounts []Mount) error {
	seen := map[string]bool{}
	for _, m := range mounts {
		switch info, err := os.Stat(m.Host); {
		case !path.IsAbs(m.Guest) || path.Clean(m.Guest) != m.Guest:
			return fmt.Errorf("mount at %q: the guest's path must be absolute and plain, like \"/data\"", m.Guest)
		case seen[m.Guest]:
			return fmt.Errorf("two mounts at %q", m.Guest)
		case !filepath.IsAbs(m.Host):
			return fmt.Errorf("mount of %q: the host's path must be absolute", m.Host)
		case err != nil:
			return fmt.Errorf("mount at %q: %w", m.Guest, err)
		case !info.IsDir():
			return fmt.Errorf("mount of %q: it is no folder", m.Host)
		case m.Most < 0:
			return fmt.Errorf("mount of %q: the bound of its size is negative", m.Host)
		}
		seen[m.Guest] = true
	}
	return nil
}

// config is what the engine is told, but for streams and cache.
func (o Options) config() engine.Config {
	return engine.Config{
		Module: o.Module,
		Args:   append([]string{o.Name}, o.Args...),
		Env:    o.Env,
		Mounts: o.Mounts,
		Pages:  o.MemPages,

		OpenFiles: o.OpenFiles,
	}
}

// reasonCallMax is why a guest was ended at that limit.
func reasonCallMax(limit time.Duration) string {
	return fmt.Sprintf("computed for longer than %v without reading, writing or waiting (limits.%s)", limit, engine.LimitCPU)
}

// Package engine runs one WebAssembly module of WASI preview 1 with only the
// capabilities that its [Config] holds. Everything that the project uses of the
// WebAssembly runtime is behind this package, its experimental parts included.
//
// [Run] compiles (compile.go), gives the guest its streams (stdio.go, poll.go),
// its memory (memory.go) and its folders (rootfs.go), runs it, and says how it
// ended (outcome.go). A guest needs nothing of ours: it sees plain WASI, but
// one in which waiting for input does not stop its timers, and in which a
// folder is all that it can reach (watch.go tells what it tried beyond that).
package engine

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/sys"

	"github.com/patriceckhart/zot/transports"
)

// PageSize is the unit in which a guest's memory grows, in bytes.
const PageSize = 64 << 10

// MaxPages is the most memory a guest can address, in pages: 4 GiB.
const MaxPages = 1 << 16

// A Mount is a folder of the host that the guest may use.
type Mount struct {
	Host     string `json:"host"`  // absolute path of the folder
	Guest    string `json:"guest"` // where the guest finds it, like "/data"
	ReadOnly bool   `json:"readOnly,omitempty"`
	// Most bounds what the folder holds, in bytes and in blocks of 4 KiB; 0
	// does not. What is beyond it is ENOSPC.
	Most int64 `json:"most,omitempty"`
	// Closed are folders and files in it, with slashes and relative to it, that
	// the guest does not reach; Fixed are such that it cannot change. With "**/"
	// in front, a name of Fixed counts at any depth.
	Closed []string `json:"closed,omitempty"`
	Fixed  []string `json:"fixed,omitempty"`
}

// Config says what to run and what it may use.
type Config struct {
	Module []byte
	Args   []string // with the program's name first
	Env    []string // "KEY=value", the complete environment
	Mounts []Mount
	Pages  uint32 // most memory, in pages
	// OpenFiles bounds the files and folders that are open at a time, a mount
	// that is in use included; 0 does not.
	OpenFiles int

	Stdin          Input
	Stdout, Stderr io.Writer

	// Cache is a folder with the compiled module, or empty. It is written to
	// where the module is not in it yet, and the system lets us.
	Cache string

	// Interruptible makes every loop of the guest look whether ctx has ended.
	// It costs a factor of 4 to 12 of computing, and without it a guest that
	// loops can be ended only together with the process, whose garbage
	// collector waits for it as well.
	Interruptible bool

	// Ready is called when the module is about to start.
	Ready func()

	// HostCall, or nil, is called whenever the guest calls the host, on the
	// goroutine that it runs on.
	HostCall func()

	// Refused, or nil, is called when the guest is refused something, once for
	// each thing and at most [MaxRefusals] times, on the goroutine that the
	// guest runs on.
	Refused func(transports.Refusal)

	// Activity, or nil, is told whenever the guest waits or talks.
	Activity *Activity
}

// An Input is the guest's standard input.
type Input interface {
	// ReadNow reads what is there without waiting; 0 and no error means that
	// nothing is. The end is io.EOF.
	ReadNow(p []byte) (int, error)
	// AwaitRead waits until ReadNow has something or the end, for d at most,
	// or for ever where d is negative, and says whether it has.
	AwaitRead(d time.Duration) bool
}

// Run runs the module to its end. The error is not nil where it could not be
// started: a *[ModuleError] where the module is to blame, [ErrDamagedCache],
// or what the system said.
func Run(ctx context.Context, c Config) (Outcome, error) {
	// The engine's own context ends the guest; the guest's wait for the end of
	// ctx is in stdio.go.
	runtime, cached, err := newRuntime(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	defer cached.release()
	defer runtime.Close(context.WithoutCancel(ctx))

	compiled, err := compile(ctx, runtime, cached, c)
	if err != nil {
		return Outcome{}, err
	}
	c.Module = nil // it can be large
	note := &refusals{tell: c.Refused}
	if err := instantiateWASI(ctx, runtime, c.HostCall, note.seen); err != nil {
		return Outcome{}, err
	}
	folders, err := openMounts(c, note)
	if err != nil {
		return Outcome{}, err
	}
	defer folders.close()

	memory := &allocator{}
	ctx = experimental.WithMemoryAllocator(ctx, memory)
	ctx = withStdio(ctx, &stdio{in: c.Stdin, activity: c.Activity, started: time.Now()})
	if c.Ready != nil {
		c.Ready()
	}
	words := &lastWords{w: c.Stderr}
	c.Stderr = words
	module, err := runtime.InstantiateModule(ctx, compiled, moduleConfig(c, folders, note))
	if module != nil {
		_ = module.Close(context.WithoutCancel(ctx))
	}
	atLimit := memory.atLimit(c.Pages)
	if words.noMemory {
		atLimit = memoryLimitReason(c.Pages)
	}
	return outcomeOf(ctx, err, atLimit), nil
}

func moduleConfig(c Config, f folders, note *refusals) wazero.ModuleConfig {
	config := wazero.NewModuleConfig().
		WithName("").
		WithArgs(c.Args...).
		WithStdout(activeWriter{c.Stdout, c.Activity}).
		WithStderr(activeWriter{c.Stderr, c.Activity}).
		WithRandSource(rand.Reader).
		WithSysWalltime().
		WithNanotime(nanotime, sys.ClockResolution(1)).
		WithSysNanosleep().
		WithOsyield(func() {})
	for _, entry := range c.Env {
		key, value := cutEnv(entry)
		config = config.WithEnv(key, value)
	}
	fs, all := wazero.NewFSConfig().(sysfs.FSConfig), false
	for i, mount := range c.Mounts {
		all = all || mount.Guest == "/"
		fs = fs.WithSysFSMount(watchedFS{f[i], mount.Guest, note}, mount.Guest).(sysfs.FSConfig)
	}
	if !all { // the last, since some languages take the first for the current folder
		fs = fs.WithSysFSMount(watchedFS{newOutside(c.Mounts), "/", note}, "/").(sysfs.FSConfig)
	}
	return config.WithFSConfig(fs.(wazero.FSConfig))
}

var processStart = time.Now()

// nanotime is the guest's monotonic clock. That of the host's other programs
// is none of its business.
func nanotime() int64 { return int64(time.Since(processStart)) + 1 }

func cutEnv(entry string) (key, value string) {
	for i := 1; i < len(entry); i++ { // a key may begin with "=" on Windows
		if entry[i] == '=' {
			return entry[:i], entry[i+1:]
		}
	}
	return entry, ""
}

// activeWriter keeps the guest's waiting for a reader out of its computing
// time. It also hides what w is: a guest must not get hold of the flags of a
// descriptor that others share.
type activeWriter struct {
	w        io.Writer
	activity *Activity
}

func (a activeWriter) Write(p []byte) (int, error) {
	if len(p) == 0 { // as C programs do at their end
		return 0, nil
	}
	a.activity.pause()
	defer a.activity.resume()
	return a.w.Write(p)
}

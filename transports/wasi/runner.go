package wasi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/subprocess"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// startRunner compiles the module if need be, and runs it in a process of its
// own.
func startRunner(ctx context.Context, o Options) (*Conn, error) {
	conn, dir, err := startFromCache(ctx, o)
	if errors.Is(err, engine.ErrDamagedCache) {
		cacheFor(o).remove(dir)
		conn, _, err = startFromCache(ctx, o)
	}
	return conn, err
}

func startFromCache(ctx context.Context, o Options) (conn *Conn, dir string, err error) {
	dir, err = compiled(ctx, o, variantRunner)
	if err != nil {
		return nil, "", err
	}
	run := settings{
		Job: jobRun, Args: append([]string{o.Name}, o.Args...), Env: o.Env, Mounts: o.Mounts,
		Pages: o.MemPages, OpenFiles: o.OpenFiles, CallMax: o.CallMax, Cache: dir, Confine: policyFor(o, dir),
		Complete: o.RequireConfinement, module: o.Module,
	}
	p, first, err := spawn(ctx, o, run)
	if err != nil {
		return nil, dir, err
	}
	return &Conn{Conn: p, confinement: first.Report, refused: p.status.refused}, dir, nil
}

// compiled returns the folder with the compiled module, or "" where there is
// no cache.
func compiled(ctx context.Context, o Options, variant string) (string, error) {
	return cacheFor(o).get(ctx, o.Module, variant, func(ctx context.Context, dir string) error {
		return compileAside(ctx, o, variant, dir)
	})
}

// compileAside compiles in a process that may write to dir and nothing else.
// The module comes from a stranger, and the engine takes its word for how long
// its lists are: thirty bytes are enough to have it ask for more memory than
// there is. No module is given to the engine in this process before another
// process has survived it.
func compileAside(ctx context.Context, o Options, variant, dir string) error {
	o.Stderr = nil // a crash of the compiler is not the extension's to log
	p, _, err := spawn(ctx, o, settings{
		Job: jobCompile, Interruptible: variant == variantInline, Pages: o.MemPages, Cache: dir, Complete: o.RequireConfinement,
		Confine: &confine.Policy{Write: []string{dir}, DataLimit: compileMemory, FileLimit: runnerFiles},
		module:  o.Module,
	})
	var died *diedError
	if errors.As(err, &died) {
		return &ModuleError{Problem: "the compiler failed on it: " + died.Error()}
	}
	if err != nil {
		return err
	}
	p.Stop(ctx, transports.Grace{})
	return nil
}

// Bounds of a runner's process. Beside the guest's memory it holds the
// compiled code, the Go runtime, the guest's stack (which doubles up to 80 MiB,
// each one while the smaller ones before it are still there) and, without a
// cache, the compiler.
const (
	runnerMemory  = 448 << 20
	compileMemory = 2 << 30
	runnerFiles   = 1024 // beside those that the guest may open
)

func policyFor(o Options, cacheDir string) *confine.Policy {
	p := &confine.Policy{DataLimit: uint64(o.MemPages)*PageSize + runnerMemory, FileLimit: uint64(runnerFiles + o.OpenFiles)}
	if cacheDir == "" {
		p.DataLimit += compileMemory
	} else {
		p.Read = append(p.Read, cacheDir)
	}
	for _, m := range o.Mounts {
		if m.ReadOnly {
			p.Read = append(p.Read, m.Host)
		} else {
			p.Write = append(p.Write, m.Host)
		}
	}
	return p
}

// A process is a runner seen from the host.
type process struct {
	*subprocess.Conn
	status *statusPipe
}

// spawn starts a runner and returns when it has said that it is ready.
func spawn(ctx context.Context, o Options, s settings) (*process, status, error) {
	toChild, tell, err := os.Pipe()
	if err != nil {
		return nil, status{}, err
	}
	defer tell.Close()
	defer toChild.Close()
	listen, fromChild, err := os.Pipe()
	if err != nil {
		return nil, status{}, err
	}
	defer fromChild.Close()

	conn, err := subprocess.Start(ctx, subprocess.Options{
		Path: ownBinary(), Args: runnerArgs(toChild, fromChild), Env: runnerEnv(),
		Stderr: o.Stderr, MaxFrame: o.MaxFrame, Extra: []*os.File{toChild, fromChild},
	})
	if err != nil {
		_ = listen.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, status{}, fmt.Errorf("starting a runner: %w", err)
	}
	_ = toChild.Close() // or nobody would notice that the runner is gone
	_ = fromChild.Close()
	p := &process{Conn: conn, status: newStatusPipe(listen)}
	first, err := p.greet(ctx, s, tell)
	go p.status.listen() // until the runner is gone
	if err != nil {
		p.Stop(ctx, transports.Grace{})
		return nil, status{}, err
	}
	return p, first, nil
}

// greet sends the settings and waits for the first status. The end of ctx
// makes both pipes fail.
func (p *process) greet(ctx context.Context, s settings, tell *os.File) (status, error) {
	defer context.AfterFunc(ctx, func() {
		_ = tell.Close()
		_ = p.status.file.SetReadDeadline(time.Unix(1, 0))
	})()
	if err := s.writeTo(tell); err != nil && ctx.Err() == nil {
		return status{}, p.diedEarly(ctx)
	}
	first, err := p.status.next()
	switch {
	case ctx.Err() != nil:
		return status{}, context.Cause(ctx)
	case err != nil:
		return status{}, p.diedEarly(ctx)
	}
	return first, first.err()
}

// A diedError is about a runner that ended without a word.
type diedError struct {
	exit  transports.Exit
	words string // the first line on its standard error that says something
}

func (e *diedError) Error() string {
	return fmt.Sprintf("its process ended before it ran: %v %s", e.exit, e.words)
}

func (p *process) diedEarly(ctx context.Context) error {
	exit := p.Conn.Stop(ctx, transports.Grace{Exit: time.Second})
	words, _, _ := strings.Cut(strings.TrimSpace(exit.StderrTail), "\n")
	return &diedError{exit: exit, words: words}
}

// Exit implements [transports.Conn], with what the runner said of the guest.
func (p *process) Exit() transports.Exit {
	select {
	case <-p.Done():
		return p.explain(p.Conn.Exit())
	default:
		return transports.Exit{}
	}
}

// Stop implements [transports.Conn].
func (p *process) Stop(ctx context.Context, grace transports.Grace) transports.Exit {
	return p.explain(p.Conn.Stop(ctx, grace))
}

func (p *process) explain(exit transports.Exit) transports.Exit {
	last := p.status.last()
	if !last.Ended || exit.Signal != "" {
		return exit
	}
	exit.Code, exit.Reason, exit.Limit = last.Code, last.Reason, last.Limit
	if last.Killed {
		exit.Code, exit.Signal = 0, "killed"
	}
	return exit
}

// statusPipe is what a runner says beside the frames.
type statusPipe struct {
	file    *os.File
	in      *json.Decoder
	refused chan transports.Refusal
	heard   chan struct{} // closed when all is heard; end is set then
	end     status
}

func newStatusPipe(file *os.File) *statusPipe {
	return &statusPipe{
		file: file, in: json.NewDecoder(bufio.NewReader(file)),
		refused: make(chan transports.Refusal, engine.MaxRefusals), heard: make(chan struct{}),
	}
}

func (p *statusPipe) next() (status, error) {
	var s status
	err := p.in.Decode(&s)
	return s, err
}

// listen hears what comes after the first status, to the end.
func (p *statusPipe) listen() {
	defer close(p.heard)
	defer close(p.refused)
	defer p.file.Close()
	for {
		s, err := p.next()
		if err != nil {
			return
		}
		if s.Ended {
			p.end = s
		}
		if s.Refused == nil {
			continue
		}
		select {
		case p.refused <- *s.Refused:
		default: // a runner tells no more than fit
		}
	}
}

// last returns the last status of a runner that is gone. What is in the pipe is
// all that will come.
func (p *statusPipe) last() status {
	_ = p.file.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	<-p.heard
	return p.end
}

// ownBinary is this program. On Linux it is what runs, even where an upgrade
// has put another in its place.
func ownBinary() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, _ := os.Executable()
	return path
}

// runnerArgs tells the runner where its two further files are.
func runnerArgs(files ...*os.File) []string {
	args := []string{RunnerArg}
	for i, f := range files {
		number := uint64(3 + i)
		if runtime.GOOS == "windows" {
			number = uint64(f.Fd())
		}
		args = append(args, strconv.FormatUint(number, 10))
	}
	return args
}

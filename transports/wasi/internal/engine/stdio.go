package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// stdio is the state of one guest's standard input. A guest runs on one
// goroutine, so there is no lock.
//
// The engine's own standard input blocks the whole guest while it waits, its
// timers and goroutines with it. The functions below replace it: a guest that
// asks for a non-blocking input, as Go does, waits in poll_oneoff for input
// and timers together; one that does not gets an ordinary blocking read.
type stdio struct {
	in       Input
	nonblock bool
	closed   bool // the guest has closed descriptor 0, or put another there
	activity *Activity
	started  time.Time
}

// Errors of preview 1.
const (
	success  = 0
	errAgain = 6
	errBadf  = 8
	errFault = 21
	errInval = 28
	errMfile = 33
	errIo    = 29
	errNospc = 51
)

const flagNonblock = 1 << 2

type stdioKey struct{}

func withStdio(ctx context.Context, s *stdio) context.Context {
	return context.WithValue(ctx, stdioKey{}, s)
}

func stdioOf(ctx context.Context) *stdio {
	s, _ := ctx.Value(stdioKey{}).(*stdio)
	return s
}

// A hostFunc is one function of preview 1: its arguments are on the stack, and
// it returns an error number.
type hostFunc func(ctx context.Context, m api.Module, stack []uint64) uint32

// instantiateWASI offers preview 1 to the modules of r, with the functions
// about standard input replaced. before, or nil, is called in each call; the
// guest sees what seen makes of an error.
func instantiateWASI(ctx context.Context, r wazero.Runtime, before func(), seen func(errno uint32) uint32) error {
	original := originals(ctx, r)
	fallback := func(name string) hostFunc {
		f := original[name].GoFunction().(api.GoModuleFunction)
		return func(ctx context.Context, m api.Module, stack []uint64) uint32 {
			f.Call(ctx, m, stack)
			return uint32(stack[0])
		}
	}
	poller := poller{fdstat: fallback("fd_fdstat_get")}
	replaced := map[string]hostFunc{
		"fd_read":             onStdin(readStdin, fallback("fd_read")),
		"fd_fdstat_set_flags": onStdin(setStdinFlags, fallback("fd_fdstat_set_flags")),
		"fd_fdstat_get":       onStdin(stdinStat(fallback("fd_fdstat_get")), fallback("fd_fdstat_get")),
		"fd_close":            noteClosed(0, fallback("fd_close")),
		"fd_renumber":         noteClosed(0, noteClosed(1, fallback("fd_renumber"))),
		"poll_oneoff":         poller.poll,
		"sched_yield":         yield,
	}
	if before == nil {
		before = func() {}
	}
	b := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	for _, name := range slices.Sorted(maps.Keys(original)) {
		types := original[name]
		call := types.GoFunction().(api.GoModuleFunction).Call
		if ours, ok := replaced[name]; ok {
			call = func(ctx context.Context, m api.Module, stack []uint64) { stack[0] = uint64(ours(ctx, m, stack)) }
		}
		answers := len(types.ResultTypes()) > 0
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			before()
			call(ctx, m, stack)
			if answers {
				stack[0] = uint64(seen(uint32(stack[0])))
			}
		}), types.ParamTypes(), types.ResultTypes()).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// onStdin calls ours where the first argument is the standard input.
func onStdin(ours func(context.Context, *stdio, api.Module, []uint64) uint32, otherwise hostFunc) hostFunc {
	return func(ctx context.Context, m api.Module, stack []uint64) uint32 {
		if s := stdioOf(ctx); uint32(stack[0]) == 0 && s != nil && !s.closed {
			return ours(ctx, s, m, stack)
		}
		return otherwise(ctx, m, stack)
	}
}

// noteClosed notes when the descriptor in that argument was standard input
// and is so no longer.
func noteClosed(arg int, f hostFunc) hostFunc {
	return func(ctx context.Context, m api.Module, stack []uint64) uint32 {
		fd := uint32(stack[arg])
		errno := f(ctx, m, stack)
		if s := stdioOf(ctx); fd == 0 && errno == success && s != nil {
			s.closed = true
		}
		return errno
	}
}

// readStdin is fd_read(fd, iovs, count, result) for standard input. It fills
// one buffer: a read may be short.
func readStdin(ctx context.Context, s *stdio, m api.Module, stack []uint64) uint32 {
	buf, errno := firstBuffer(m.Memory(), uint32(stack[1]), uint32(stack[2]))
	if errno != success {
		return errno
	}
	n := 0
	for turn := 0; len(buf) > 0; turn++ {
		var err error
		n, err = s.in.ReadNow(buf)
		if n > 0 || errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errIo
		}
		switch {
		case !s.nonblock:
			s.wait(ctx, m, -1)
		case turn == 0:
			// Whoever waits for what the guest has just said may have more for
			// it at once, which saves it going to sleep and waking up: half
			// the time of a call, and more.
			runtime.Gosched()
		default:
			return errAgain
		}
	}
	if !m.Memory().WriteUint32Le(uint32(stack[3]), uint32(n)) {
		return errFault
	}
	return success
}

// firstBuffer returns the first buffer of the vector that is not empty.
func firstBuffer(memory api.Memory, iovs, count uint32) ([]byte, uint32) {
	for i := range count {
		offset := uint64(iovs) + 8*uint64(i)
		if offset > 1<<32-8 {
			return nil, errFault
		}
		iov, ok := memory.Read(uint32(offset), 8)
		if !ok {
			return nil, errFault
		}
		length := binary.LittleEndian.Uint32(iov[4:])
		if length == 0 {
			continue
		}
		buf, ok := memory.Read(binary.LittleEndian.Uint32(iov), length)
		if !ok {
			return nil, errFault
		}
		return buf, success
	}
	return nil, success
}

// wait waits for input, for d at most or for ever where d is negative, and
// says whether there is some. It does not return when ctx ends.
func (s *stdio) wait(ctx context.Context, m api.Module, d time.Duration) bool {
	if d != 0 {
		s.activity.pause()
		defer s.activity.resume()
	}
	ready := s.in.AwaitRead(d)
	leaveIfDone(ctx, m)
	return ready
}

// sleep waits for the time alone.
func (s *stdio) sleep(ctx context.Context, m api.Module, d time.Duration) {
	s.activity.pause()
	defer s.activity.resume()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	leaveIfDone(ctx, m)
}

// leaveIfDone ends the guest where ctx has ended, in the way that its own exit
// would.
func leaveIfDone(ctx context.Context, m api.Module) {
	if ctx.Err() == nil {
		return
	}
	_ = m.CloseWithExitCode(context.WithoutCancel(ctx), codeInterrupt)
	panic(sys.NewExitError(codeInterrupt))
}

func setStdinFlags(_ context.Context, s *stdio, _ api.Module, stack []uint64) uint32 {
	flags := uint32(stack[1])
	if flags&^(flagNonblock|1) != 0 { // appending means nothing here, but does no harm
		return errInval
	}
	s.nonblock = flags&flagNonblock != 0
	return success
}

// stdinStat reports what the engine does, and the flag that we keep.
func stdinStat(fdstat hostFunc) func(context.Context, *stdio, api.Module, []uint64) uint32 {
	return func(ctx context.Context, s *stdio, m api.Module, stack []uint64) uint32 {
		at := uint32(stack[1])
		if errno := fdstat(ctx, m, stack); errno != success || !s.nonblock {
			return errno
		}
		flags, ok := m.Memory().ReadUint16Le(at + 2)
		if !ok || !m.Memory().WriteUint16Le(at+2, flags|flagNonblock) {
			return errFault
		}
		return success
	}
}

func yield(ctx context.Context, m api.Module, _ []uint64) uint32 {
	leaveIfDone(ctx, m)
	runtime.Gosched()
	return success
}

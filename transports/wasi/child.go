package wasi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/confine"
	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// RunnerArg is the hidden first argument that makes this binary a runner: main
// hands what follows it to [RunnerMain] before anything else.
const RunnerArg = "__wasi-runner"

// Exit statuses of a runner itself. The host goes by its status.
const (
	runnerUsage  = 64
	runnerFailed = 70
	runnerLimit  = 71
)

// RunnerMain is the main function of a runner; args are those after
// [RunnerArg]. It returns the exit status.
func RunnerMain(args []string) int {
	// One thread for the guest and one for the clock that watches it. A guest
	// in a loop holds on to its own for good.
	runtime.GOMAXPROCS(2)
	files, err := openFiles(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%q is for zot's own use: %v\n", RunnerArg, err)
		return runnerUsage
	}
	r := &child{status: json.NewEncoder(files[1])}
	s, err := readSettings(files[0])
	_ = files[0].Close()
	if err != nil {
		r.tell(failed(fmt.Errorf("reading the settings: %w", err)))
		return runnerFailed
	}
	report, err := confineSelf(s)
	if err != nil {
		r.tell(failed(err))
		return runnerFailed
	}
	if s.Job == jobCompile {
		return r.compile(s)
	}
	return r.run(s, report)
}

func openFiles(args []string) ([]*os.File, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("%d arguments", len(args))
	}
	var files []*os.File
	for _, arg := range args {
		fd, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return nil, err
		}
		f := os.NewFile(uintptr(fd), "runner")
		if f == nil {
			return nil, fmt.Errorf("no file %q", arg)
		}
		if _, err := f.Stat(); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// confineSelf puts up the walls. What cannot stand here is reported.
func confineSelf(s settings) (confine.Report, error) {
	if s.Confine == nil {
		return confine.Report{}, nil
	}
	if raceEnabled {
		s.Confine.DataLimit = 0
	}
	report, err := confine.Self(*s.Confine)
	if err != nil {
		return report, fmt.Errorf("confining the runner: %w", err)
	}
	if s.Complete && !report.Complete() {
		return report, fmt.Errorf("this system cannot confine the runner, and that is required: %v", report)
	}
	return report, nil
}

// child is the runner itself.
type child struct {
	mu     sync.Mutex
	status *json.Encoder
}

func (r *child) tell(s status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.status.Encode(s) // where nobody listens, nobody is left to be told
}

func (r *child) compile(s settings) int {
	runtime.GOMAXPROCS(runtime.NumCPU())
	if err := engine.Compile(context.Background(), s.module, s.Cache, s.Pages, s.Interruptible); err != nil {
		r.tell(failed(err))
		return runnerFailed
	}
	r.tell(status{Ready: true})
	return 0
}

func (r *child) run(s settings, report confine.Report) int {
	var activity engine.Activity
	var garbage collector
	if s.Cache != "" {
		garbage.wait()
	}
	module := s.module
	s.module = nil // nobody needs it once it is compiled, and it is large
	in, err := standardInput()
	if err != nil {
		r.tell(failed(err))
		return runnerFailed
	}
	out, err := engine.Run(context.Background(), engine.Config{
		Module: module, Args: s.Args, Env: s.Env, Mounts: s.Mounts, Pages: s.Pages, OpenFiles: s.OpenFiles, Cache: s.Cache,
		Refused: func(refusal transports.Refusal) { r.tell(status{Refused: &refusal}) },
		Stdin:   in, Stdout: os.Stdout, Stderr: os.Stderr, Activity: &activity, HostCall: garbage.hostCall,
		Ready: func() {
			garbage.takeOver()
			r.tell(status{Ready: true, Report: report})
			go activity.Watch(s.CallMax, nil, func() { r.limit(s.CallMax) })
		},
	})
	if err != nil {
		r.tell(failed(err))
		return runnerFailed
	}
	r.tell(status{Ended: true, Code: out.Code, Reason: out.Reason, Limit: out.Limit})
	return out.Code & 0xff
}

// limit ends the runner, with the guest wherever it is.
func (r *child) limit(callMax time.Duration) {
	r.tell(status{Ended: true, Killed: true, Reason: reasonCallMax(callMax), Limit: engine.LimitCPU})
	os.Exit(runnerLimit)
}

package wasi

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/transports"
)

func TestTimersRunWhileTheInputIsIdle(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		conn := startLab(t, o)
		ask(t, conn, request{Op: "tick", N: 10})
		for n := range 10 {
			if got := next(t, conn); got.ID != n {
				t.Fatalf("tick %d came as %d", n, got.ID)
			}
		}
	})
}

func TestACallOvertakesOneThatWaits(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		conn := startLab(t, o)
		ask(t, conn, request{ID: 1, Op: "sleep", N: 2000})
		ask(t, conn, request{ID: 2, Op: "echo", Text: "quick"})
		if first, second := next(t, conn), next(t, conn); first.ID != 2 || second.ID != 1 {
			t.Errorf("answers came in the order %d, %d", first.ID, second.ID)
		}
	})
}

func TestClocksAreReal(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		got := do(t, startLab(t, o), request{Op: "elapsed", N: 50})
		if d, err := time.ParseDuration(got.Text); err != nil || d < 50*time.Millisecond || d > 3*time.Minute {
			t.Errorf("50 ms took %q by the guest's clock", got.Text)
		}
	})
}

func TestArgumentsAndEnvironmentAreExactlyAsGiven(t *testing.T) {
	t.Setenv("FROM_THE_HOST", "1")
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Name, o.Args = "weather", []string{"--mode", "a b", ""}
		o.Env = []string{"A=b=c", "EMPTY=", "ZOT_EXTENSION=weather"}
		conn := startLab(t, o)
		if diff := cmp.Diff([]string{"weather", "--mode", "a b", ""}, do(t, conn, request{Op: "args"}).List); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
		env := do(t, conn, request{Op: "env"}).List
		slices.Sort(env)
		if diff := cmp.Diff(o.Env, env); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	})
}

func TestHowAGuestEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		ask    request
		code   int
		stderr string
	}{
		{"status", request{Op: "exit", N: 7}, 7, ""},
		{"status 0", request{Op: "exit"}, 0, ""},
		{"panic", request{Op: "panic", Text: "out of cheese"}, 2, "goroutine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothIsolations(t, func(t *testing.T, o Options) {
				conn := startLab(t, o)
				ask(t, conn, test.ask)
				exit := awaitDone(t, conn)
				if exit.Code != test.code || exit.Signal != "" || exit.Reason != "" || !strings.Contains(exit.StderrTail, test.stderr) {
					t.Errorf("exit = %v, stderr %q", exit, exit.StderrTail)
				}
			})
		})
	}
}

func TestAGuestMayCloseItsInput(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		conn := startLab(t, o)
		if got := do(t, conn, request{Op: "close-stdin"}); got.Errno != 0 {
			t.Errorf("closing gave error %d", got.Errno)
		}
		if exit := awaitDone(t, conn); exit.Code != 0 {
			t.Errorf("exit = %v", exit)
		}
	})
}

func TestASpinningGuestIsStopped(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		for _, args := range [][]string{{"spin"}, nil} {
			o.Args = args
			conn := startLab(t, o)
			if args == nil {
				ask(t, conn, request{Op: "spin"})
				ask(t, conn, request{Op: "echo"}) // never answered: one thread is all it has
			}
			began := time.Now()
			exit := conn.Stop(t.Context(), grace)
			if exit.Signal == "" {
				t.Errorf("exit = %v, want a violent one", exit)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("stopping took %v", took)
			}
		}
	})
}

// TestASpinningGuestDoesNotHoldUpTheHost is about the garbage collector, which
// waits for every goroutine.
func TestASpinningGuestDoesNotHoldUpTheHost(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		conn := startLab(t, o)
		ask(t, conn, request{Op: "spin"})
		collected := make(chan bool)
		go func() {
			for range 5 {
				runtime.GC()
			}
			close(collected)
		}()
		select {
		case <-collected:
		case <-time.After(3 * time.Minute):
			t.Error("the garbage collector waits for the guest")
		}
		conn.Stop(t.Context(), grace)
	})
}

func TestComputingHasALimit(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.CallMax = 1500 * time.Millisecond
		for _, args := range [][]string{{"spin"}, nil} {
			o.Args = args
			conn := startLab(t, o)
			if args == nil {
				// Waiting is not computing.
				do(t, conn, request{Op: "sleep", N: 2000})
				ask(t, conn, request{Op: "spin"})
			}
			exit := awaitDone(t, conn)
			if exit.Signal != "killed" || !strings.Contains(exit.Reason, "computed for longer than 1.5s") {
				t.Errorf("args %q: exit = %v", args, exit)
			}
		}
	})
}

func TestMemoryHasALimit(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.MemPages = 512
		for _, op := range []string{"alloc", "alloc-once"} { // little by little, and all in one
			conn := startLab(t, o)
			ask(t, conn, request{Op: op, N: 100 << 20})
			exit := awaitDone(t, conn)
			if exit.Code != 2 || exit.Limit != "memory" || exit.Reason != "the memory limit of 32 MiB (limits.memory) was reached" {
				t.Errorf("%s: exit = %v, limit %q, stderr %q", op, exit, exit.Limit, exit.StderrTail)
			}
		}
	})
}

// TestTheRunnerStaysSmall runs a memory bomb and asks the system for the most
// that its process ever held.
func TestTheRunnerStaysSmall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the peak size of a process")
	}
	o := Options{Module: guest(t, labGuest), Name: "guest", MemPages: 1024, Cache: cacheDir()}
	dir, err := compiled(t.Context(), o, variantRunner)
	if err != nil {
		t.Fatal(err)
	}
	settingsFor, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	cmd := exec.Command(ownBinary(), RunnerArg, "3", "4")
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{settingsFor, nowhere}
	cmd.Stdin = strings.NewReader(`{"op":"alloc"}` + "\n")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	settingsFor.Close()
	s := settings{Job: jobRun, Args: []string{"guest"}, Pages: o.MemPages, CallMax: time.Minute, Cache: dir, module: o.Module}
	if err := s.writeTo(tell); err != nil {
		t.Fatal(err)
	}
	_ = tell.Close()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Fatalf("the bomb ended with status %d, want 2", code)
	}
	peak := peakMemory(cmd.ProcessState)
	t.Logf("peak of %d MiB", peak>>20)
	if limit := uint64(64+64) << 20; peak > limit && !raceEnabled {
		t.Errorf("a guest of 64 MiB took %d MiB of its runner", peak>>20)
	}
}

func TestLimitsThatCannotBeKeptAreRefused(t *testing.T) {
	module := guest(t, labGuest)
	for _, test := range []struct {
		want string
		o    Options
	}{
		{"its limit is 1 MiB", Options{MemPages: 16}},
		{"the most is 65536", Options{MemPages: 1 << 17}},
		{`isolation "thread"`, Options{Isolation: "thread"}},
		{"time limit is negative", Options{CallMax: -1}},
		{"is not confined by the system", Options{Isolation: Inline, RequireConfinement: true}},
		{`environment entry "PATH"`, Options{Env: []string{"PATH"}}},
		{"holds a zero byte", Options{Args: []string{"a\x00b"}}},
		{"must be absolute and plain", Options{Mounts: []Mount{{Host: t.TempDir(), Guest: "data"}}}},
		{"must be absolute and plain", Options{Mounts: []Mount{{Host: t.TempDir(), Guest: "/data/../x"}}}},
		{"no such file", Options{Mounts: []Mount{{Host: "/no/such/folder", Guest: "/data"}}}},
		{"must be absolute", Options{Mounts: []Mount{{Host: "testdata", Guest: "/data"}}}},
		{`two mounts at "/data"`, Options{Mounts: []Mount{{Host: t.TempDir(), Guest: "/data"}, {Host: t.TempDir(), Guest: "/data"}}}},
	} {
		test.o.Module = module
		conn, err := Start(t.Context(), test.o)
		if err == nil {
			conn.Stop(t.Context(), grace)
			t.Errorf("%q: it started", test.want)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("error = %v, want %q in it", err, test.want)
		}
	}
}

func TestStartIsBounded(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Module, o.StartMax, o.Cache = guest(t, labGuest), time.Millisecond, t.TempDir()
		conn, err := Start(t.Context(), o)
		if err == nil {
			conn.Stop(t.Context(), grace)
			t.Fatal("it started within a millisecond, compiled")
		}
		if !strings.Contains(err.Error(), "did not start within 1ms") {
			t.Errorf("error = %v", err)
		}
	})
}

func TestAGuestThatNeverReadsMeetsTheDeadline(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Args = []string{"spin"}
		conn := startLab(t, o)
		var sent int
		var err error
		for sent = 0; err == nil && sent < 20<<20; sent += 1 << 16 {
			err = conn.WriteFrame([]byte(strings.Repeat("x", 1<<16-1)), time.Now().Add(200*time.Millisecond))
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %d bytes: %v", sent, err)
		}
		conn.Stop(t.Context(), transports.Grace{})
	})
}

package wasi

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const header = "\x00asm\x01\x00\x00\x00"

// section is one of a module made by hand.
func section(id byte, content ...byte) string {
	return string(append([]byte{id, byte(len(content))}, content...))
}

func vec(items ...string) []byte {
	b := []byte{byte(len(items))}
	for _, item := range items {
		b = append(b, item...)
	}
	return b
}

func name(s string) string { return string(rune(len(s))) + s }

// program is a module whose _start has that body, in the bytes of its code,
// with imports of functions without arguments.
func program(body string, imports ...string) []byte {
	var wants []string
	for _, i := range imports {
		module, field, _ := strings.Cut(i, ".")
		wants = append(wants, name(module)+name(field)+"\x00\x00")
	}
	code := "\x00" + body + "\x0b" // no locals, the body, end
	return []byte(header +
		section(1, vec("\x60\x00\x00")...) +
		section(2, vec(wants...)...) +
		section(3, vec("\x00")...) +
		section(5, vec("\x00\x01")...) +
		section(7, vec(name("_start")+"\x00"+string(rune(len(imports))))...) +
		section(10, vec(string(rune(len(code)))+code)...))
}

// Bodies.
const (
	doNothing   = ""
	unreachable = "\x00"
	callItself  = "\x10\x00"
	loopForEver = "\x03\x40\x0c\x00\x0b"
	divideZero  = "\x41\x01\x41\x00\x6d\x1a"
	readOutside = "\x41\x7f\x28\x02\x00\x1a"
)

func TestModulesThatCannotRun(t *testing.T) {
	good := program(doNothing)
	for _, test := range []struct {
		name   string
		module []byte
		want   string
	}{
		{"empty", []byte{}, "the file is empty"},
		{"no module", []byte("#!/bin/sh\n"), `it begins with "#!/b"`},
		{"header cut off", []byte("\x00asm\x01"), "cut off within its first bytes"},
		{"cut off", good[:len(good)-3], "damaged or cut off"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "it is a component (WASI preview 2); build it for preview 1"},
		{"another version", []byte("\x00asm\x02\x00\x00\x00"), "of WebAssembly version 2, not 1"},
		{"unknown import", program(doNothing, "env.abort"), "it imports env.abort; only wasi_snapshot_preview1"},
		{"several", program(doNothing, "env.b", "wasi_snapshot_preview1.nothing", "env.a"), "it imports env.a, env.b, wasi_snapshot_preview1.nothing;"},
		{"older WASI", program(doNothing, "wasi_unstable.fd_write"), "build with a newer toolchain"},
		{"no start", bytes.Replace(good, []byte("_start"), []byte("_begin"), 1), `it exports no "_start"`},
		{"wrong type of import", program(doNothing, "wasi_snapshot_preview1.fd_read"), "fd_read"},
		{"invalid code", program("\xff"), "cannot run"},
		{"too much memory", bytes.Replace(good, []byte("\x05\x03\x01\x00\x01"), []byte("\x05\x04\x01\x00\x80\x10"), 1), "starts with 128 MiB of memory, and its limit is 64 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothIsolations(t, func(t *testing.T, o Options) {
				o.Module = test.module
				conn, err := Start(t.Context(), o)
				if err == nil {
					exit := awaitDone(t, conn)
					conn.Stop(t.Context(), grace)
					t.Fatalf("it started, and ended with %v: %s", exit, exit.StderrTail)
				}
				var moduleErr *ModuleError
				if !errors.As(err, &moduleErr) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error = %v, want %q in it", err, test.want)
				}
			})
		})
	}
}

func TestTraps(t *testing.T) {
	for _, test := range []struct {
		name, body, want string
	}{
		{"unreachable", unreachable, "trap: unreachable"},
		{"stack overflow", callItself, "trap: stack overflow"},
		{"division by zero", divideZero, "trap: integer divide by zero"},
		{"memory", readOutside, "trap: out of bounds memory access"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothIsolations(t, func(t *testing.T, o Options) {
				o.Module = program(test.body)
				exit := awaitDone(t, start(t, o))
				if exit.Code != 134 || exit.Reason != test.want {
					t.Errorf("exit = %v, want a reason of %q; %s", exit, test.want, exit.StderrTail)
				}
			})
		})
	}
}

func TestABareLoopIsStopped(t *testing.T) {
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Module = program(loopForEver)
		if exit := start(t, o).Stop(t.Context(), grace); exit.Signal == "" {
			t.Errorf("exit = %v", exit)
		}
	})
}

func TestInspect(t *testing.T) {
	info, err := Inspect(program(doNothing, "wasi_snapshot_preview1.sched_yield", "env.x"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(info.Imports, []string{"env.x", "wasi_snapshot_preview1.sched_yield"}) ||
		!slices.Equal(info.Exports, []string{"_start"}) || info.MinPages != 1 {
		t.Errorf("info = %+v", info)
	}
	info, err = Inspect(guest(t, labGuest))
	if err != nil || info.MinPages == 0 || !slices.Contains(info.Imports, "wasi_snapshot_preview1.poll_oneoff") {
		t.Errorf("a Go program: %+v, %v", info, err)
	}
}

// TestListsBeyondAllReason has modules of a few bytes that ask for gigabytes.
func TestListsBeyondAllReason(t *testing.T) {
	const huge = "\xff\xff\xff\xff\x0f"
	element := section(9, []byte("\x01\x01\x00"+huge)...) // one segment, passive, so many functions
	good := program(doNothing)
	for name, module := range map[string][]byte{
		"imports":  []byte(header + section(2, []byte(huge)...)),
		"types":    []byte(header + section(1, []byte(huge)...)),
		"elements": bytes.Replace(good, []byte("\x0a\x04\x01\x02\x00\x0b"), []byte(element+"\x0a\x04\x01\x02\x00\x0b"), 1),
		"branches": program("\x41\x00\x0e" + huge),
	} {
		t.Run(name, func(t *testing.T) {
			bothIsolations(t, func(t *testing.T, o Options) {
				o.Module = module
				_, err := Start(t.Context(), o)
				var moduleErr *ModuleError
				if !errors.As(err, &moduleErr) {
					t.Errorf("error = %v, want one about the module", err)
				}
			})
		})
	}
}

// FuzzInspect checks that what Inspect takes for a module survives being
// stripped, and says the same of itself then.
func FuzzInspect(f *testing.F) {
	for _, body := range []string{doNothing, unreachable, callItself, divideZero} {
		f.Add(program(body))
	}
	f.Add(program(doNothing, "env.a", "wasi_snapshot_preview1.sched_yield"))
	f.Add(append(program(doNothing), section(0, []byte(name("name")+"\xff\xff")...)...))
	f.Add([]byte("\x00asm\x0d\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, module []byte) {
		info, err := Inspect(module)
		if err != nil {
			return
		}
		plain, err := Inspect(stripped(module))
		if err != nil {
			t.Fatalf("stripped, it cannot be read: %v", err)
		}
		plain.Size = info.Size
		if diff := cmp.Diff(info, plain); diff != "" {
			t.Errorf("stripped, it is another:\n%s", diff)
		}
	})
}

// TestDamagedModules runs what is nearly a real program.
func TestDamagedModules(t *testing.T) {
	module := guest(t, labGuest)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		damaged := bytes.Clone(module)
		for range 20 {
			damaged[8+rng.IntN(len(damaged)-8)] ^= byte(1 + rng.IntN(255))
		}
		o := Options{Module: damaged, Name: "guest", CallMax: 2 * time.Second, StartMax: 30 * time.Second}
		conn, err := Start(t.Context(), o)
		if err != nil {
			continue
		}
		conn.Stop(t.Context(), grace)
	}
}

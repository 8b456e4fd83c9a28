package wasi

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
)

// A module with one function "f" that takes a number and gives one, has two more
// variables, and that code.
func computing(code string) []byte {
	body := "\x01\x02\x7f" + code + "\x0b"
	size := string(binary.AppendUvarint(nil, uint64(len(body))))
	all := "\x01" + size + body
	return []byte(header + section(1, vec("\x60\x01\x7f\x01\x7f")...) + section(3, vec("\x00")...) +
		section(7, vec(name("f")+"\x00\x00")...) + "\x0a" + string(binary.AppendUvarint(nil, uint64(len(all)))) + all)
}

// codeOf is the code of its function.
func codeOf(t *testing.T, module []byte) string {
	t.Helper()
	for s := range sections(module) {
		if s.id == sectionCode {
			r := &wasmReader{rest: s.content[1:]}
			body := r.bytes(r.number())
			return string(body[3 : len(body)-1])
		}
	}
	t.Fatal("there is no code")
	return ""
}

const (
	get0, get1 = "\x20\x00", "\x20\x01"
	callF      = get0 + "\x10\x00\x1a" // f(the argument), which is dropped
	twoBlocks  = "\x02\x40\x02\x40" + get1 + "\x0e\x01\x00\x01\x0b"
	goTo       = "\x41%c\x21\x01\x0c%c" // writes a block's number, and begins the loop that deep anew
)

func TestJumpsAreStraightened(t *testing.T) {
	to := func(block, depth rune) string { return fmt.Sprintf(goTo, block, depth) }
	for _, test := range []struct{ name, code, want string }{
		{"a loop that is none", "\x03\x40\x01\x0b" + get0, "\x02\x40\x01\x0b" + get0},
		{"a loop", "\x03\x40" + get0 + "\x0d\x00\x0b" + get0, "\x03\x40" + get0 + "\x0d\x00\x0b" + get0},
		{"a loop begun anew from within", "\x03\x40\x02\x40" + get0 + "\x0d\x01\x0b\x0b" + get0, "\x03\x40\x02\x40" + get0 + "\x0d\x01\x0b\x0b" + get0},
		{"a loop in a table", "\x03\x40\x02\x40" + get0 + "\x0e\x01\x00\x01\x0b\x0b" + get0, "\x03\x40\x02\x40" + get0 + "\x0e\x01\x00\x01\x0b\x0b" + get0},
		{"forward", "\x03\x40" + twoBlocks + to(1, 1) + "\x0b\x0b" + get0, "\x02\x40" + twoBlocks + to(1, 0) + "\x0b\x0b" + get0},
		{"for all other values", "\x03\x40" + twoBlocks + to(9, 1) + "\x0b\x0b" + get0, "\x02\x40" + twoBlocks + to(9, 0) + "\x0b\x0b" + get0},
		{"backward", "\x03\x40" + twoBlocks + to(0, 1) + "\x0b\x0b" + get0, "\x03\x40" + twoBlocks + to(0, 1) + "\x0b\x0b" + get0},
		{"from a condition", "\x03\x40" + twoBlocks + get0 + "\x04\x40" + to(1, 2) + "\x0b\x0b\x0b" + get0, "\x02\x40" + twoBlocks + get0 + "\x04\x40" + to(1, 1) + "\x0b\x0b\x0b" + get0},
		{"another variable", "\x03\x40" + twoBlocks + "\x41\x01\x21\x02\x0c\x01\x0b\x0b" + get0, "\x03\x40" + twoBlocks + "\x41\x01\x21\x02\x0c\x01\x0b\x0b" + get0},
		{"a number below zero", "\x03\x40" + twoBlocks + "\x41\x7f\x21\x01\x0c\x01\x0b\x0b" + get0, "\x03\x40" + twoBlocks + "\x41\x7f\x21\x01\x0c\x01\x0b\x0b" + get0},
		{"something in between", "\x03\x40" + twoBlocks + "\x41\x01\x21\x01\x01\x0c\x01\x0b\x0b" + get0, "\x03\x40" + twoBlocks + "\x41\x01\x21\x01\x01\x0c\x01\x0b\x0b" + get0},
		{"one call", callF + get0, callF + get0},
		{"two calls", callF + callF + get0, string(emptyLoop) + callF + callF + get0},
		{"two calls in a loop", "\x03\x40" + callF + callF + get0 + "\x0d\x00\x0b" + get0, "\x03\x40" + callF + callF + get0 + "\x0d\x00\x0b" + get0},
		{"two calls before a loop", callF + callF + "\x03\x40" + get0 + "\x0d\x00\x0b" + get0, string(emptyLoop) + callF + callF + "\x03\x40" + get0 + "\x0d\x00\x0b" + get0},
		{"an instruction that is not known", "\x03\x40\x06\x0b" + get0, string(emptyLoop) + "\x03\x40\x06\x0b" + get0},
		{"one of several memories", get0 + "\x28\x42\x01\x03\x03\x0b\x1a" + get0, string(emptyLoop) + get0 + "\x28\x42\x01\x03\x03\x0b\x1a" + get0},
		{"a memory", get0 + "\x28\x02\x03\x1a" + get0, get0 + "\x28\x02\x03\x1a" + get0},
		{"all kinds of operands", "\x44\x03\x03\x03\x03\x03\x03\x03\x03\x1a\x43\x03\x03\x03\x03\x1a\x42\x83\x03\x1a\x41\x83\x03\x1a" + get0, "\x44\x03\x03\x03\x03\x03\x03\x03\x03\x1a\x43\x03\x03\x03\x03\x1a\x42\x83\x03\x1a\x41\x83\x03\x1a" + get0},
		{"a vector", "\xfd\x0c" + strings.Repeat("\x03", 16) + "\x1a" + get0, "\xfd\x0c" + strings.Repeat("\x03", 16) + "\x1a" + get0},
	} {
		if got := codeOf(t, straightened(computing(test.code))); got != test.want {
			t.Errorf("%s: %q\ngot  %q\nwant %q", test.name, test.code, got, test.want)
		}
	}
}

// Random functions of blocks that jump to each other, as a compiler without
// structured jumps writes them, give the same after it.
func TestStraightCodeDoesTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := wazero.NewRuntime(t.Context())
	defer r.Close(context.Background())
	straight := 0
	for i := range 300 {
		module := computing(jumping(random))
		after := straightened(module)
		if !bytes.Equal(module, after) {
			straight++
		}
		for _, n := range []uint64{0, 1, 2, 3, 100, 0xffffffff} {
			if before, after := result(t, r, module, n), result(t, r, after, n); before != after {
				t.Fatalf("%d: f(%d) = %d, and straightened %d\n%q", i, n, before, after, module)
			}
		}
	}
	if straight < 200 {
		t.Errorf("only %d of 300 were changed", straight)
	}
}

func result(t *testing.T, r wazero.Runtime, module []byte, n uint64) uint64 {
	t.Helper()
	m, err := r.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatalf("%v: %q", err, module)
	}
	defer m.Close(t.Context())
	got, err := m.ExportedFunction("f").Call(t.Context(), n)
	if err != nil {
		t.Fatalf("%v: %q", err, module)
	}
	return got[0]
}

// jumping is code of up to 90 blocks. Each counts its number into the argument, takes one
// off a counter, ends where that is used up, and goes somewhere else, perhaps by a condition.
func jumping(random *rand.Rand) string {
	blocks := 1 + random.IntN(90)
	number := func(n int) string { return "\x41" + string(appendSigned(nil, int32(n))) }
	goTo := func(block, depth int) string {
		return number(block) + "\x21\x01\x0c" + string(binary.AppendUvarint(nil, uint64(depth)))
	}
	var b strings.Builder
	b.WriteString(number(50+random.IntN(100)) + "\x21\x02" + "\x03\x40" + strings.Repeat("\x02\x40", blocks+1) + get1 + "\x0e")
	b.Write(binary.AppendUvarint(nil, uint64(blocks)))
	for range blocks + 1 { // the table goes anywhere, too
		b.Write(binary.AppendUvarint(nil, uint64(random.IntN(blocks+1))))
	}
	b.WriteString("\x0b")
	for i := range blocks {
		depth := blocks - i                                                                    // of the loop
		b.WriteString(get0 + number(31) + "\x6c" + number(i) + "\x6a\x21\x00")                 // argument = argument*31 + i
		b.WriteString("\x20\x02" + number(1) + "\x6b\x22\x02\x45\x04\x40" + get0 + "\x0f\x0b") // if --counter == 0, return
		switch random.IntN(3) {
		case 0:
			b.WriteString(goTo(random.IntN(blocks+2), depth))
		case 1:
			b.WriteString(get0 + number(1+random.IntN(7)) + "\x71\x04\x40" + goTo(random.IntN(blocks+2), depth+1))
			if random.IntN(2) == 0 {
				b.WriteString("\x05" + goTo(random.IntN(blocks+2), depth+1))
			}
			b.WriteString("\x0b")
		}
		b.WriteString("\x0b")
	}
	return b.String() + "\x0b" + get0
}

// FuzzStraightened checks that what the engine takes it also takes straightened.
func FuzzStraightened(f *testing.F) {
	f.Add(jumping(rand.New(rand.NewPCG(3, 4))))
	f.Add(callF + callF + get0)
	f.Fuzz(func(t *testing.T, code string) {
		r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
		defer r.Close(context.Background())
		if _, err := r.CompileModule(t.Context(), computing(code)); err != nil {
			return
		}
		if _, err := r.CompileModule(t.Context(), straightened(computing(code))); err != nil {
			t.Errorf("%q: %v", code, err)
		}
	})
}

// A function that calls itself twice needs no loop to go on for ever, and is
// stopped all the same.
func TestRecursionWithoutALoopIsStopped(t *testing.T) {
	const (
		again   = get0 + "\x41\x01\x6b\x10\x00"                                   // f(n-1)
		f       = "\x00" + get0 + "\x45\x04\x40\x0f\x0b" + again + again + "\x0b" // if n == 0, return
		start   = "\x00\x41\xe8\x07\x10\x00\x0b"                                  // f(1000)
		noValue = "\x60\x00\x00"
		aNumber = "\x60\x01\x7f\x00"
	)
	module := []byte(header + section(1, vec(aNumber, noValue)...) + section(3, vec("\x00", "\x01")...) + section(5, vec("\x00\x01")...) +
		section(7, vec(name("_start")+"\x00\x01")...) + section(10, vec(name(f), name(start))...))
	bothIsolations(t, func(t *testing.T, o Options) {
		o.Module, o.CallMax = module, 100*time.Millisecond
		conn, err := Start(t.Context(), o)
		must(t, err)
		exit := awaitDone(t, conn)
		conn.Stop(t.Context(), grace)
		if exit.Limit != "cpuPerCall" {
			t.Errorf("it ended with %v (%s)", exit, exit.Reason)
		}
	})
}

package wasi

import (
	"encoding/binary"
	"slices"
)

// straightened is a module whose code has fewer loops to look in whether to stop,
// and has one wherever it could go on for ever. What the code does stays the same,
// and a function that is not understood gets no more than a loop to begin with.
//
// A compiler without structured jumps, as that of Go, puts the blocks of a function
// into a loop that begins with a table of them all: who goes from one to another
// writes into a variable where to, and begins the loop anew. Forward, the block can
// be left directly. A loop that nobody begins anew is none, and becomes a block.
//
// The engine does not look in calls that go on for ever without any loop, as those of
// a recursive function may; so a function with several calls begins with a loop, be it
// an empty one. One with a single call needs none: a row of these ends with the stack.
func straightened(module []byte) []byte {
	out := append(make([]byte, 0, len(module)+len(module)/64), module[:8]...)
	for s := range sections(module) {
		if s.id == sectionCode {
			out = appendSection(out, sectionCode, straightCode(s.content))
		} else {
			out = append(out, s.all...)
		}
	}
	return out
}

// emptyLoop is a loop without anything in it.
var emptyLoop = []byte{opLoop, noResult, opEnd}

// straightCode is [straightened] for the code section. One that cannot be read it
// returns as it is, for the engine to refuse.
func straightCode(section []byte) []byte {
	r := &wasmReader{rest: section}
	n := r.count()
	out := binary.AppendUvarint(make([]byte, 0, len(section)+len(section)/64), n)
	var f function
	for range n {
		body := r.bytes(r.number())
		understood := f.read(body)
		begins := !understood || f.calls > 1 && !f.beginsWithLoop
		size := len(body)
		if begins {
			size += len(emptyLoop)
		}
		out = binary.AppendUvarint(out, uint64(size))
		at := len(out)
		out = append(out, body...)
		if understood {
			f.change(out[at:])
		}
		if begins {
			out = slices.Insert(out, at+f.begin, emptyLoop...)
		}
	}
	if r.err != nil || len(r.rest) > 0 {
		return section
	}
	return out
}

// A function is what is known of one body of code.
type function struct {
	begin          int  // of its instructions
	calls          int  // how many instructions call
	beginsWithLoop bool // one that stays a loop and is met whatever happens
	changes        []change

	code   instructions
	frames []frame
}

// A change is one byte to be written.
type change struct {
	at    int
	value byte
}

// A frame is a block, loop or condition that is open.
type frame struct {
	at    int  // its instruction
	loop  bool // or a block or condition
	sure  bool // it is met whatever happens
	anew  bool // somebody begins it anew
	table jumpTable
}

// A jumpTable stands at the begin of a loop, in blocks that are opened right
// before it, and goes to the end of the block that a variable says.
type jumpTable struct {
	blocks   int      // 0: there is no table
	variable uint64   // the index of the local variable
	depths   []uint64 // of the blocks, for each value, and at last for all others
}

// read finds out what can be changed in a body. It reports whether all of it was
// understood; if not, nothing is to be changed.
func (f *function) read(body []byte) bool {
	f.code = instructions{wasmReader: wasmReader{rest: body}, size: len(body), depths: f.code.depths, tables: f.code.tables[:0]}
	f.frames, f.changes, f.calls, f.beginsWithLoop = f.frames[:0], f.changes[:0], 0, false
	for range f.code.count() { // local variables: how many, and their type
		f.code.number()
		f.code.byte()
	}
	if f.code.err != nil {
		f.begin = 0 // no valid code, whatever is done to it
		return false
	}
	f.begin = f.code.at()
	f.frames = append(f.frames, frame{at: f.begin})
	sure := true
	for len(f.frames) > 0 {
		at := f.code.at()
		op := f.code.next()
		switch op {
		case opUnknown:
			return false
		case opBlock, opLoop:
			f.frames = append(f.frames, frame{at: at, loop: op == opLoop, sure: sure, table: f.code.tableAfter(op)})
			continue
		case opIf:
			f.frames = append(f.frames, frame{at: at})
		case opEnd:
			f.end()
		case opBr:
			f.jump(at)
		case opBrIf:
			f.target(f.code.operand)
		case opBrTable:
			for _, depth := range f.code.depths {
				f.target(depth)
			}
		case opCall, opCallIndirect:
			f.calls++
		}
		sure = sure && !leaves[op]
	}
	return f.code.err == nil && len(f.code.rest) == 0
}

// end closes the innermost frame.
func (f *function) end() {
	last := f.frames[len(f.frames)-1]
	f.frames = f.frames[:len(f.frames)-1]
	switch {
	case last.loop && last.anew:
		f.beginsWithLoop = f.beginsWithLoop || last.sure
	case last.loop:
		f.changes = append(f.changes, change{last.at, opBlock})
	}
}

// target is told that somebody goes to the frame at a depth.
func (f *function) target(depth uint64) {
	if depth < uint64(len(f.frames)) {
		f.frames[uint64(len(f.frames))-1-depth].anew = true
	}
}

// jump looks whether a jump goes to a table that is left by the end of a block
// which is still open, and goes there directly.
func (f *function) jump(at int) {
	depth := f.code.operand
	if depth >= uint64(len(f.frames)) {
		return
	}
	loop := len(f.frames) - 1 - int(depth)
	if block, ok := f.code.written.leadsTo(f.frames[loop].table); ok {
		// The blocks of a table follow its loop, each of two bytes.
		if block += loop; block < len(f.frames) && f.frames[block].at == f.frames[loop].at+2*(block-loop) {
			f.shorten(at+1, len(f.frames)-1-block)
			return
		}
	}
	f.target(depth)
}

// shorten writes a smaller number in the place of one in LEB128.
func (f *function) shorten(at, depth int) {
	for end := f.code.at(); at < end; at++ {
		value := byte(depth & 0x7f)
		if depth >>= 7; at < end-1 {
			value |= 0x80
		}
		f.changes = append(f.changes, change{at, value})
	}
}

// change makes the changes in a copy of the body.
func (f *function) change(body []byte) {
	for _, c := range f.changes {
		body[c.at] = c.value
	}
}

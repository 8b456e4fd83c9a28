package wasi

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// prepared is a module as the engine gets it: without what it needs not and, where
// it has to look whether to stop, made for that.
func prepared(module []byte, isolation Isolation) []byte {
	module = stripped(module)
	if isolation == Inline {
		module = straightened(module)
	}
	return module
}

// stripped leaves out of a module what does not change what it does, and puts
// together what is in pieces: the engine keeps a record of every piece for as
// long as the module runs. The module is one that Inspect has read.
func stripped(module []byte) []byte {
	whole := !hasSection(module, sectionDataCount)
	plain := append(make([]byte, 0, len(module)), module[:8]...)
	for s := range sections(module) {
		switch {
		case s.id == sectionCustom:
			// Such as the names of its functions: they can be half of it, and a
			// mistake in them is no reason to refuse it.
		case s.id == sectionData && whole:
			// Without a count of its data, no code names a piece of it.
			plain = appendSection(plain, sectionData, joined(s.content))
		default:
			plain = append(plain, s.all...)
		}
	}
	return plain
}

// A wasmSection is one part of a module.
type wasmSection struct {
	id           byte
	all, content []byte // with and without its id and size
}

// sections are the parts of a module after its header.
func sections(module []byte) func(yield func(wasmSection) bool) {
	return func(yield func(wasmSection) bool) {
		for r := (&wasmReader{rest: module[8:]}); len(r.rest) > 0; {
			before := r.rest
			s := wasmSection{id: r.byte()}
			s.content = r.bytes(r.number())
			s.all = before[:len(before)-len(r.rest)]
			if r.err != nil || !yield(s) {
				return
			}
		}
	}
}

func hasSection(module []byte, id byte) bool {
	for s := range sections(module) {
		if s.id == id {
			return true
		}
	}
	return false
}

func appendSection(to []byte, id byte, content []byte) []byte {
	to = append(to, id)
	to = binary.AppendUvarint(to, uint64(len(content)))
	return append(to, content...)
}

// A dataPiece is bytes that a module's memory begins with.
type dataPiece struct {
	at    uint32
	bytes []byte
}

// maxGap is how far two pieces may lie apart to be joined, in bytes. What is in
// between is zero, as all memory is at the start.
const maxGap = 64

// joined joins the pieces of a data section that lie side by side: a Go program
// has tens of thousands of them. A section of which that cannot be said it
// returns as it is.
func joined(section []byte) []byte {
	pieces, ok := dataPieces(section)
	if !ok {
		return section
	}
	var all []dataPiece
	for _, p := range pieces {
		if n := len(all); n > 0 {
			last := &all[n-1]
			end := uint64(last.at) + uint64(len(last.bytes))
			if gap := uint64(p.at) - end; uint64(p.at) >= end && gap <= maxGap {
				last.bytes = append(append(last.bytes, make([]byte, gap)...), p.bytes...)
				continue
			}
		}
		all = append(all, dataPiece{p.at, slices.Clip(p.bytes)})
	}
	out := binary.AppendUvarint(nil, uint64(len(all)))
	for _, p := range all {
		out = append(out, 0, opI32Const)
		out = appendSigned(out, int32(p.at))
		out = append(out, opEnd)
		out = binary.AppendUvarint(out, uint64(len(p.bytes)))
		out = append(out, p.bytes...)
	}
	return out
}

// dataPieces reads a data section whose pieces all have a fixed place in the
// first memory and do not overlap, so that their order means nothing. They are
// returned in that of their places.
func dataPieces(section []byte) (pieces []dataPiece, ok bool) {
	r := &wasmReader{rest: section}
	for range r.count() {
		if r.byte() != 0 || r.byte() != opI32Const {
			return nil, false
		}
		p := dataPiece{at: uint32(r.signed())}
		if r.byte() != opEnd {
			return nil, false
		}
		p.bytes = r.bytes(r.number())
		pieces = append(pieces, p)
	}
	slices.SortStableFunc(pieces, func(a, b dataPiece) int { return cmp.Compare(a.at, b.at) })
	end := uint64(0)
	for _, p := range pieces {
		if uint64(p.at) < end {
			return nil, false
		}
		end = uint64(p.at) + uint64(len(p.bytes))
	}
	return pieces, r.err == nil && len(r.rest) == 0
}

// signed reads a signed number of 32 bits in LEB128.
func (r *wasmReader) signed() int32 {
	var n int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				n |= -1 << (shift + 7)
			}
			return int32(n)
		}
	}
	r.fail("a number is too long")
	return 0
}

func appendSigned(to []byte, n int32) []byte {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(to, b)
		}
		to = append(to, b|0x80)
	}
}

package wasi

import "encoding/binary"

// Instructions that say where it goes on, or that jumps are made of.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opI32Const     = 0x41
	opVector       = 0xfd
	opUnknown      = 0xff // or the code ended too early

	noResult    = 0x40 // the type of a block
	noAlignment = 0x40 // where instructions about memory have more than an alignment and an offset
)

// leaves are the instructions after which it may go on elsewhere.
var leaves = [256]bool{
	opUnreachable: true, opIf: true, opElse: true, opEnd: true, opBr: true, opBrIf: true, opBrTable: true, opReturn: true, opCall: true, opCallIndirect: true,
}

// What an instruction carries.
type carries byte

const (
	carriesNothing carries = iota
	carriesNumber
	carriesTwoNumbers
	carriesByte
	carries4Bytes
	carries8Bytes
	carries16Bytes
	carriesPlaceAndLane // of memory, and a byte
	carriesTable        // of depths
	carriesTypes
	carriesMore // by the number that follows
	unknown
)

// carried is what each instruction carries, of version 2 of WebAssembly; moreCarried
// is it for those that begin with 0xfc. A type and a signed number are read as a number
// of which nobody asks the value.
var (
	carried     = carriedBy()
	moreCarried = [18]carries{
		8: carriesTwoNumbers, 9: carriesNumber, 10: carriesTwoNumbers, 11: carriesNumber, 12: carriesTwoNumbers, 13: carriesNumber,
		14: carriesTwoNumbers, 15: carriesNumber, 16: carriesNumber, 17: carriesNumber,
	}
)

func carriedBy() (all [256]carries) {
	for op := range all {
		all[op] = unknown
	}
	fill := func(from, to int, c carries) {
		for op := from; op <= to; op++ {
			all[op] = c
		}
	}
	fill(opUnreachable, 0x01, carriesNothing)
	fill(opBlock, opIf, carriesNumber)
	fill(opElse, opElse, carriesNothing)
	fill(opEnd, opEnd, carriesNothing)
	fill(opBr, opBrIf, carriesNumber)
	fill(opBrTable, opBrTable, carriesTable)
	fill(opReturn, opReturn, carriesNothing)
	fill(opCall, opCall, carriesNumber)
	fill(opCallIndirect, opCallIndirect, carriesTwoNumbers)
	fill(0x1a, 0x1b, carriesNothing) // drop, select
	fill(0x1c, 0x1c, carriesTypes)
	fill(opLocalGet, 0x26, carriesNumber)   // variables and tables
	fill(0x28, 0x3e, carriesTwoNumbers)     // memory: alignment and offset
	fill(0x3f, opI32Const+1, carriesNumber) // memory's size; whole numbers
	fill(0x43, 0x43, carries4Bytes)
	fill(0x44, 0x44, carries8Bytes)
	fill(0x45, 0xc4, carriesNothing) // arithmetic
	fill(0xd0, 0xd0, carriesNumber)  // references
	fill(0xd1, 0xd1, carriesNothing)
	fill(0xd2, 0xd2, carriesNumber)
	fill(0xfc, opVector, carriesMore)
	return all
}

// vectorCarries is what the instructions carry that begin with 0xfd.
func vectorCarries(op uint64) carries {
	switch {
	case op <= 11, op == 92, op == 93:
		return carriesTwoNumbers
	case op <= 13:
		return carries16Bytes
	case op >= 21 && op <= 34:
		return carriesByte
	case op >= 84 && op <= 91:
		return carriesPlaceAndLane
	case op < 256:
		return carriesNothing
	}
	return unknown
}

// instructions reads code, one instruction after the other.
type instructions struct {
	wasmReader
	size    int
	operand uint64   // the first number that the last one carries
	depths  []uint64 // those of the last table
	tables  []uint64 // those of all tables that loops begin with
	written written
}

// written is whether the instructions just read wrote a number into a local
// variable.
type written struct {
	steps           int // 1: the number, 2: and the variable
	value, variable uint64
}

// at is the place of the next instruction.
func (c *instructions) at() int { return c.size - len(c.rest) }

// next reads an instruction. Its operands are valid until the one after.
func (c *instructions) next() byte {
	op := c.byte()
	kind := carried[op]
	if kind == carriesMore {
		switch more := c.leb(); {
		case op == opVector:
			kind = vectorCarries(more)
		case more < uint64(len(moreCarried)):
			kind = moreCarried[more]
		default:
			kind = unknown
		}
	}
	switch kind {
	case carriesNothing:
	case carriesNumber:
		if op == opI32Const {
			c.constant(c.signed())
			return c.known(op)
		}
		c.operand = c.leb()
	case carriesTwoNumbers:
		c.operand = c.leb()
		c.leb()
		if op > opLocalSet && op < opI32Const && c.operand >= noAlignment {
			return opUnknown // it names one of several memories
		}
	case carriesByte:
		c.bytes(1)
	case carries4Bytes:
		c.bytes(4)
	case carries8Bytes:
		c.bytes(8)
	case carries16Bytes:
		c.bytes(16)
	case carriesPlaceAndLane:
		c.leb()
		c.leb()
		c.bytes(1)
	case carriesTable:
		c.depths = c.table(c.depths[:0])
	case carriesTypes:
		c.bytes(c.count())
	default:
		return opUnknown
	}
	if op != opBr { // which asks what was written before it
		c.wrote(op)
	}
	return c.known(op)
}

func (c *instructions) known(op byte) byte {
	if c.err != nil {
		return opUnknown
	}
	return op
}

// leb reads a number of any type in LEB128. Of one with a sign the value is not
// to be used.
func (c *instructions) leb() (n uint64) {
	for i, b := range c.rest[:min(len(c.rest), binary.MaxVarintLen64)] {
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.rest = c.rest[i+1:]
			return n
		}
	}
	c.fail("a number does not end")
	return 0
}

// table reads how deep a table's targets lie, the one for all other values last.
func (c *instructions) table(depths []uint64) []uint64 {
	for range c.count() + 1 {
		depths = append(depths, c.leb())
	}
	return depths
}

func (c *instructions) constant(value int32) {
	c.written = written{}
	if value >= 0 {
		c.written = written{steps: 1, value: uint64(value)}
	}
}

// wrote follows what is written into variables.
func (c *instructions) wrote(op byte) {
	if op == opLocalSet && c.written.steps == 1 {
		c.written.steps, c.written.variable = 2, c.operand
		return
	}
	c.written.steps = 0
}

// leadsTo returns the number of the block, the outermost being 1, at whose end it
// goes on when the loop with a table is begun anew.
func (w written) leadsTo(t jumpTable) (block int, ok bool) {
	if w.steps != 2 || t.blocks == 0 || w.variable != t.variable {
		return 0, false
	}
	depth := t.depths[min(w.value, uint64(len(t.depths)-1))]
	return t.blocks - int(min(depth, uint64(t.blocks))), depth < uint64(t.blocks)
}

// tableAfter reads ahead whether a loop that was just opened begins with a table.
func (c *instructions) tableAfter(op byte) (t jumpTable) {
	if op != opLoop || c.operand != noResult {
		return jumpTable{}
	}
	ahead := instructions{wasmReader: wasmReader{rest: c.rest}}
	for len(ahead.rest) > 1 && ahead.rest[0] == opBlock && ahead.rest[1] == noResult {
		ahead.rest = ahead.rest[2:]
		t.blocks++
	}
	if t.blocks == 0 || ahead.byte() != opLocalGet {
		return jumpTable{}
	}
	t.variable = ahead.leb()
	if ahead.byte() != opBrTable {
		return jumpTable{}
	}
	first := len(c.tables)
	c.tables = ahead.table(c.tables)
	t.depths = c.tables[first:]
	if ahead.err != nil {
		return jumpTable{}
	}
	return t
}

package wasi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/patriceckhart/zot/transports/wasi/internal/engine"
)

// Info is what a module says about itself.
type Info struct {
	Size    int      // in bytes
	Imports []string // "module.name" of the functions it wants, sorted
	Exports []string // names, sorted
	// MinPages and MaxPages are the memory it starts with and the most it asks
	// for, in pages; MaxPages is 0 where it names no limit.
	MinPages, MaxPages uint64
}

// Kinds of import and export.
const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

// Sections that are looked at.
const (
	sectionCustom    = 0
	sectionImport    = 2
	sectionMemory    = 5
	sectionExport    = 7
	sectionStart     = 8
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// Inspect reads the outline of a module without compiling it. It finds a file
// that is no module, or one of another version; that the code is valid shows
// when it is compiled. The error is a *[ModuleError].
func Inspect(module []byte) (Info, error) {
	info := Info{Size: len(module)}
	if err := checkHeader(module); err != nil {
		return info, err
	}
	r := &wasmReader{rest: module[8:]}
	for len(r.rest) > 0 && r.err == nil {
		id := r.byte()
		section := &wasmReader{rest: r.bytes(r.number())}
		switch id {
		case sectionImport:
			info.readImports(section)
		case sectionMemory:
			for range section.count() {
				info.readMemory(section)
			}
		case sectionExport:
			info.readExports(section)
		case sectionCustom, sectionStart, sectionDataCount: // these are no lists
		default:
			section.count()
		}
		if r.err == nil {
			r.err = section.err
		}
	}
	if r.err != nil {
		return info, &ModuleError{Problem: "it is damaged or cut off: " + r.err.Error()}
	}
	slices.Sort(info.Imports)
	slices.Sort(info.Exports)
	return info, nil
}

func checkHeader(module []byte) error {
	const magic = "\x00asm"
	switch {
	case len(module) == 0:
		return &ModuleError{Problem: "the file is empty"}
	case !bytes.HasPrefix(module, []byte(magic)):
		return &ModuleError{Problem: fmt.Sprintf("it is no WebAssembly: it begins with %q", module[:min(len(module), 4)])}
	case len(module) < 8:
		return &ModuleError{Problem: "it is cut off within its first bytes"}
	}
	version, layer := binary.LittleEndian.Uint16(module[4:]), binary.LittleEndian.Uint16(module[6:])
	switch {
	case layer == 1:
		return &ModuleError{Problem: "it is a component (WASI preview 2); build it for preview 1, as GOOS=wasip1 or the target wasm32-wasip1 do"}
	case version != 1 || layer != 0:
		return &ModuleError{Problem: fmt.Sprintf("it is of WebAssembly version %d, not 1", binary.LittleEndian.Uint32(module[4:]))}
	}
	return nil
}

// check refuses what would fail later, in words that say what to do.
func (i Info) check(pages uint32) error {
	if i.MinPages > uint64(pages) {
		return &ModuleError{Problem: fmt.Sprintf("it starts with %d MiB of memory, and its limit is %d MiB", i.MinPages*engine.PageSize>>20, uint64(pages)*engine.PageSize>>20)}
	}
	if !slices.Contains(i.Exports, "_start") {
		return &ModuleError{Problem: `it exports no "_start": build it as a command, not as a library or reactor`}
	}
	return engine.CheckImports(i.Imports)
}

func (i *Info) readImports(r *wasmReader) {
	for range r.count() {
		name := r.name() + "." + r.name()
		switch kind := r.byte(); kind {
		case kindFunc:
			r.number()
		case kindTable:
			name += " (a table)"
			r.byte()
			r.limits()
		case kindMemory:
			name += " (a memory)"
			r.limits()
		case kindGlobal:
			name += " (a global)"
			r.bytes(2)
		case kindTag:
			name += " (a tag)"
			r.byte()
			r.number()
		default:
			r.fail(fmt.Sprintf("import of the unknown kind %d", kind))
		}
		if r.err != nil {
			return
		}
		i.Imports = append(i.Imports, name)
	}
}

func (i *Info) readMemory(r *wasmReader) {
	least, most := r.limits()
	i.MinPages, i.MaxPages = max(i.MinPages, least), max(i.MaxPages, most)
}

func (i *Info) readExports(r *wasmReader) {
	for range r.count() {
		name := r.name()
		r.byte()
		r.number()
		if r.err != nil {
			return
		}
		i.Exports = append(i.Exports, name)
	}
}

// A wasmReader reads the parts of a module. After an error it gives zeros.
type wasmReader struct {
	rest []byte
	err  error
}

func (r *wasmReader) fail(problem string) {
	if r.err == nil {
		r.err = errors.New(problem)
	}
	r.rest = nil
}

func (r *wasmReader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *wasmReader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail("it ends too early")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// number reads an unsigned number in LEB128.
func (r *wasmReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail("a number ends too early")
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count reads the number of entries that follow; each takes a byte and more.
func (r *wasmReader) count() uint64 {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail("a list is longer than its section")
		return 0
	}
	return n
}

func (r *wasmReader) name() string { return string(r.bytes(r.number())) }

func (r *wasmReader) limits() (least, most uint64) {
	flags := r.byte()
	least = r.number()
	if flags&1 != 0 {
		most = r.number()
	}
	return least, most
}

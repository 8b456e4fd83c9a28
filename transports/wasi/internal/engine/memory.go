package engine

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// allocator gives the guest its memory, outside the host's garbage-collected
// heap where the system can: one reservation of the most that it may have,
// which grows in place and goes back at once. Growing by copying would need up
// to three times the limit.
type allocator struct {
	size atomic.Uint64 // of all memories, in bytes
}

// Allocate implements [experimental.MemoryAllocator].
func (a *allocator) Allocate(_, most uint64) experimental.LinearMemory {
	return &linear{all: a, region: reserve(most)}
}

// atLimit says that the guest has (nearly) all the memory that it may have, or
// nothing. Guests that run into the limit fail to get a further block, of up
// to 4 MiB for Go, and so end just below it.
func (a *allocator) atLimit(pages uint32) string {
	const block = 4 << 20
	if a.size.Load()+block < uint64(pages)*PageSize {
		return ""
	}
	return memoryLimitReason(pages)
}

// lastWords listens to what a guest writes to its standard error for the
// complaint of Go's runtime that it gets no memory: one block may be larger than
// all that the limit leaves while little is in use, and the engine tells nobody
// of a refused growth.
type lastWords struct {
	w        io.Writer
	noMemory bool
}

func (l *lastWords) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("runtime: out of memory")) {
		l.noMemory = true
	}
	return l.w.Write(p)
}

type linear struct {
	all    *allocator
	region region
	size   uint64
}

// Reallocate implements [experimental.LinearMemory].
func (l *linear) Reallocate(size uint64) []byte {
	buf := l.region.resize(size)
	if buf != nil {
		l.all.size.Add(size - l.size)
		l.size = size
	}
	return buf
}

// Free implements [experimental.LinearMemory].
func (l *linear) Free() { l.region.free() }

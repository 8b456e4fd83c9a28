package wasi

import (
	"runtime"
	"runtime/metrics"
)

const (
	idleLook    = 1 << 12  // waits between two looks at the heap
	idleGarbage = 32 << 20 // bytes worth a collection
)

// idle collects garbage when a guest waits, now and then. The calls of a guest
// leave little of it.
type idle struct{ waits uint32 }

func (i *idle) waiting() {
	if i.waits++; i.waits%idleLook != 0 {
		return
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Uint64() > idleGarbage {
		runtime.GC()
	}
}

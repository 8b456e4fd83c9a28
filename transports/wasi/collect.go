package wasi

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	collectLook = 256      // calls between two looks at the heap
	collectFrom = 32 << 20 // bytes worth a collection
)

// A collector takes the garbage collector out of a guest's way. A collection
// waits for every goroutine, so one that begins while a guest is in a loop
// would wait for it, and with it would the clock that is to end the guest. It
// is run only where the guest is in a call of the host, when there is something
// to collect. The guest's memory is not in its care at all.
type collector struct{ calls uint32 }

// wait puts collections off while a compiled module is loaded: that takes some
// times the module's size and is over soon, and what collections in between
// need for themselves stays for good. Large modules get theirs.
func (c *collector) wait() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(3 * collectFrom)
}

// takeOver switches the ordinary collections off.
func (c *collector) takeOver() {
	debug.FreeOSMemory() // what loading the module has left
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(math.MaxInt64)
}

// hostCall is called in each call of the guest's.
func (c *collector) hostCall() {
	if c.calls++; c.calls%collectLook != 0 {
		return
	}
	sample := [...]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	if sample[0].Value.Uint64() > collectFrom {
		runtime.GC()
	}
}

package policies

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits bounds what an extension uses. A zero field names no bound, and then
// the default of the limit holds.
type Limits struct {
	Memory          int64 // bytes
	CPUPerCall      time.Duration
	WallPerCall     time.Duration
	Startup         time.Duration
	Frame           int64 // bytes
	FramesPerSecond int64
	ConcurrentCalls int64
	ToolResult      int64 // bytes
	DataDir         int64 // bytes
	Processes       int64
	OpenFiles       int64
}

// A limitKey declares one limit.
type limitKey struct {
	name     string
	kind     limitKind
	def, max int64 // in bytes, nanoseconds or pieces
	get      func(*Limits) int64
	set      func(*Limits, int64)
}

type limitKind uint8

const (
	countLimit limitKind = iota
	sizeLimit
	timeLimit
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
)

func duration(field func(*Limits) *time.Duration) (func(*Limits) int64, func(*Limits, int64)) {
	return func(l *Limits) int64 { return int64(*field(l)) }, func(l *Limits, n int64) { *field(l) = time.Duration(n) }
}

func number(field func(*Limits) *int64) (func(*Limits) int64, func(*Limits, int64)) {
	return func(l *Limits) int64 { return *field(l) }, func(l *Limits, n int64) { *field(l) = n }
}

func timed(name string, def, max time.Duration, field func(*Limits) *time.Duration) limitKey {
	get, set := duration(field)
	return limitKey{name, timeLimit, int64(def), int64(max), get, set}
}

func sized(name string, def, max int64, field func(*Limits) *int64) limitKey {
	get, set := number(field)
	return limitKey{name, sizeLimit, def, max, get, set}
}

func counted(name string, def, max int64, field func(*Limits) *int64) limitKey {
	get, set := number(field)
	return limitKey{name, countLimit, def, max, get, set}
}

// limitKeys declares every limit with its default and the most that any policy
// can give.
var limitKeys = []limitKey{
	sized("memory", 512*mib, 16*gib, func(l *Limits) *int64 { return &l.Memory }),
	timed("cpuPerCall", 30*time.Second, time.Hour, func(l *Limits) *time.Duration { return &l.CPUPerCall }),
	timed("wallPerCall", time.Minute, 24*time.Hour, func(l *Limits) *time.Duration { return &l.WallPerCall }),
	timed("startup", 30*time.Second, 10*time.Minute, func(l *Limits) *time.Duration { return &l.Startup }),
	sized("frame", 4*mib, 64*mib, func(l *Limits) *int64 { return &l.Frame }),
	counted("framesPerSecond", 1000, 100_000, func(l *Limits) *int64 { return &l.FramesPerSecond }),
	counted("concurrentCalls", 32, 1024, func(l *Limits) *int64 { return &l.ConcurrentCalls }),
	sized("toolResult", 4*mib, 64*mib, func(l *Limits) *int64 { return &l.ToolResult }),
	sized("dataDir", 256*mib, 64*gib, func(l *Limits) *int64 { return &l.DataDir }),
	counted("processes", 64, 4096, func(l *Limits) *int64 { return &l.Processes }),
	counted("openFiles", 256, 65_536, func(l *Limits) *int64 { return &l.OpenFiles }),
}

// meet takes the smaller bound of each limit.
func (l Limits) meet(o Limits) Limits {
	for _, k := range limitKeys {
		a, b := k.get(&l), k.get(&o)
		if a == 0 || b != 0 && b < a {
			k.set(&l, b)
		}
	}
	return l
}

// WithDefaults fills in the limits that nobody has bounded.
func (l Limits) WithDefaults() Limits {
	for _, k := range limitKeys {
		if k.get(&l) == 0 {
			k.set(&l, k.def)
		}
	}
	return l
}

// parse reads a limit. Numbers count bytes or pieces; strings have a unit.
func (k limitKey) parse(text string, isNumber bool) (int64, string) {
	n, ok := int64(0), false
	switch {
	case k.kind == timeLimit && !isNumber:
		d, err := time.ParseDuration(text)
		n, ok = int64(d), err == nil
	case k.kind == sizeLimit:
		n, ok = parseSize(text)
	case k.kind == countLimit && isNumber:
		v, err := strconv.ParseInt(text, 10, 64)
		n, ok = v, err == nil
	}
	switch {
	case !ok:
		return 0, [...]string{"write a whole number", `write bytes, or a unit: "64MiB"`, `write a time with its unit: "5s"`}[k.kind]
	case n < 1 || n > k.max:
		return 0, "write more than 0 and at most " + k.format(k.max)
	}
	return n, ""
}

func (k limitKey) format(n int64) string {
	switch k.kind {
	case timeLimit:
		return time.Duration(n).String()
	case sizeLimit:
		for _, u := range []struct {
			name string
			n    int64
		}{{"GiB", gib}, {"MiB", mib}, {"KiB", kib}} {
			if n >= u.n && n%u.n == 0 {
				return strconv.FormatInt(n/u.n, 10) + u.name
			}
		}
	}
	return strconv.FormatInt(n, 10)
}

// parseSize reads "64MiB", "1.5 GB", "300k" and plain bytes.
func parseSize(text string) (int64, bool) {
	digits := strings.TrimRight(text, "kKMGTiB ")
	unit := strings.TrimSpace(text[len(digits):])
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, false
	}
	base := 1000.0
	if strings.Contains(unit, "i") {
		base = 1024
	}
	power := map[string]float64{"": 0, "K": 1, "k": 1, "M": 2, "G": 3, "T": 4}
	p, ok := power[strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "i")]
	x *= math.Pow(base, p)
	if !ok || x > math.MaxInt64/2 || x < 0 {
		return 0, false
	}
	return int64(x), true
}

// NamedLimits are the bounds that somebody names: a field that nobody bounds is
// 0, where Limits has the default.
func (b *Bound) NamedLimits() Limits { return b.bounds.Limits }

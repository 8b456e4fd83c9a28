package engine

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Sizes and offsets of preview 1's subscription and event.
const (
	subscriptionSize = 48
	eventSize        = 32
	pollMost         = 1 << 12 // subscriptions at a time; guests ask for a handful
)

// Kinds of subscription, and of event.
const (
	kindClock = iota
	kindRead
	kindWrite
)

// A subscription is one thing to wait for, in the guest's memory.
type subscription []byte

func (s subscription) kind() byte      { return s[8] }
func (s subscription) fd() uint32      { return binary.LittleEndian.Uint32(s[16:]) }
func (s subscription) isClock() bool   { return s.kind() == kindClock }
func (s subscription) absolute() bool  { return binary.LittleEndian.Uint16(s[40:])&1 != 0 }
func (s subscription) realtime() bool  { return binary.LittleEndian.Uint32(s[16:]) == 0 }
func (s subscription) timeout() uint64 { return binary.LittleEndian.Uint64(s[24:]) }
func (s subscription) forStdin(i *stdio) bool {
	return s.kind() == kindRead && s.fd() == 0 && !i.closed
}

// due is how long the clock has to run, from now on.
func (s subscription) due() time.Duration {
	nanos := s.timeout()
	if s.absolute() {
		now := nanotime()
		if s.realtime() {
			now = time.Now().UnixNano()
		}
		if nanos <= uint64(now) {
			return 0
		}
		nanos -= uint64(now)
	}
	return time.Duration(min(nanos, 1<<62))
}

// poller is poll_oneoff. Other than the engine's own it waits for input and
// clocks together, and reports a clock only when that has run out.
type poller struct {
	fdstat hostFunc // to ask whether a descriptor is open
}

// poll is poll_oneoff(subscriptions, events, count, result).
func (p poller) poll(ctx context.Context, m api.Module, stack []uint64) uint32 {
	in, out, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if count == 0 || count > pollMost {
		return errInval
	}
	subscriptions, ok := m.Memory().Read(in, count*subscriptionSize)
	events, ok2 := m.Memory().Read(out, count*eventSize)
	if !ok || !ok2 {
		return errFault
	}
	for i := range count {
		if subscriptions[i*subscriptionSize+8] > kindWrite {
			return errInval
		}
	}
	w := &waiter{ctx: ctx, m: m, stdio: stdioOf(ctx), began: time.Now(), fdstat: p.fdstat,
		subscriptions: subscriptions, events: events, eventsAt: out}
	if !m.Memory().WriteUint32Le(result, w.await()) {
		return errFault
	}
	return success
}

// waiter is one call of poll_oneoff.
type waiter struct {
	ctx           context.Context
	m             api.Module
	stdio         *stdio
	began         time.Time
	fdstat        hostFunc
	subscriptions []byte
	events        []byte
	eventsAt      uint32 // of events in the guest's memory
	fired         uint32 // events written
	few           [4]time.Duration
}

func (w *waiter) subscription(i int) subscription {
	return subscription(w.subscriptions[i*subscriptionSize : (i+1)*subscriptionSize])
}

func (w *waiter) count() int { return len(w.subscriptions) / subscriptionSize }

// await waits until something has happened and returns how many events there
// are.
func (w *waiter) await() uint32 {
	// The clocks are read once: an absolute one must not be moved while we
	// wait, and the events may be written over the subscriptions.
	next, stdin, clocks := w.survey()
	w.filesReady()
	if w.fired > 0 {
		next = 0
	}
	ready := false
	switch {
	case stdin:
		ready = w.stdio.wait(w.ctx, w.m, next)
	case next > 0:
		w.stdio.sleep(w.ctx, w.m, next)
	default:
		leaveIfDone(w.ctx, w.m)
	}
	elapsed := time.Since(w.began)
	for i := range w.count() {
		s := w.subscription(i)
		if ready && s.forStdin(w.stdio) || s.isClock() && clocks[i] <= elapsed {
			w.fire(s, success)
		}
	}
	return w.fired
}

// survey returns how long to wait (negative is for ever), whether for input
// too, and when each clock is due.
func (w *waiter) survey() (next time.Duration, stdin bool, clocks []time.Duration) {
	next = -1
	clocks = w.few[:]
	if w.count() > len(w.few) {
		clocks = make([]time.Duration, w.count())
	}
	for i := range w.count() {
		s := w.subscription(i)
		stdin = stdin || s.forStdin(w.stdio)
		if s.isClock() {
			clocks[i] = s.due()
			if next < 0 || clocks[i] < next {
				next = clocks[i]
			}
		}
	}
	return next, stdin, clocks
}

// filesReady reports every other descriptor at once: files do not wait, and
// output does so in the write.
func (w *waiter) filesReady() {
	for i := range w.count() {
		s := w.subscription(i)
		if s.isClock() || s.forStdin(w.stdio) {
			continue
		}
		w.fire(s, w.open(s.fd()))
	}
}

// open says whether the descriptor is, by an error number. The engine's answer
// goes where the next event will be.
func (w *waiter) open(fd uint32) uint32 {
	stack := []uint64{uint64(fd), uint64(w.eventsAt + w.fired*eventSize)}
	return w.fdstat(w.ctx, w.m, stack)
}

func (w *waiter) fire(s subscription, errno uint32) {
	event := w.events[w.fired*eventSize:][:eventSize]
	kind, user := s.kind(), binary.LittleEndian.Uint64(s)
	clear(event)
	binary.LittleEndian.PutUint64(event, user)
	binary.LittleEndian.PutUint16(event[8:], uint16(errno))
	event[10] = kind
	if kind == kindRead && errno == success {
		event[16] = 1 // at least a byte
	}
	w.fired++
}

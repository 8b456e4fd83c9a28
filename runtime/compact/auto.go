package compact

import (
	"github.com/patriceckhart/zot/runtime/message"
)

// DefaultThreshold is the default of Auto.Threshold.
const DefaultThreshold = 85

// Auto decides when a transcript is shortened unasked, and sees to it that this
// never goes in circles: after an attempt, whether it helped or not, the
// transcript has to grow before there is another. The zero value never finds
// anything due; it is for one goroutine.
type Auto struct {
	// Window is the size of the model's window in tokens; 0 where it is not
	// known, and then nothing is due.
	Window int
	// Threshold is how full the window may be, in percent; 0 switches it off.
	Threshold int

	due      mark // after the attempts of Threshold
	overflow mark // after those of Overflow
}

// A mark is the size of the transcript after an attempt, as estimated.
type mark struct {
	set  bool
	size int
}

// grown reports whether there was no attempt, or the transcript has more than
// by tokens more than after it.
func (m mark) grown(size, by int) bool { return !m.set || size > m.size+by }

// Due reports whether the transcript is to be shortened before the next model
// call. Context is its size as the provider counted it, or 0.
func (a *Auto) Due(context int, messages []message.Message) bool {
	if a.Window <= 0 || a.Threshold <= 0 {
		return false
	}
	size := Estimate(messages)
	return max(context, size)*100 >= a.Window*a.Threshold && a.due.grown(size, a.Window/10)
}

// MayRecover reports whether a request that was refused as too large may be
// tried again with a shorter transcript: not if that was just done.
func (a *Auto) MayRecover(messages []message.Message) bool {
	return a.overflow.grown(Estimate(messages), 0)
}

// Done notes an attempt and what it left: the result's messages, or after a
// failure the transcript as it was.
func (a *Auto) Done(why Reason, messages []message.Message) {
	m := mark{set: true, size: Estimate(messages)}
	a.due = m
	if why == Overflow {
		a.overflow = m
	}
}

// Reset forgets the attempts: the transcript is another one.
func (a *Auto) Reset() { a.due, a.overflow = mark{}, mark{} }

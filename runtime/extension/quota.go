package extension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
)

// A bucket counts the frames of an extension against its rate. It holds as
// many as may come in a second; a second's worth on credit is the tolerance.
type bucket struct {
	tokens float64
	at     time.Time // when tokens was right; zero before the first frame
	told   bool
}

// take counts one frame and returns what is left, which is below 0 on credit.
func (b *bucket) take(rate float64, now time.Time) float64 {
	if b.at.IsZero() {
		b.tokens = rate
	} else {
		b.tokens = min(rate, b.tokens+now.Sub(b.at).Seconds()*rate)
	}
	b.at = now
	b.tokens--
	return b.tokens
}

// giveBack takes a frame out of the count: an answer comes because zot asked.
func (b *bucket) giveBack() { b.tokens++ }

// count counts a frame; the error says that there were too many.
func (p *peer) count() error {
	sc := p.scope.Load()
	if sc == nil {
		return nil
	}
	rate := float64(sc.limits.FramesPerSecond)
	left := p.rate.take(rate, time.Now())
	if left >= 0 {
		return nil
	}
	d := limitDecision(fmt.Sprintf("it sends more than %d frames a second", sc.limits.FramesPerSecond), "framesPerSecond")
	if !p.rate.told {
		p.rate.told = true
		p.diagnose(false, "%s: %s; it is stopped if it goes on", d.Code, d.Reason)
	}
	if left >= -rate {
		return nil
	}
	p.m.update(func(fx *effects) { p.refuse(fx, false, "limits", "framesPerSecond", "its stream of frames", d) })
	return &protocolError{"stopped: " + refusalText("its stream of frames", d)}
}

func limitDecision(reason, key string) policies.Decision {
	return policies.Decision{
		Verdict: policies.Deny, Code: policies.CodeLimit, By: policies.Origin{Builtin: true},
		Reason: reason, Remedy: "raise limits." + key + " in its manifest and in the policy that bounds it",
	}
}

// slots are the calls that an extension may work on at a time. Those that find
// none wait, and get one in the order in which they came.
type slots struct {
	mu    sync.Mutex
	busy  int64
	queue []chan struct{} // closed when its turn has come
}

// errNoSlot says that no slot came free in time.
var errNoSlot = errors.New("none came free in time")

// acquire takes a slot, or waits for one for as long as timeout (0: as long as
// it takes), ctx and life last.
func (s *slots) acquire(ctx, life context.Context, limit int64, timeout time.Duration) error {
	if s.try(limit) {
		return nil
	}
	s.mu.Lock()
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.hand(limit) // one may have come free since
	s.mu.Unlock()
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	err := error(nil)
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-life.Done():
		err = errGone
	case <-late:
		err = errNoSlot
	}
	if !s.abandon(turn) { // its turn came at the same moment
		s.release(limit)
	}
	return err
}

// errGone says that the extension ended while a call waited for it.
var errGone = errors.New("it ended meanwhile")

// try takes a slot if one is free and nobody waits for it.
func (s *slots) try(limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy >= limit || len(s.queue) > 0 {
		return false
	}
	s.busy++
	return true
}

func (s *slots) abandon(turn chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.queue, turn)
	if at >= 0 {
		s.queue = slices.Delete(s.queue, at, at+1)
	}
	return at >= 0
}

// release gives a slot back and hands it on.
func (s *slots) release(limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.hand(limit)
}

func (s *slots) hand(limit int64) {
	for s.busy < limit && len(s.queue) > 0 {
		s.busy++
		close(s.queue[0])
		s.queue = s.queue[1:]
	}
}

// enter takes a slot for a tool call. One that is made for a call which holds a
// slot of this extension already would wait for itself, and fails instead.
func (p *peer) enter(ctx context.Context, timeout time.Duration) (leave func(), err error) {
	sc := p.scope.Load()
	if sc == nil {
		return func() {}, nil
	}
	limit := sc.limits.ConcurrentCalls
	if p.worksFor(ctx) {
		if !p.slots.try(limit) {
			return nil, p.overfull(limit, "this one is made for one of them, and would wait for itself")
		}
	} else if err := p.slots.acquire(ctx, p.life, limit, timeout); err != nil {
		if errors.Is(err, errNoSlot) {
			err = p.overfull(limit, fmt.Sprintf("none ended within %s", timeout))
		}
		return nil, err
	}
	return func() { p.slots.release(p.callLimit(limit)) }, nil
}

// callLimit is the limit as it stands now.
func (p *peer) callLimit(before int64) int64 {
	if sc := p.scope.Load(); sc != nil {
		return sc.limits.ConcurrentCalls
	}
	return before
}

func (p *peer) overfull(limit int64, more string) error {
	d := limitDecision(fmt.Sprintf("it may work on %d calls at a time", limit), "concurrentCalls")
	p.m.update(func(fx *effects) { p.refuse(fx, true, "limits", "concurrentCalls", "a further call", d) })
	return &limitError{fmt.Sprintf("%s: %s, and %s", d.Code, d.Reason, more)}
}

// A limitError says that a call found no room.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// worksFor reports whether a call is made on behalf of one that the extension
// works on itself.
func (p *peer) worksFor(ctx context.Context) bool {
	chain, _ := ctx.Value(chainKey{}).([]string)
	if len(chain) == 0 {
		return false
	}
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return slices.ContainsFunc(p.tools, func(r *toolReg) bool {
		return slices.Contains(chain, r.Name) && p.m.dir.activeTool(r)
	})
}

// fit cuts a result to the size that the policy allows, and says so in it.
func (p *peer) fit(f extproto.ToolResult, tool string) extproto.ToolResult {
	sc := p.scope.Load()
	if sc == nil || resultSize(f) <= sc.limits.ToolResult {
		return f
	}
	limit, size := sc.limits.ToolResult, resultSize(f)
	d := limitDecision(fmt.Sprintf("a result may have %d bytes", limit), "toolResult")
	p.m.update(func(fx *effects) {
		p.refuse(fx, true, "limits", "toolResult "+tool, fmt.Sprintf("a result of %s with %d bytes", tool, size), d)
	})
	f.Content = cutBlocks(f.Content, &limit)
	if int64(len(f.StructuredContent)) > limit {
		f.StructuredContent = nil
	}
	f.Content = append(f.Content, extproto.Block{Type: extproto.BlockText, Text: fmt.Sprintf(
		"(%s: cut; the result had %d bytes and %s)", d.Code, size, d.Reason)})
	return f
}

func resultSize(f extproto.ToolResult) int64 {
	n := len(f.StructuredContent)
	for _, b := range f.Content {
		n += len(b.Text) + len(b.Data)
	}
	return int64(n)
}

// cutBlocks keeps what fits into left: text is cut at a rune, images are whole
// or not there.
func cutBlocks(blocks []extproto.Block, left *int64) []extproto.Block {
	var kept []extproto.Block
	for _, b := range blocks {
		if int64(len(b.Data)) > *left {
			continue
		}
		*left -= int64(len(b.Data))
		if int64(len(b.Text)) > *left {
			b.Text = cutText(b.Text, int(*left))
		}
		*left -= int64(len(b.Text))
		if b.Text != "" || b.Data != "" {
			kept = append(kept, b)
		}
	}
	return kept
}

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/model"
)

// The defaults of Retry.
const (
	DefaultAttempts = 5
	DefaultLongest  = time.Minute
)

// Retry is the rule of trying again: only what failed in a passing way, only
// while nothing of the answer was shown, and never after a wait that a person
// would not sit through. The zero value uses the defaults and the real clock.
type Retry struct {
	Attempts int           // tries at the most; 0 means DefaultAttempts, 1 never tries again
	Longest  time.Duration // of one wait; a server that asks for more gets none. 0 means DefaultLongest, below 0 no wait at all
	// Sleep waits for d or for ctx's end, whose error it returns.
	Sleep func(ctx context.Context, d time.Duration) error
	Now   func() time.Time
	// Jitter returns a number in [0, 1).
	Jitter func() float64
}

// An Attempt makes the call once, emitting what arrives.
type Attempt func(emit func(model.Chunk)) (model.Response, error)

// Do makes attempts until one succeeds, fails for good, or has emitted
// something. Before each wait it emits a Retry chunk. The error is a
// *model.Error or ctx's.
func (r Retry) Do(ctx context.Context, emit func(model.Chunk), attempt Attempt) (model.Response, error) {
	r = r.withDefaults()
	for n := 1; ; n++ {
		emitted := false
		resp, err := attempt(func(c model.Chunk) {
			emitted = true
			emit(c)
		})
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			resp.Stop = model.StopAborted
			return resp, ctx.Err()
		}
		resp.Stop = model.StopError
		var f *Failure
		if !errors.As(err, &f) {
			return resp, err
		}
		wait, again := r.next(f, n)
		if emitted || !again {
			return resp, f.Cause()
		}
		emit(model.Chunk{Retry: &model.Retry{Attempt: n, Of: r.Attempts, Wait: wait, Cause: f.Cause()}})
		if err := r.Sleep(ctx, wait); err != nil {
			resp.Stop = model.StopAborted
			return resp, err
		}
	}
}

// next says how long to wait after the n-th failure, and whether to try again.
// A wait that is too long to sit through is written into the error.
func (r Retry) next(f *Failure, n int) (time.Duration, bool) {
	if f.After > 0 {
		f.RetryAt = r.Now().Add(f.After)
	}
	if f.After > r.Longest {
		f.Remedy = fmt.Sprintf("try again at %s, in %s, or choose another model", f.RetryAt.Format("Mon 15:04:05 MST"), roundUp(f.After))
		return 0, false
	}
	if !f.Passing || n >= r.Attempts {
		if f.Passing && n > 1 {
			f.Message += fmt.Sprintf(" (tried %d times)", n)
		}
		return 0, false
	}
	if f.After > 0 {
		return f.After, true
	}
	return r.backoff(n), true
}

// backoff is half a second, doubling up to 16, each cut by up to a quarter so
// that many clients do not come back together, and at most the longest wait.
func (r Retry) backoff(n int) time.Duration {
	d := min(500*time.Millisecond<<min(n-1, 5), r.Longest)
	return d - time.Duration(r.Jitter()*float64(d)/4)
}

func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

func (r Retry) withDefaults() Retry {
	if r.Attempts <= 0 {
		r.Attempts = DefaultAttempts
	}
	if r.Longest == 0 {
		r.Longest = DefaultLongest
	}
	r.Longest = max(0, r.Longest)
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Jitter == nil {
		r.Jitter = rand.Float64
	}
	return r
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hint is a wait that servers state in prose or in a detail of the body
// ("Please try again in 6.2s", "retryDelay": "34s").
var hint = regexp.MustCompile(`(?i)(?:try again in|retry in|"retryDelay":)\s*"?((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`)

// retryAfter returns the wait that a server asks for, or 0.
func retryAfter(h http.Header, body string, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now)
	}
	if m := hint.FindStringSubmatch(body); m != nil {
		if d, err := time.ParseDuration(m[1]); err == nil {
			return d
		}
	}
	return 0
}

// seconds converts without overflow: a year is as good as forever.
func seconds(s float64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(min(s, year) * float64(time.Second))
}

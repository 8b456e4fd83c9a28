package host_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/compact"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/tool"
)

type denies struct{}

func (denies) Decide(context.Context, tool.Call, tool.Tool) guard.Decision {
	return guard.Decision{Effect: guard.Deny, Reason: "never here"}
}

// long is a conversation of n exchanges of about 500 tokens each.
func long(n int) (all []message.Message) {
	for range n {
		all = append(all, user(strings.Repeat("ask ", 250)), assistant(strings.Repeat("say ", 250)))
	}
	return all
}

// windowed starts a session whose model takes a window of tokens.
func windowed(t *testing.T, window, at int, j host.Journal, messages []message.Message, replies ...reply) *rig {
	t.Helper()
	var r *rig
	r = newRig(t, setup{replies: replies, Options: host.Options{
		CompactAt:    at,
		Conversation: host.Conversation{Journal: j, Messages: messages},
		Connect: func(string, string) (host.Connection, error) {
			c := r.connection("test", "m1")
			c.ContextWindow = window
			return c, nil
		},
	}})
	return r
}

func isSummary(r model.Request) bool { return strings.Contains(r.Messages[0].Text(), "<transcript>") }

func TestManualCompaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		r := windowed(t, 100_000, 85, j, long(5), reply{text: "the gist"})
		if err := r.end(r.SubmitCompact("the files")); err != nil {
			t.Fatal(err)
		}
		if req := r.model.asked()[0]; !isSummary(req) || !strings.Contains(req.Messages[0].Text(), "the files") {
			t.Errorf("asked for the summary by %q", req.Messages[0].Text())
		}
		tr := r.Transcript()
		if len(tr) != 5 || !strings.Contains(tr[0].Text(), "the gist") {
			t.Errorf("%d messages, the first %q", len(tr), tr[0].Text())
		}
		equal(t, "journal", j.take(), "usage 0", "compact 4", "activated []")
		if u := emitted[event.Usage](r); len(u) != 1 || !u[0].Auxiliary || u[0].Turn.Input != 10 || r.Usage().Input != 10 {
			t.Errorf("the summary's tokens: %+v, in all %+v", u, r.Usage())
		}
		start, done := emitted[event.CompactStart](r), emitted[event.CompactDone](r)
		if len(start) != 1 || start[0].Auto || start[0].MessageCount != 10 {
			t.Errorf("start %+v", start)
		}
		if len(done) != 1 || done[0].Error != "" || done[0].Summary != "the gist" || done[0].MessageCount != 5 || done[0].ID != start[0].ID {
			t.Errorf("done %+v", done)
		}
		if len(emitted[event.Done](r)) != 1 || r.ContextUsed() == 0 {
			t.Error("no Done, or the size is not known")
		}
	})
}

func TestCompactionThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{fails: "compact"}
		r := windowed(t, 100_000, 85, j, long(5))
		if err := r.end(r.SubmitCompact("")); err == nil || len(r.Transcript()) != 10 {
			t.Errorf("%v, %d messages; want the conversation as it was", err, len(r.Transcript()))
		}
		if errs, done := emitted[event.Error](r), emitted[event.Done](r); len(errs) != 1 || len(done) != 1 {
			t.Errorf("%v, %v", errs, done)
		}
	})
	t.Run("too short", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := windowed(t, 100_000, 85, nil, nil)
			if err := r.end(r.SubmitCompact("")); !errors.Is(err, compact.ErrNothing) || len(emitted[event.Done](r)) != 1 {
				t.Errorf("error %v", err)
			}
		})
	})
	t.Run("activated tools", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := windowed(t, 100_000, 85, &journal{fails: "activated"}, long(5))
			if err := r.end(r.SubmitCompact("")); err != nil || len(r.Transcript()) != 5 {
				t.Errorf("%v, %d messages; want what the journal has", err, len(r.Transcript()))
			}
			equal(t, "notices", r.notices(), "error: disk full")
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := windowed(t, 100_000, 85, nil, long(5), reply{takes: time.Hour})
			ticket := r.SubmitCompact("")
			time.Sleep(time.Second)
			r.Cancel()
			if err := r.end(ticket); !errors.Is(err, context.Canceled) || len(r.Transcript()) != 10 || len(emitted[event.Error](r)) != 0 {
				t.Errorf("%v, %d messages", err, len(r.Transcript()))
			}
		})
	})
}

// A conversation that fills the window is shortened before the model is asked.
func TestCompactionAtTheThreshold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		r := windowed(t, 5000, 80, j, long(8), reply{text: "the gist"}, reply{text: "hello"})
		r.run("hi")
		all := r.model.asked()
		if len(all) != 2 || !isSummary(all[0]) || !strings.Contains(all[1].Messages[0].Text(), "the gist") {
			t.Fatalf("%d requests, want the summary and then the prompt", len(all))
		}
		lines := j.take()
		if i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "compact") }); i != 2 || lines[0] != "append user" {
			t.Errorf("journal %q", lines)
		}
		if s := emitted[event.CompactStart](r); len(s) != 1 || !s[0].Auto {
			t.Errorf("start %+v", s)
		}
		equal(t, "notices", r.notices())
		r.run("more")
		if n := len(r.model.asked()); n != 3 {
			t.Errorf("%d requests, want no second summary", n)
		}
	})
}

// A summary that cannot be written is said, and is no reason not to go on; it
// is not tried again at once.
func TestCompactionDoesNotLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		down := &model.Error{Provider: "test", Kind: model.KindUnavailable, Message: "down"}
		r := windowed(t, 5000, 80, nil, long(8), reply{err: down}, reply{text: "hello"})
		r.run("hi")
		r.run("again")
		if n := len(r.model.asked()); n != 3 {
			t.Errorf("%d requests, want one for a summary and one a prompt", n)
		}
		contains(t, r.notices(), "warn: the conversation could not be shortened: ")
	})
}

// After a clear the former size counts no more.
func TestClearForgetsTheSize(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := windowed(t, 5000, 80, nil, nil, reply{text: "hello", input: 4900})
		r.run("hi")
		if got := r.ContextUsed(); got != 4901 {
			t.Errorf("the context is %d", got)
		}
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		if got := r.ContextUsed(); got != 0 {
			t.Errorf("the context after the clear is %d", got)
		}
		r.run("again")
		if got := emitted[event.CompactStart](r); len(got) != 0 {
			t.Errorf("an empty conversation was to be shortened: %v", got)
		}
	})
}

// A request that was too large is made again with a shorter conversation, and
// once only.
func TestCompactionAfterOverflow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := windowed(t, 0, 0, nil, long(5), reply{err: errOverflow}, reply{text: "the gist"}, reply{text: "hello"})
		r.run("hi")
		all := r.model.asked()
		if len(all) != 3 || !isSummary(all[1]) || !strings.Contains(all[2].Messages[0].Text(), "the gist") {
			t.Errorf("%d requests", len(all))
		}
	})
	t.Run("once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := windowed(t, 0, 0, nil, long(5), reply{err: errOverflow}, reply{text: "the gist"}, reply{err: errOverflow})
			err := r.Run(t.Context(), host.Prompt{Text: "hi"})
			if !errors.Is(err, error(errOverflow)) || len(r.model.asked()) != 3 {
				t.Errorf("%v after %d requests", err, len(r.model.asked()))
			}
		})
	})
	t.Run("nothing to shorten", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := windowed(t, 0, 0, nil, nil, reply{err: errOverflow})
			err := r.Run(t.Context(), host.Prompt{Text: "hi"})
			if !errors.Is(err, error(errOverflow)) || len(r.model.asked()) != 1 || len(emitted[event.Done](r)) != 1 {
				t.Errorf("%v after %d requests", err, len(r.model.asked()))
			}
		})
	})
}

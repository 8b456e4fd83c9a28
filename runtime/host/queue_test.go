package host_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
)

// slow is a rig whose model takes a second for an answer.
func slow(t *testing.T, n int, actors ...*actor) *rig {
	s := setup{actors: actors}
	for range n {
		s.replies = append(s.replies, reply{text: "ok", takes: time.Second})
	}
	return newRig(t, s)
}

// prompts lists what the user said in the last request and before.
func (r *rig) prompts() (all []string) {
	for _, m := range r.Transcript() {
		if m.Role == message.User {
			all = append(all, m.Text())
		}
	}
	return all
}

func TestPromptsRunInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := slow(t, 3)
		if r.Busy() {
			t.Error("busy before the first prompt")
		}
		first, queued := r.Submit(host.Prompt{Text: "1"})
		if queued {
			t.Error("the first was queued")
		}
		_, queued = r.Submit(host.Prompt{Text: "2"})
		third, _ := r.Submit(host.Prompt{Text: "3"})
		if !queued || !r.Busy() || r.Ahead() != 3 {
			t.Errorf("queued %v, busy %v, ahead %d", queued, r.Busy(), r.Ahead())
		}
		equal(t, "queue", r.Queue(), "2", "3")
		if err := r.end(first); err != nil {
			t.Fatal(err)
		}
		if err := r.end(third); err != nil {
			t.Fatal(err)
		}
		equal(t, "prompts", r.prompts(), "1", "2", "3")
		if err := r.WaitIdle(t.Context()); err != nil || r.Busy() {
			t.Errorf("idle: %v, busy %v", err, r.Busy())
		}
	})
}

func TestBlankPromptIsIgnored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{})
		ticket, queued := r.Submit(host.Prompt{Text: " \n\t"})
		if err := r.end(ticket); err != nil || queued || len(r.model.asked()) != 0 {
			t.Errorf("%v, queued %v, %d requests", err, queued, len(r.model.asked()))
		}
		if err := r.Run(t.Context(), host.Prompt{Images: []message.Image{{MIMEType: "image/png", Data: []byte("x")}}}); err != nil {
			t.Fatal(err)
		}
		if n := len(r.model.asked()); n != 1 {
			t.Errorf("a picture alone: %d requests", n)
		}
	})
}

func TestTakeBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := slow(t, 1)
		first := r.begin("1")
		second, third := r.begin("2"), r.begin("3")
		compaction := r.SubmitCompact("")
		equal(t, "queue, where a compaction is no text", r.Queue(), "2", "3")
		if got := fmt.Sprint(r.TakeBack()); got != "[{2 []} {3 []}]" {
			t.Errorf("took back %s", got)
		}
		for _, ticket := range []*host.Ticket{second, third, compaction} {
			if err := r.end(ticket); !errors.Is(err, host.ErrDropped) {
				t.Errorf("a prompt taken back: %v", err)
			}
		}
		if err := r.end(first); err != nil {
			t.Errorf("the one that runs: %v", err)
		}
		equal(t, "prompts", r.prompts(), "1")
	})
}

// Cancel stops what runs and leaves what waits.
func TestCancelLeavesTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := slow(t, 1)
		first, second := r.begin("1"), r.begin("2")
		r.Cancel()
		if err := r.end(first); !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
		if err := r.end(second); err != nil {
			t.Errorf("the second: %v", err)
		}
		r.Cancel() // nothing runs: it stops nothing to come
		r.run("3")
		equal(t, "prompts", r.prompts(), "1", "2", "3")
	})
}

// The context of Run cancels its own prompt, waiting or running, and no other.
func TestRunWithAContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := slow(t, 3)
		first := r.begin("1")
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error, 1)
		go func() { waiting <- r.Run(ctx, host.Prompt{Text: "2"}) }()
		synctest.Wait()
		third := r.begin("3")
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("the waiting one: %v", err)
		}
		equal(t, "queue", r.Queue(), "3")
		if err := errors.Join(r.end(first), r.end(third)); err != nil {
			t.Errorf("the others: %v", err)
		}
		equal(t, "prompts", r.prompts(), "1", "3")

		limited, stop := context.WithTimeout(t.Context(), time.Second/2)
		defer stop()
		if err := r.Run(limited, host.Prompt{Text: "4"}); !errors.Is(err, context.Canceled) || r.Busy() {
			t.Errorf("the running one: %v, busy %v", err, r.Busy())
		}
	})
}

// Close cancels what runs, drops what waits, and takes no more.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := slow(t, 2, plays("ext", `send {"type":"subscribe","events":["session_end"]}`+"\n"))
		first, second := r.begin("1"), r.begin("2")
		r.Close(t.Context())
		if err := r.end(first); !errors.Is(err, context.Canceled) {
			t.Errorf("the running one: %v", err)
		}
		if err := r.end(second); !errors.Is(err, host.ErrDropped) {
			t.Errorf("the waiting one: %v", err)
		}
		if err := r.Run(t.Context(), host.Prompt{Text: "3"}); !errors.Is(err, host.ErrClosed) {
			t.Errorf("one too late: %v", err)
		}
		if n := len(emitted[event.Done](r)); n != 1 {
			t.Errorf("%d Done, want one for the prompt that ran", n)
		}
	})
}

// Who hears of Done finds the session idle: it may clear, switch or go on.
func TestIdleAtDone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{})
		busy, dones := true, 0
		r.Subscribe(func(e event.Event) {
			if _, done := e.(event.Done); !done {
				return
			}
			if dones++; dones > 1 {
				return
			}
			busy = r.Busy()
			if _, queued := r.Submit(host.Prompt{Text: "2"}); queued {
				t.Error("a prompt at Done counts as queued behind one that is over")
			}
			r.Cancel() // means the new one
		})
		r.run("1")
		if busy {
			t.Error("busy at Done")
		}
		synctest.Wait()
		if n := len(r.model.asked()); n != 1 {
			t.Errorf("the cancelled prompt asked the model: %d requests", n)
		}
		r.Close(t.Context())
	})
}

// Nothing replaces the conversation under a running prompt.
func TestBusy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := slow(t, 1)
		ticket := r.begin("1")
		if err := r.Clear(); !errors.Is(err, host.ErrBusy) {
			t.Errorf("clear: %v", err)
		}
		if err := r.Switch(host.Conversation{}); !errors.Is(err, host.ErrBusy) {
			t.Errorf("switch: %v", err)
		}
		if err := r.end(ticket); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Clear(), r.Switch(host.Conversation{})); err != nil {
			t.Errorf("idle: %v", err)
		}
	})
}

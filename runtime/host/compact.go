package host

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/patriceckhart/zot/runtime/compact"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
)

// compact shortens the conversation because the user asked, and reports it,
// Done last, on failure too.
func (h *Host) compact(ctx context.Context, focus string) error {
	defer h.report(event.Done{})
	_, err := h.shorten(ctx, compact.Manual, focus)
	if err != nil && ctx.Err() == nil {
		h.bus.Publish(event.Error{Message: err.Error()})
	}
	return err
}

// compactIfDue shortens the conversation where it fills the model's window. It
// tries once per size, so that it cannot go round in circles, and a failure is
// no reason not to ask the model.
func (h *Host) compactIfDue(ctx context.Context) error {
	conn, err := h.connection()
	if err != nil {
		return nil // the call that follows says so
	}
	h.mu.Lock()
	h.auto.Window, h.auto.Threshold = conn.ContextWindow, h.opts.CompactAt
	due := h.auto.Due(h.lastTurn.Context(), h.agent.Transcript())
	h.mu.Unlock()
	if !due {
		return nil
	}
	if _, err := h.shorten(ctx, compact.Threshold, ""); err != nil && ctx.Err() == nil && !errors.Is(err, compact.ErrNothing) {
		h.bus.Publish(event.Notice{Level: "warn", Text: "the conversation could not be shortened: " + err.Error()})
	}
	return ctx.Err()
}

// shorten replaces the head of the conversation by a summary.
func (h *Host) shorten(ctx context.Context, why compact.Reason, focus string) (string, error) {
	conn, err := h.connection()
	if err != nil {
		return "", err
	}
	before := h.agent.Transcript()
	h.mu.Lock()
	size := h.lastTurn.Context()
	h.mu.Unlock()
	id := rand.Text()
	h.bus.Publish(event.CompactStart{ID: id, MessageCount: len(before), Tokens: size, Auto: why != compact.Manual})
	r, err := compact.Run(ctx, compact.Options{
		Client: conn.Client, Model: conn.ID, Window: conn.ContextWindow, Context: size, Focus: focus,
	}, why, before)
	h.agent.Spend(r.Usage)
	if err == nil {
		err = h.replace(r)
	}
	h.mu.Lock()
	h.auto.Done(why, h.agent.Transcript())
	h.mu.Unlock()
	done := event.CompactDone{ID: id, Summary: r.Text, MessageCount: len(h.agent.Transcript()), Tokens: r.After}
	if err != nil {
		done.Error = err.Error()
	}
	h.bus.Publish(done)
	return r.Text, err
}

// replace goes on with a shortened transcript, on disk first.
func (h *Host) replace(r compact.Result) error {
	if j := h.currentJournal(); j != nil {
		if err := j.Compact(r.Summary, r.Keep); err != nil {
			return err
		}
		// The results that activated tools may be gone; the tools are not. Where
		// that cannot be kept, what is kept is shortened all the same.
		if err := j.SetActivated(h.agent.Activated()); err != nil {
			h.bus.Publish(event.Notice{Level: "error", Text: err.Error()})
		}
	}
	h.agent.Shorten(r.Messages)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastTurn = message.Usage{Known: true, Input: r.After}
	return nil
}

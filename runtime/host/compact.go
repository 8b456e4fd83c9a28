package host

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/patriceckhart/zot/runtime/event"
)

// ErrNoCompact is returned where the session cannot be shortened.
var ErrNoCompact = errors.New("this session has no way to shorten a conversation")

// compact shortens the conversation and reports it, Done last, on failure too.
func (h *Host) compact(ctx context.Context) error {
	defer h.bus.Publish(event.Done{})
	before := h.agent.Transcript()
	id := rand.Text()
	h.bus.Publish(event.CompactStart{ID: id, MessageCount: len(before), Tokens: estimate(before)})
	summary, err := h.shorten(ctx)
	done := event.CompactDone{ID: id, Summary: summary, Tokens: estimate(h.agent.Transcript())}
	if err != nil {
		done.Error = err.Error()
		h.bus.Publish(event.Error{Message: err.Error()})
	}
	h.bus.Publish(done)
	return err
}

func (h *Host) shorten(ctx context.Context) (string, error) {
	if h.opts.Compact == nil {
		return "", ErrNoCompact
	}
	conn, err := h.connection()
	if err != nil {
		return "", err
	}
	messages, summary, err := h.opts.Compact(ctx, conn.Model, h.agent.Transcript())
	if err != nil {
		return "", err
	}
	if h.opts.OnCompact != nil {
		if err := h.opts.OnCompact(messages); err != nil {
			return "", err
		}
	}
	h.agent.SetTranscript(messages)
	return summary, nil
}

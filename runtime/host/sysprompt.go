package host

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// systemPrompt keeps the system prompt that the extensions agreed on. It is
// prepared before the first model call and then stays the same for every
// message, retry and tool step, until it is reset: by another model, a cleared
// conversation, another session, or a reload. Each preparation starts from the
// base prompt and never from an earlier result.
type systemPrompt struct {
	h *Host

	mu         sync.Mutex
	generation int // counts resets
	prepared   *string
}

func (s *systemPrompt) init(h *Host) { s.h = h }

// reset discards what was prepared, and what is being prepared now.
func (s *systemPrompt) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	s.prepared = nil
}

// get returns the prepared prompt, preparing it first where need be. A reset
// meanwhile makes it begin again, under a new run id. When ctx ends nothing is
// kept.
func (s *systemPrompt) get(ctx context.Context) (string, error) {
	for {
		s.mu.Lock()
		generation, prepared := s.generation, s.prepared
		s.mu.Unlock()
		if prepared != nil {
			return *prepared, nil
		}
		prompt, err := s.prepare(ctx)
		if err != nil {
			return "", err
		}
		if kept, ok := s.keep(generation, prompt); ok {
			return kept, nil
		}
	}
}

// keep keeps a result unless there was a reset since, and returns what is kept:
// of two that prepare side by side, the first counts for both.
func (s *systemPrompt) keep(generation int, prompt string) (kept string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation != generation {
		return "", false
	}
	if s.prepared == nil {
		s.prepared = &prompt
	}
	return *s.prepared, true
}

// prepare assembles the base prompt and hands it down the chain of extensions.
func (s *systemPrompt) prepare(ctx context.Context) (string, error) {
	base := ""
	if s.h.opts.SystemPrompt != nil {
		base = s.h.opts.SystemPrompt(s.advertised())
	}
	c, err := s.h.connection()
	if err != nil {
		return "", err
	}
	return s.h.manager.BeforeAgentStart(ctx, extension.AgentStart{
		SessionID: s.h.SessionID(), RunID: rand.Text(), CWD: s.h.opts.CWD,
		Provider: c.Provider, Model: c.ID,
	}, base)
}

func (s *systemPrompt) advertised() []tool.Spec {
	var specs []tool.Spec
	for _, spec := range s.h.Tools() {
		if !spec.Deferred {
			specs = append(specs, spec)
		}
	}
	return specs
}

package rpc

import (
	"context"
	"fmt"
	"sync"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/guard"
)

// An Asker puts questions to the client, if it announced that it answers them.
// It is made before the host, whose guard asks it.
type Asker struct {
	mu      sync.Mutex
	enabled bool
	waiting map[string]chan guard.Answer // by id of the tool call
}

func (a *Asker) enable() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enabled = true
}

// Confirm implements guard.Asker. The question itself went out as an event.
func (a *Asker) Confirm(ctx context.Context, q guard.Question) (guard.Answer, error) {
	ch, ok := a.channel(q.Call.ID)
	if !ok {
		return guard.Answer{}, guard.ErrNoAnswer
	}
	defer a.forget(q.Call.ID)
	select {
	case answer := <-ch:
		return answer, nil
	case <-ctx.Done():
		return guard.Answer{}, ctx.Err()
	}
}

// channel returns the channel of one question. The event may be answered
// before Confirm gets here, so whoever comes first makes it.
func (a *Asker) channel(id string) (chan guard.Answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.enabled {
		return nil, false
	}
	if a.waiting == nil {
		a.waiting = map[string]chan guard.Answer{}
	}
	if a.waiting[id] == nil {
		a.waiting[id] = make(chan guard.Answer, 1)
	}
	return a.waiting[id], true
}

func (a *Asker) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// confirm takes the client's answer.
func (s *server) confirm(c rpcproto.Command) {
	var answer guard.Answer
	switch c.Answer {
	case rpcproto.AnswerYes:
		answer.Allow = true
	case rpcproto.AnswerAlwaysTool:
		answer.Allow, answer.Always = true, true
	case rpcproto.AnswerAlways:
		answer.Allow, answer.Everything = true, true
	case rpcproto.AnswerNo:
		answer.Reason = c.Reason
	default:
		s.fail(c, fmt.Errorf("confirm: unknown answer %q; use yes, always_tool, always or no", c.Answer))
		return
	}
	if s.opts.Asker == nil {
		s.fail(c, fmt.Errorf("confirm: nothing is asked in this session"))
		return
	}
	ch, ok := s.opts.Asker.channel(c.Request)
	if !ok {
		s.fail(c, fmt.Errorf("confirm: announce the capability %q in hello first", rpcproto.CapConfirm))
		return
	}
	select {
	case ch <- answer:
		s.succeed(c, nil)
	default:
		s.fail(c, fmt.Errorf("confirm: %q was answered already", c.Request))
	}
}

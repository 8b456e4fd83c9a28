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
	// Unasked is called, once, when something would be asked of a client that
	// does not answer questions. Nil is allowed.
	Unasked func()

	told sync.Once

	mu      sync.Mutex // guards below
	enabled bool
	left    bool                         // the input has ended: no answer can come
	waiting map[string]chan guard.Answer // by id of the tool call
}

// deserted is the answer to what a client left open.
var deserted = guard.Answer{Reason: "the client left without an answer"}

func (a *Asker) enable() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enabled = true
}

// CanAsk implements guard.Presence.
func (a *Asker) CanAsk() bool {
	a.mu.Lock()
	enabled := a.enabled
	a.mu.Unlock()
	if !enabled && a.Unasked != nil {
		a.told.Do(a.Unasked)
	}
	return enabled
}

// expect makes room for the answer to a question that is about to be put.
func (a *Asker) expect(id string) { a.question(id) }

func (a *Asker) question(id string) chan guard.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch := a.waiting[id]
	if ch != nil {
		return ch
	}
	ch = make(chan guard.Answer, 1)
	if a.left {
		ch <- deserted
	}
	if a.waiting == nil {
		a.waiting = map[string]chan guard.Answer{}
	}
	a.waiting[id] = ch
	return ch
}

// Confirm implements guard.Asker. The question itself went out as an event,
// before which expect made room for the answer.
func (a *Asker) Confirm(ctx context.Context, q guard.Question) (guard.Answer, error) {
	ch := a.question(q.Call.ID)
	defer a.forget(q.Call.ID)
	select {
	case answer := <-ch:
		return answer, nil
	case <-ctx.Done():
		return guard.Answer{}, ctx.Err()
	}
}

func (a *Asker) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// answer settles an open question.
func (a *Asker) answer(id string, answer guard.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch := a.waiting[id]
	if ch == nil {
		return fmt.Errorf("confirm: no question %q is open", id)
	}
	select {
	case ch <- answer:
		return nil
	default:
		return fmt.Errorf("confirm: %q was answered already", id)
	}
}

// leave answers all that is open, and all that will be asked, with a no.
func (a *Asker) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = true
	for _, ch := range a.waiting {
		select {
		case ch <- deserted:
		default: // answered already
		}
	}
}

// confirm takes the client's answer.
func (s *server) confirm(c rpcproto.Command) (any, error) {
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
		return nil, fmt.Errorf("confirm: unknown answer %q; use yes, always_tool, always or no", c.Answer)
	}
	if s.opts.Asker == nil {
		return nil, fmt.Errorf("confirm: nothing is asked in this session")
	}
	return nil, s.opts.Asker.answer(c.Request, answer)
}

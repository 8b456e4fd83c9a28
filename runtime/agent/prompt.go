package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// Prompt sends a user's message and runs turns until the model asks for
// nothing more. It reports through Emit, Done last, and returns what ended it
// early: ctx's error, a *model.Error, a *BlockedError, or ErrMaxSteps.
func (a *Agent) Prompt(ctx context.Context, user message.Message) error {
	a.running.Lock()
	defer a.running.Unlock()
	defer a.opts.Emit(event.Done{})
	if user.Time.IsZero() {
		user.Time = time.Now()
	}
	a.opts.Emit(event.UserMessage{Message: user})
	err := a.turns(ctx, &user)
	if err != nil && ctx.Err() == nil {
		a.opts.Emit(event.Error{Message: err.Error()})
	}
	return err
}

// turns repeats turns until one asks for no tool. The user's message enters
// the transcript once the first turn is allowed: a refused prompt leaves no
// trace in what the model sees later.
func (a *Agent) turns(ctx context.Context, user *message.Message) error {
	a.opts.Hooks.Begin(ctx)
	for step := 1; ; step++ {
		if a.opts.MaxSteps > 0 && step > a.opts.MaxSteps {
			return fmt.Errorf("%w: %d model calls without coming to an end", ErrMaxSteps, a.opts.MaxSteps)
		}
		a.opts.Emit(event.TurnStart{Step: step})
		if err := a.mayStart(ctx, step); err != nil {
			a.endTurn(ctx, err)
			return err
		}
		if user != nil {
			a.add(*user)
			user = nil
		}
		reply, err := a.turn(ctx)
		if err != nil {
			return err
		}
		calls := reply.ToolCalls()
		if len(calls) == 0 {
			return nil
		}
		if err := a.runCalls(ctx, calls); err != nil {
			a.endTurn(ctx, err)
			return err
		}
	}
}

func (a *Agent) mayStart(ctx context.Context, step int) error {
	by, reason, err := a.opts.Hooks.TurnStart(ctx, step)
	if err != nil {
		return err
	}
	if reason != "" {
		return &BlockedError{By: by, Reason: reason}
	}
	return ctx.Err()
}

// endTurn reports the end of a turn that failed.
func (a *Agent) endTurn(ctx context.Context, err error) {
	end := event.TurnEnd{Stop: string(model.StopError), Error: err.Error()}
	var blocked *BlockedError
	switch {
	case ctx.Err() != nil:
		end = event.TurnEnd{Stop: string(model.StopAborted)}
	case errors.As(err, &blocked):
		end.Error = blocked.Reason
	}
	a.opts.Emit(end)
}

package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/tool"
)

// turn asks the model once and adds its answer to the transcript. What came
// before a failure is kept, its calls excepted: nothing half received is run
// or replayed.
func (a *Agent) turn(ctx context.Context) (message.Message, error) {
	withhold := a.opts.Hooks.WithholdText()
	a.opts.Emit(event.AssistantStart{})
	resp, err := a.ask(ctx, withhold)
	if overflow(err) && a.opts.Hooks.Overflowed(ctx) {
		resp, err = a.ask(ctx, withhold)
	}
	if err != nil {
		a.keepPartial(ctx, resp.Message)
		a.account(resp.Usage)
		a.endTurn(ctx, err)
		return message.Message{}, err
	}
	reply := a.receive(resp.Message)
	if err := a.show(ctx, reply, withhold); err != nil {
		// Cancelled while an interceptor thought: the answer is in the
		// transcript, so its calls need results.
		a.cancelCalls(reply.ToolCalls())
		a.endTurn(ctx, err)
		return reply, err
	}
	a.account(resp.Usage)
	for _, c := range reply.ToolCalls() {
		a.announce(tool.Call{ID: c.ID, Name: c.Name, Args: c.Args}, c.ArgsRaw)
	}
	a.opts.Emit(event.TurnEnd{Stop: string(resp.Stop)})
	return reply, nil
}

// ask makes one model call.
func (a *Agent) ask(ctx context.Context, withhold bool) (model.Response, error) {
	if err := a.opts.Hooks.BeforeCall(ctx); err != nil {
		return model.Response{}, err
	}
	req, client, err := a.request(ctx)
	if err != nil {
		return model.Response{}, err
	}
	return client.Generate(ctx, req, func(c model.Chunk) { a.relay(c, withhold) })
}

func overflow(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Kind == model.KindOverflow
}

// request puts together what the model is asked.
func (a *Agent) request(ctx context.Context) (model.Request, model.Client, error) {
	system, err := a.opts.Hooks.SystemPrompt(ctx)
	if err != nil {
		return model.Request{}, nil, err
	}
	m, err := a.opts.Model()
	if err != nil {
		return model.Request{}, nil, err
	}
	a.mu.Lock()
	messages, active := slices.Clone(a.transcript), slices.Clone(a.activated)
	a.mu.Unlock()
	req := model.Request{
		Model: m.ID, System: system, Messages: messages,
		Reasoning: m.Reasoning, Temperature: m.Temperature, MaxTokens: m.MaxTokens,
	}
	deferred := map[string]model.Tool{}
	for _, t := range a.opts.Tools.All() {
		spec := t.Spec()
		def := model.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema}
		if spec.Deferred {
			deferred[spec.Name] = def
			continue
		}
		req.Tools = append(req.Tools, def)
	}
	for _, name := range active {
		if def, ok := deferred[name]; ok {
			req.Deferred = append(req.Deferred, def)
		}
	}
	return req, m.Client, nil
}

// relay reports a piece of the answer. Text that an interceptor has yet to
// judge stays unseen; so does thinking, which may quote it.
func (a *Agent) relay(c model.Chunk, withhold bool) {
	switch {
	case c.Text != "" && !withhold:
		a.opts.Emit(event.TextDelta{Delta: c.Text})
	case c.Reasoning != "" && !withhold:
		a.opts.Emit(event.ReasoningDelta{Delta: c.Reasoning})
	case c.ToolStart != nil:
		a.opts.Emit(event.ToolUseStart{ID: c.ToolStart.ID, Name: c.ToolStart.Name})
	case c.ToolArgs != nil:
		a.opts.Emit(event.ToolUseArgs{ID: c.ToolArgs.ID, Delta: c.ToolArgs.Delta})
	case c.ToolEnd != nil:
		a.opts.Emit(event.ToolUseEnd{ID: c.ToolEnd.ID})
	case c.Retry != nil:
		cause := ""
		if c.Retry.Cause != nil {
			cause = c.Retry.Cause.Error()
		}
		a.opts.Emit(event.Retry{Attempt: c.Retry.Attempt, Of: c.Retry.Of, Wait: c.Retry.Wait, Cause: cause})
	}
}

// receive adds a complete answer to the transcript.
func (a *Agent) receive(m message.Message) message.Message {
	m.Role = message.Assistant
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	a.add(m)
	return m
}

// show has the text judged and reports the answer in its visible form.
func (a *Agent) show(ctx context.Context, m message.Message, withhold bool) error {
	text := m.Text()
	v := TextVerdict{Text: text}
	if text != "" && withhold {
		var err error
		if v, err = a.opts.Hooks.AssistantMessage(ctx, text); err != nil {
			return err
		}
		if !v.Suppressed && v.Text != "" {
			a.opts.Emit(event.TextDelta{Delta: v.Text})
		}
	}
	a.opts.Emit(event.AssistantMessage{
		Message: m, Visible: v.Text, Suppressed: v.Suppressed, Reason: v.Reason, By: v.By,
	})
	return nil
}

// keepPartial keeps the text of an answer that broke off; its calls are not
// complete, and a model does not need its broken thoughts.
func (a *Agent) keepPartial(ctx context.Context, m message.Message) {
	var kept []message.Block
	for _, b := range m.Content {
		if t, ok := b.(message.Text); ok && t.Text != "" {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return
	}
	m.Content = kept
	m = a.receive(m)
	if !a.opts.Hooks.WithholdText() && ctx.Err() == nil {
		a.opts.Emit(event.AssistantMessage{Message: m, Visible: m.Text()})
	}
}

// account adds a turn's tokens and reports them.
func (a *Agent) account(u message.Usage) { a.spend(u, false) }

// Spend adds the tokens of a model call that was no turn, such as the writing
// of a summary, to those of the conversation, and reports them.
func (a *Agent) Spend(u message.Usage) { a.spend(u, true) }

func (a *Agent) spend(u message.Usage, auxiliary bool) {
	if !u.Known {
		return
	}
	a.mu.Lock()
	a.usage = a.usage.Add(u)
	total := a.usage
	a.mu.Unlock()
	a.opts.Emit(event.Usage{Turn: u, Cumulative: total, Auxiliary: auxiliary})
}

package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/compact"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/tool"
)

// hooks answers the agent's questions around a turn.
type hooks struct{ h *Host }

// BeforeCall shortens the conversation where the model's window is nearly full.
func (k hooks) BeforeCall(ctx context.Context) error { return k.h.compactIfDue(ctx) }

// Overflowed shortens the conversation that was too large for the model.
func (k hooks) Overflowed(ctx context.Context) bool {
	k.h.mu.Lock()
	may := k.h.auto.MayRecover(k.h.agent.Transcript())
	k.h.mu.Unlock()
	if !may {
		return false
	}
	_, err := k.h.shorten(ctx, compact.Overflow, "")
	return err == nil
}

func (k hooks) SystemPrompt(ctx context.Context) (string, error) { return k.h.prompt.get(ctx) }

// Begin waits for extensions that are still starting, so that they hear of the
// first turn, the list of tools is complete and no guard is passed by.
func (k hooks) Begin(ctx context.Context) {
	if settled := k.h.opts.Settled; settled != nil {
		settled(ctx)
	}
	k.h.WaitReady(ctx)
}

// TurnStart asks the extensions that are subscribed.
func (k hooks) TurnStart(ctx context.Context, step int) (by, reason string, err error) {
	v, err := k.h.manager.InterceptTurnStart(ctx, step)
	return v.By, v.Reason, err
}

func (k hooks) WithholdText() bool { return k.h.manager.WithholdsText() }

func (k hooks) AssistantMessage(ctx context.Context, text string) (agent.TextVerdict, error) {
	v, err := k.h.manager.InterceptAssistantMessage(ctx, text)
	if err != nil {
		return agent.TextVerdict{}, err
	}
	if v.Blocked {
		return agent.TextVerdict{Suppressed: true, By: v.By, Reason: v.Reason}, nil
	}
	return agent.TextVerdict{Text: v.Text, By: v.By}, nil
}

// interceptor lets the guard ask the extensions.
type interceptor struct{ m *extension.Manager }

func (i interceptor) Intercept(ctx context.Context, call tool.Call, t tool.Tool) (guard.Intercepted, error) {
	v, err := i.m.InterceptToolCall(ctx, extension.ToolQuestion{
		ToolID: call.ID, ToolName: call.Name, Args: call.Args, Origin: call.Origin,
		Check: func(args json.RawMessage) error { return fits(t.Spec().Schema, args) },
	})
	return guard.Intercepted{
		Blocked: v.Blocked, By: v.By, Reason: v.Reason, Args: v.Args, Changes: v.Changes,
	}, err
}

// fits checks rewritten arguments against a tool's schema.
func fits(schema, args json.RawMessage) error {
	s, err := extension.CompileSchema(schema)
	if err != nil {
		return nil // the tool was registered without a usable one; its own check remains
	}
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return err
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%s", firstLine(err))
	}
	return nil
}

func firstLine(err error) string {
	s := err.Error()
	for i, r := range s {
		if r == '\n' {
			return s[:i]
		}
	}
	return s
}

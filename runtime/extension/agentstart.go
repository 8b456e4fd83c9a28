package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// An AgentStart describes one preparation of the system prompt. RunID is new
// for each pass and the same for all extensions of one.
type AgentStart struct {
	SessionID, RunID, CWD, Provider, Model string
}

// BeforeAgentStart hands the assembled system prompt down the chain: each
// interceptor sees the result of the one before and may replace it exactly. A
// failure keeps what there was, with a warning. The error is ctx's, and then
// nothing may be used of the pass.
func (m *Manager) BeforeAgentStart(ctx context.Context, start AgentStart, prompt string) (string, error) {
	for _, p := range m.interceptors(extproto.EventBeforeAgentStart) {
		current := prompt
		id := newID()
		frame, err := p.ask(ctx, ask{
			id: id, answer: "event_intercept_response", what: p.entry.Name,
			// The deadline of this event includes the write.
			timeout: guard{peer: p, may: p.scope.Load().intercept(extproto.EventBeforeAgentStart)}.timeout(), fromStart: true,
			frame: extproto.EventIntercept{
				ID: id, Event: extproto.EventBeforeAgentStart,
				SessionID: start.SessionID, AgentRunID: start.RunID, CWD: start.CWD,
				Provider: start.Provider, Model: start.Model, SystemPrompt: &current,
			},
		})
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err == nil {
			resp := frame.(extproto.EventInterceptResponse)
			if resp.SystemPrompt != nil && !p.mayReplacePrompt() {
				continue
			}
			prompt, err = replacePrompt(prompt, resp)
		}
		if err != nil {
			p.diagnose(true, "before_agent_start: %v; keeping current system prompt", err)
		}
	}
	return prompt, nil
}

// replacePrompt applies an answer: an exact string, "" included; left out keeps
// the prompt; anything else is an error and keeps it too.
func replacePrompt(prompt string, resp extproto.EventInterceptResponse) (string, error) {
	if resp.SystemPrompt == nil {
		if resp.Block {
			return prompt, errors.New("it cannot block the start")
		}
		return prompt, nil
	}
	if n := len(resp.SystemPrompt); n > extproto.MaxSystemPrompt {
		return prompt, fmt.Errorf("system_prompt of %d bytes is over the limit of %d", n, extproto.MaxSystemPrompt)
	}
	if trimmed := bytes.TrimSpace(resp.SystemPrompt); trimmed[0] != '"' {
		return prompt, fmt.Errorf("system_prompt is not a string: %.40s", trimmed)
	}
	var s string
	if err := json.Unmarshal(resp.SystemPrompt, &s); err != nil {
		return prompt, fmt.Errorf("system_prompt: %w", err)
	}
	return s, nil
}

package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// A Verdict is what a chain of interceptors came to.
type Verdict struct {
	Blocked bool
	By      string // the extension that blocked, or changed last
	Reason  string // why it blocked; never empty with Blocked
	// Args are the arguments of a tool call as they stand after the chain, Text
	// the text of a message.
	Args json.RawMessage
	Text string
	// Changes says who changed what, one entry a change.
	Changes []string
}

// A ToolQuestion is a tool call on which interceptors are asked.
type ToolQuestion struct {
	ToolID, ToolName string
	Args             json.RawMessage
	Origin           string // extension that made the call; or empty
	// Check, if not nil, says what is wrong with rewritten arguments.
	Check func(args json.RawMessage) error
}

// InterceptToolCall asks the chain about a tool call. The error is ctx's.
func (m *Manager) InterceptToolCall(ctx context.Context, q ToolQuestion) (Verdict, error) {
	v := Verdict{Args: q.Args}
	guards, err := m.guards(ctx, extproto.EventToolCall, q.ToolName)
	if err != nil {
		return v, err
	}
	for _, g := range guards {
		resp, err := m.askInterceptor(ctx, g, extproto.EventIntercept{
			Event: extproto.EventToolCall, ToolID: q.ToolID, ToolName: q.ToolName,
			ToolArgs: v.Args, OriginExtension: q.Origin,
		})
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		if err == nil && !resp.Block {
			err = v.rewrite(g.peer.entry.Name, resp.ModifiedArgs, q.Check)
		}
		switch {
		case err != nil:
			if v.failed(g, "tool_call of "+q.ToolName, err) {
				return v, nil
			}
		case resp.Block:
			v.block(g.peer.entry.Name, resp.Reason, "tool call refused by extension guard")
			return v, nil
		}
	}
	return v, nil
}

// rewrite takes over modified arguments, which must be a JSON object and pass
// check.
func (v *Verdict) rewrite(by string, args json.RawMessage, check func(json.RawMessage) error) error {
	if len(args) == 0 || string(args) == "null" || sameJSON(args, v.Args) {
		return nil
	}
	if trimmed := bytes.TrimSpace(args); trimmed[0] != '{' {
		return fmt.Errorf("modified_args is not a JSON object: %.80s", trimmed)
	}
	if check != nil {
		if err := check(args); err != nil {
			return fmt.Errorf("modified_args does not fit the tool: %w", err)
		}
	}
	v.Args, v.By = args, by
	v.Changes = append(v.Changes, by+" rewrote the arguments")
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func (v *Verdict) block(by, reason, fallback string) {
	if reason == "" {
		reason = fallback
	}
	v.Blocked, v.By, v.Reason = true, by, reason
}

// InterceptTurnStart asks the chain whether a turn may begin. The error is
// ctx's.
func (m *Manager) InterceptTurnStart(ctx context.Context, step int) (Verdict, error) {
	var v Verdict
	guards, err := m.guards(ctx, extproto.EventTurnStart, "")
	if err != nil {
		return v, err
	}
	for _, g := range guards {
		resp, err := m.askInterceptor(ctx, g, extproto.EventIntercept{Event: extproto.EventTurnStart, Step: step})
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		switch {
		case err != nil:
			if v.failed(g, "turn_start", err) {
				return v, nil
			}
		case resp.Block:
			v.block(g.peer.entry.Name, resp.Reason, "turn blocked by extension guard")
			return v, nil
		}
	}
	return v, nil
}

// WithholdsText reports whether any extension is asked about messages, so that
// nothing of one may be shown before its verdict.
func (m *Manager) WithholdsText() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.peers, func(p *peer) bool {
		return p.isReady() && p.intercepts[extproto.EventAssistantMessage] ||
			!p.isReady() && p.guardsWhenDown(extproto.EventAssistantMessage)
	})
}

// InterceptAssistantMessage asks the chain about a message's text. The error
// is ctx's.
func (m *Manager) InterceptAssistantMessage(ctx context.Context, text string) (Verdict, error) {
	v := Verdict{Text: text}
	guards, err := m.guards(ctx, extproto.EventAssistantMessage, "")
	if err != nil {
		return v, err
	}
	for _, g := range guards {
		resp, err := m.askInterceptor(ctx, g, extproto.EventIntercept{Event: extproto.EventAssistantMessage, Text: v.Text})
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		switch {
		case err != nil:
			if v.failed(g, "assistant_message", err) {
				return v, nil
			}
		case resp.Block:
			v.block(g.peer.entry.Name, resp.Reason, "message withheld by extension guard")
			return v, nil
		case resp.ReplaceText != "" && resp.ReplaceText != v.Text:
			v.Text, v.By = resp.ReplaceText, g.peer.entry.Name
			v.Changes = append(v.Changes, g.peer.entry.Name+" replaced the text")
		}
	}
	return v, nil
}

// askInterceptor puts one question; the deadline begins when it is written.
// The answer holds no more than the guard may do.
func (m *Manager) askInterceptor(ctx context.Context, g guard, q extproto.EventIntercept) (extproto.EventInterceptResponse, error) {
	if g.down {
		return extproto.EventInterceptResponse{}, g.notRunning()
	}
	q.ID = newID()
	frame, err := g.peer.ask(ctx, ask{
		id: q.ID, frame: q, answer: "event_intercept_response",
		timeout: g.timeout(), what: g.peer.entry.Name,
	})
	if err != nil {
		return extproto.EventInterceptResponse{}, err
	}
	return g.within(q, frame.(extproto.EventInterceptResponse)), nil
}

// failOpen lets an action pass because its interceptor failed, and says so each
// time: an interceptor that is silent or broken is no reason to stop, but the
// user must know that nobody looked.
func (p *peer) failOpen(what string, err error) {
	p.diagnose(true, "guard %s did not judge %s, which goes on unchanged: %v", p.entry.Name, what, err)
}

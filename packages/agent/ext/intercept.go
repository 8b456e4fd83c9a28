package ext

import (
	"bytes"
	"encoding/json"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// hooks are the interceptors, nil where there is none.
type hooks struct {
	beforeAgentStart func(BeforeAgentStartEvent) *string
	toolCall         func(string, json.RawMessage) (bool, string)
	toolCallX        func(string, json.RawMessage) ToolCallDecision
	turnStart        func(int) TurnStartDecision
	assistantMessage func(string) AssistantMessageDecision
}

// names lists the events that the hooks want to be asked about.
func (h *hooks) names() []string {
	var out []string
	add := func(name string, wanted bool) {
		if wanted {
			out = append(out, name)
		}
	}
	add(extproto.EventBeforeAgentStart, h.beforeAgentStart != nil)
	add(extproto.EventToolCall, h.toolCall != nil || h.toolCallX != nil)
	add(extproto.EventTurnStart, h.turnStart != nil)
	add(extproto.EventAssistantMessage, h.assistantMessage != nil)
	return out
}

// BeforeAgentStartEvent is the complete system prompt and the run it is for.
type BeforeAgentStartEvent struct {
	SystemPrompt string
	SessionID    string
	AgentRunID   string // the same for all extensions asked in one pass
	CWD          string
	Provider     string
	Model        string
}

// ToolCallDecision is the verdict on a tool call; the zero value allows it.
type ToolCallDecision struct {
	Block  bool
	Reason string // on block, the model reads it as the tool's error
	// ModifiedArgs, a JSON object, replaces the arguments. Anything else is
	// logged and dropped.
	ModifiedArgs json.RawMessage
}

// TurnStartDecision is the verdict on a model call; the zero value allows it.
type TurnStartDecision struct {
	Block  bool
	Reason string // on block, the user reads it
}

// AssistantMessageDecision is the verdict on a message of the model; the zero
// value shows it as it is.
type AssistantMessageDecision struct {
	Block  bool
	Reason string // on block, the user reads it
	// ReplaceText, where not empty, is shown instead. The model keeps what it
	// said.
	ReplaceText string
}

// InterceptBeforeAgentStart has fn asked for the system prompt: nil keeps it, a
// pointer replaces it with exactly that text, be it empty.
func (e *Extension) InterceptBeforeAgentStart(fn func(BeforeAgentStartEvent) *string) {
	e.intercept(extproto.EventBeforeAgentStart, func(h *hooks) { h.beforeAgentStart = fn })
}

// InterceptToolCall has fn asked before each tool call.
func (e *Extension) InterceptToolCall(fn func(tool string, args json.RawMessage) (allow bool, reason string)) {
	e.intercept(extproto.EventToolCall, func(h *hooks) { h.toolCall = fn })
}

// InterceptToolCallX is [Extension.InterceptToolCall] for verdicts that may
// also rewrite the arguments. Where both are set, this one is asked.
func (e *Extension) InterceptToolCallX(fn func(tool string, args json.RawMessage) ToolCallDecision) {
	e.intercept(extproto.EventToolCall, func(h *hooks) { h.toolCallX = fn })
}

// InterceptTurnStart has fn asked before each model call. Step counts the
// model calls of one prompt from 1.
func (e *Extension) InterceptTurnStart(fn func(step int) TurnStartDecision) {
	e.intercept(extproto.EventTurnStart, func(h *hooks) { h.turnStart = fn })
}

// InterceptAssistantMessage has fn asked before a text of the model is shown.
func (e *Extension) InterceptAssistantMessage(fn func(text string) AssistantMessageDecision) {
	e.intercept(extproto.EventAssistantMessage, func(h *hooks) { h.assistantMessage = fn })
}

func (e *Extension) intercept(event string, set func(*hooks)) {
	e.register(func() bool {
		before := len(e.hooks.names())
		set(&e.hooks)
		return len(e.hooks.names()) > before
	}, func() extproto.Frame { return extproto.Subscribe{Intercept: []string{event}} })
}

// verdict asks the hook for the event. Silence lets things pass in this
// protocol, so a hook that panics does too: it was asked for an opinion and
// had none.
func (e *Extension) verdict(q extproto.EventIntercept) (a extproto.EventInterceptResponse) {
	defer e.caught("interceptor "+q.Event, func(any) { a = extproto.EventInterceptResponse{ID: q.ID} })
	e.mu.Lock()
	h := e.hooks
	e.mu.Unlock()
	a.ID = q.ID
	switch {
	case q.Event == extproto.EventBeforeAgentStart && h.beforeAgentStart != nil:
		h.askBeforeAgentStart(q, &a)
	case q.Event == extproto.EventToolCall && (h.toolCall != nil || h.toolCallX != nil):
		d := h.askToolCall(q)
		if len(d.ModifiedArgs) > 0 && !isObject(d.ModifiedArgs) {
			e.Logf("interceptor tool_call: ModifiedArgs is not a JSON object and is dropped: %.80s", d.ModifiedArgs)
			d.ModifiedArgs = nil
		}
		setToolCall(&a, d, q.ToolArgs)
	case q.Event == extproto.EventTurnStart && h.turnStart != nil:
		d := h.turnStart(q.Step)
		a.Block, a.Reason = d.Block, d.Reason
	case q.Event == extproto.EventAssistantMessage && h.assistantMessage != nil:
		d := h.assistantMessage(q.Text)
		a.Block, a.Reason = d.Block, d.Reason
		if !d.Block && d.ReplaceText != q.Text {
			a.ReplaceText = d.ReplaceText
		}
	}
	return a
}

func (h *hooks) askBeforeAgentStart(q extproto.EventIntercept, a *extproto.EventInterceptResponse) {
	in := BeforeAgentStartEvent{SessionID: q.SessionID, AgentRunID: q.AgentRunID, CWD: q.CWD, Provider: q.Provider, Model: q.Model}
	if q.SystemPrompt != nil {
		in.SystemPrompt = *q.SystemPrompt
	}
	if out := h.beforeAgentStart(in); out != nil {
		a.SystemPrompt, _ = json.Marshal(*out) // a string always encodes
	}
}

func (h *hooks) askToolCall(q extproto.EventIntercept) ToolCallDecision {
	if h.toolCallX != nil {
		return h.toolCallX(q.ToolName, q.ToolArgs)
	}
	allow, reason := h.toolCall(q.ToolName, q.ToolArgs)
	return ToolCallDecision{Block: !allow, Reason: reason}
}

// setToolCall leaves arguments out of the answer that are what they were.
func setToolCall(a *extproto.EventInterceptResponse, d ToolCallDecision, asked json.RawMessage) {
	a.Block, a.Reason = d.Block, d.Reason
	if !d.Block && len(d.ModifiedArgs) > 0 && !bytes.Equal(d.ModifiedArgs, asked) {
		a.ModifiedArgs = d.ModifiedArgs
	}
}

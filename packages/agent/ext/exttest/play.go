package exttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// Command runs a slash command as the user would.
func (h *Host) Command(name, args string) extproto.CommandResponse {
	h.t.Helper()
	id := h.newID()
	h.Send(extproto.CommandInvoked{ID: id, Name: name, Args: strings.TrimSpace(args)})
	return h.await(id, "the command /"+name).(extproto.CommandResponse)
}

// CallTool calls a tool as the model would. Args is JSON text, or anything
// that encodes as a JSON object; nil stands for {}.
func (h *Host) CallTool(name string, args any) extproto.ToolResult {
	h.t.Helper()
	return h.StartTool(name, args).Result()
}

// StartTool begins a call without waiting for its end.
func (h *Host) StartTool(name string, args any) *Call {
	h.t.Helper()
	c := &Call{h: h, ID: h.newID(), name: name}
	h.Send(extproto.ToolCall{ID: c.ID, Name: name, Args: h.object(args)})
	return c
}

// A Call is a tool call that is going on.
type Call struct {
	ID   string
	h    *Host
	name string
}

// Result waits for the end of the call.
func (c *Call) Result() extproto.ToolResult {
	c.h.t.Helper()
	return c.h.await(c.ID, "the tool call "+c.name).(extproto.ToolResult)
}

// Cancel abandons the call; an answer that comes all the same is let pass.
func (c *Call) Cancel() {
	c.h.t.Helper()
	c.h.Send(extproto.ToolCancel{ID: c.ID})
}

// object makes arguments of what a test finds convenient.
func (h *Host) object(args any) json.RawMessage {
	h.t.Helper()
	switch a := args.(type) {
	case nil:
		return json.RawMessage(`{}`)
	case string:
		args = json.RawMessage(a)
	case []byte:
		args = json.RawMessage(a)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		h.t.Fatalf("encoding arguments: %v", err)
	}
	return raw
}

// InterceptToolCall asks the extension about a call of a tool.
func (h *Host) InterceptToolCall(tool string, args any) extproto.EventInterceptResponse {
	h.t.Helper()
	return h.Intercept(extproto.EventIntercept{Event: extproto.EventToolCall, ToolID: "call", ToolName: tool, ToolArgs: h.object(args)})
}

// InterceptTurnStart asks the extension about a model call.
func (h *Host) InterceptTurnStart(step int) extproto.EventInterceptResponse {
	h.t.Helper()
	return h.Intercept(extproto.EventIntercept{Event: extproto.EventTurnStart, Step: step})
}

// InterceptAssistantMessage asks the extension about a message of the model.
func (h *Host) InterceptAssistantMessage(text string) extproto.EventInterceptResponse {
	h.t.Helper()
	return h.Intercept(extproto.EventIntercept{Event: extproto.EventAssistantMessage, Text: text})
}

// BeforeAgentStart asks the extension for the system prompt and returns the
// one that comes of it.
func (h *Host) BeforeAgentStart(prompt string) string {
	h.t.Helper()
	ack := h.opts.Ack
	res := h.Intercept(extproto.EventIntercept{Event: extproto.EventBeforeAgentStart, SessionID: "session", AgentRunID: "run",
		CWD: ack.CWD, Provider: ack.Provider, Model: ack.Model, SystemPrompt: &prompt})
	if len(res.SystemPrompt) == 0 {
		return prompt
	}
	var replaced *string
	if err := json.Unmarshal(res.SystemPrompt, &replaced); err != nil || replaced == nil {
		h.t.Fatalf("system_prompt is %s and not a string", res.SystemPrompt)
	}
	return *replaced
}

// Intercept asks any question. The test fails where the extension has not
// subscribed to it.
func (h *Host) Intercept(q extproto.EventIntercept) extproto.EventInterceptResponse {
	h.t.Helper()
	if !h.Intercepts(q.Event) {
		h.t.Fatalf("the extension does not intercept %s", q.Event)
	}
	q.ID = h.newID()
	h.Send(q)
	return h.await(q.ID, "the interception of "+q.Event).(extproto.EventInterceptResponse)
}

// Event tells the extension of an event. The test fails where the extension
// has not subscribed to it.
func (h *Host) Event(e extproto.Event) {
	h.t.Helper()
	if !h.Observes(e.Event) {
		h.t.Fatalf("the extension does not observe %s", e.Event)
	}
	h.Send(e)
}

// Key presses keys, by their names, in a panel that is open.
func (h *Host) Key(panelID string, keys ...string) {
	h.t.Helper()
	for _, key := range keys {
		h.Send(extproto.PanelKey{PanelID: panelID, Key: key})
	}
}

// Type types text in a panel that is open.
func (h *Host) Type(panelID, text string) {
	h.t.Helper()
	for _, r := range text {
		h.Send(extproto.PanelKey{PanelID: panelID, Key: extproto.KeyRune, Text: string(r)})
	}
}

// ResizePanel tells a panel how much room it has.
func (h *Host) ResizePanel(panelID string, width, height int) {
	h.t.Helper()
	h.Send(extproto.PanelResize{PanelID: panelID, Width: width, Height: height})
}

// ClosePanel closes a panel as the user would.
func (h *Host) ClosePanel(panelID string) {
	h.t.Helper()
	h.mu.Lock()
	h.setOpen(panelID, false)
	h.mu.Unlock()
	h.Send(extproto.PanelClose{PanelID: panelID})
}

// Observes reports whether the extension subscribed to an event.
func (h *Host) Observes(event string) bool {
	return h.said(func(f extproto.Frame) bool {
		s, ok := f.(extproto.Subscribe)
		return ok && slices.Contains(s.Events, event)
	})
}

// Intercepts reports whether the extension wants to be asked about an event.
func (h *Host) Intercepts(event string) bool {
	return h.said(func(f extproto.Frame) bool {
		s, ok := f.(extproto.Subscribe)
		return ok && slices.Contains(s.Intercept, event)
	})
}

func (h *Host) said(match func(extproto.Frame) bool) bool {
	return slices.ContainsFunc(h.Frames(), match)
}

// Text joins the texts of a result by newlines.
func Text(r extproto.ToolResult) string {
	var texts []string
	for _, b := range r.Content {
		if b.Type == extproto.BlockText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// String shows a panel as text.
func (p Panel) String() string {
	return fmt.Sprintf("%s\n%s\n%s", p.Title, strings.Join(p.Lines, "\n"), p.Footer)
}

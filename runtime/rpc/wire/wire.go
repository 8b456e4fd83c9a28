// Package wire translates what a run reports and what a transcript holds into
// the words of packages/agent/rpcproto, the wire of `zot rpc` and `zot --json`.
// It decides nothing and keeps nothing.
package wire

import (
	"time"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
)

// FromEvent translates e, and reports false for the events that never leave
// the process: a submission of an extension becomes a prompt, or nothing.
func FromEvent(e event.Event) (rpcproto.Event, bool) {
	if out, ok := fromRun(e); ok {
		return out, true
	}
	if out, ok := fromCall(e); ok {
		return out, true
	}
	if out, ok := fromExtension(e); ok {
		return out, true
	}
	return fromHost(e)
}

// fromRun translates the events of one model call.
func fromRun(e event.Event) (rpcproto.Event, bool) {
	switch e := e.(type) {
	case event.TurnStart:
		return rpcproto.TurnStart{Step: e.Step}, true
	case event.UserMessage:
		return rpcproto.UserMessage{Content: Blocks(e.Message.Content), Time: seconds(e.Message.Time)}, true
	case event.AssistantStart:
		return rpcproto.AssistantStart{}, true
	case event.TextDelta:
		return rpcproto.TextDelta{Delta: e.Delta}, true
	case event.ReasoningDelta:
		return rpcproto.ReasoningDelta{Delta: e.Delta}, true
	case event.ToolUseStart:
		return rpcproto.ToolUseStart{ID: e.ID, Name: e.Name}, true
	case event.ToolUseArgs:
		return rpcproto.ToolUseArgs{ID: e.ID, Delta: e.Delta}, true
	case event.ToolUseEnd:
		return rpcproto.ToolUseEnd{ID: e.ID}, true
	case event.AssistantMessage:
		return assistantMessage(e), true
	case event.Usage:
		return rpcproto.Usage{UsageCount: UsageCount(e.Turn), Cumulative: UsageCount(e.Cumulative), Auxiliary: e.Auxiliary}, true
	case event.TurnEnd:
		return rpcproto.TurnEnd{Stop: e.Stop, Error: e.Error}, true
	case event.Error:
		return rpcproto.Error{Message: e.Message}, true
	case event.Done:
		return rpcproto.Done{}, true
	}
	return nil, false
}

// fromCall translates the events of one tool call.
func fromCall(e event.Event) (rpcproto.Event, bool) {
	switch e := e.(type) {
	case event.ToolCall:
		return rpcproto.ToolCall{
			ID: e.ID, Name: e.Name, Args: object(e.Args),
			Extension: e.Extension, Parent: e.Parent, Origin: e.Origin,
		}, true
	case event.ToolProgress:
		return rpcproto.ToolProgress{ID: e.ID, Text: e.Text}, true
	case event.ToolResult:
		return toolResult(e), true
	case event.ConfirmationRequested:
		return rpcproto.ConfirmationRequest{
			ID: e.ToolID, ToolID: e.ToolID, ToolName: e.ToolName, Preview: e.Preview,
		}, true
	case event.PermissionDecision:
		return rpcproto.PermissionDecision{
			ToolID: e.ToolID, ToolName: e.ToolName,
			Decision: e.Decision, Source: e.Source, Stage: e.Stage, Reason: e.Reason,
		}, true
	}
	return nil, false
}

// fromHost translates what the host says on its own account.
func fromHost(e event.Event) (rpcproto.Event, bool) {
	switch e := e.(type) {
	case event.Retry:
		return rpcproto.Retry{Attempt: e.Attempt, Of: e.Of, WaitMS: e.Wait.Milliseconds(), Cause: e.Cause}, true
	case event.CompactStart:
		return rpcproto.CompactStart{ID: e.ID, MessageCount: e.MessageCount, Tokens: e.Tokens, Auto: e.Auto}, true
	case event.CompactDone:
		return rpcproto.CompactDone{
			Summary: e.Summary, ID: e.ID, MessageCount: e.MessageCount, Tokens: e.Tokens, Error: e.Error,
		}, true
	case event.ModelChanged:
		return rpcproto.ModelChanged{Provider: e.Provider, Model: e.Model}, true
	case event.PolicyStatus:
		return policyStatus(e), true
	case event.Notice:
		return rpcproto.Notice{Level: e.Level, Text: e.Text}, true
	}
	return nil, false
}

// fromExtension translates the events of extensions.
func fromExtension(e event.Event) (rpcproto.Event, bool) {
	switch e := e.(type) {
	case event.ExtNotify:
		return rpcproto.ExtNotify{Extension: e.Extension, Level: e.Level, Message: e.Message}, true
	case event.ExtDisplay:
		return rpcproto.ExtDisplay{Extension: e.Extension, Text: e.Text}, true
	case event.ExtClearNotes:
		return rpcproto.ExtClearNotes{Extension: e.Extension}, true
	case event.ExtPanelOpen:
		return rpcproto.ExtPanelOpen{
			Extension: e.Extension, PanelID: e.ID, Title: e.Title,
			Lines: list(e.Lines), Footer: e.Footer, Keys: e.Keys, Asked: e.Asked,
		}, true
	case event.ExtPanelRender:
		return rpcproto.ExtPanelRender{
			Extension: e.Extension, PanelID: e.ID, Title: e.Title, Lines: list(e.Lines), Footer: e.Footer,
		}, true
	case event.ExtPanelClose:
		return rpcproto.ExtPanelClose{Extension: e.Extension, PanelID: e.ID}, true
	case event.ExtFailed:
		return rpcproto.ExtFailed{Extension: e.Extension, Message: e.Message}, true
	case event.ExtReloaded:
		return rpcproto.ExtReloaded{Stopped: e.Stopped, Loaded: e.Loaded, Ready: e.Ready, Failed: e.Failed}, true
	case event.ExtState:
		return rpcproto.ExtState{Loading: e.Loading, Total: e.Total}, true
	}
	return nil, false
}

func toolResult(e event.ToolResult) rpcproto.ToolResult {
	executed := e.Executed
	return rpcproto.ToolResult{
		ID: e.ID, Name: e.Name, Args: e.Args,
		IsError: e.IsError, Status: e.Status, Executed: &executed,
		Content: Blocks(e.Content), Structured: e.Structured, Diff: e.Diff,
		Extension: e.Extension, Changes: e.Changes, Parent: e.Parent, Origin: e.Origin,
		DurationMS: e.Duration.Milliseconds(),
	}
}

// assistantMessage shows a client what the user may see: the text that an
// interceptor withheld or replaced does not leave the process.
func assistantMessage(e event.AssistantMessage) rpcproto.AssistantMessage {
	content := e.Message.Content
	if e.Suppressed {
		content = withText(content, "")
	} else if e.Visible != e.Message.Text() {
		content = withText(content, e.Visible)
	}
	return rpcproto.AssistantMessage{
		Content: Blocks(content), Time: seconds(e.Message.Time),
		Suppressed: e.Suppressed, Reason: e.Reason, By: e.By,
	}
}

// withText returns content with text in the place of all its text blocks.
func withText(content []message.Block, text string) []message.Block {
	var out []message.Block
	placed := text == ""
	for _, b := range content {
		if _, ok := b.(message.Text); ok {
			if !placed {
				out = append(out, message.Text{Text: text})
				placed = true
			}
			continue
		}
		out = append(out, b)
	}
	if !placed {
		out = append([]message.Block{message.Text{Text: text}}, out...)
	}
	return out
}

// seconds cuts t to the precision of the wire.
func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }

func policyStatus(e event.PolicyStatus) rpcproto.PolicyStatus {
	out := rpcproto.PolicyStatus{Mode: e.Mode, Held: []rpcproto.PolicyHeld{}}
	for _, h := range e.Held {
		reason := h.Reason
		if h.Code != "" {
			reason = h.Code + ": " + reason
		}
		out.Held = append(out.Held, rpcproto.PolicyHeld{What: h.What, Reason: reason, Remedy: h.Remedy})
	}
	return out
}

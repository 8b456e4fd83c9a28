package rpcproto

// The wire words of the events.

func (TurnStart) EventType() string           { return "turn_start" }
func (UserMessage) EventType() string         { return "user_message" }
func (AssistantStart) EventType() string      { return "assistant_start" }
func (TextDelta) EventType() string           { return "text_delta" }
func (ReasoningDelta) EventType() string      { return "reasoning_delta" }
func (ToolUseStart) EventType() string        { return "tool_use_start" }
func (ToolUseArgs) EventType() string         { return "tool_use_args" }
func (ToolUseEnd) EventType() string          { return "tool_use_end" }
func (AssistantMessage) EventType() string    { return "assistant_message" }
func (Usage) EventType() string               { return "usage" }
func (TurnEnd) EventType() string             { return "turn_end" }
func (ToolCall) EventType() string            { return "tool_call" }
func (ToolProgress) EventType() string        { return "tool_progress" }
func (ToolResult) EventType() string          { return "tool_result" }
func (Error) EventType() string               { return "error" }
func (Done) EventType() string                { return "done" }
func (CompactStart) EventType() string        { return "compact_start" }
func (CompactDone) EventType() string         { return "compact_done" }
func (Retry) EventType() string               { return "retry" }
func (Notice) EventType() string              { return "notice" }
func (ModelChanged) EventType() string        { return "model_changed" }
func (ConfirmationRequest) EventType() string { return "confirmation_request" }
func (PermissionDecision) EventType() string  { return "permission_decision" }
func (PolicyStatus) EventType() string        { return "policy_status" }
func (ExtNotify) EventType() string           { return "ext_notify" }
func (ExtDisplay) EventType() string          { return "ext_display" }
func (ExtClearNotes) EventType() string       { return "ext_clear_notes" }
func (ExtPanelOpen) EventType() string        { return "ext_panel_open" }
func (ExtPanelRender) EventType() string      { return "ext_panel_render" }
func (ExtPanelClose) EventType() string       { return "ext_panel_close" }
func (ExtState) EventType() string            { return "ext_state" }
func (ExtFailed) EventType() string           { return "ext_failed" }
func (ExtReloaded) EventType() string         { return "ext_reloaded" }

var decoders = map[string]func([]byte) (Event, error){
	"turn_start":           as[TurnStart],
	"user_message":         as[UserMessage],
	"assistant_start":      as[AssistantStart],
	"text_delta":           as[TextDelta],
	"reasoning_delta":      as[ReasoningDelta],
	"tool_use_start":       as[ToolUseStart],
	"tool_use_args":        as[ToolUseArgs],
	"tool_use_end":         as[ToolUseEnd],
	"assistant_message":    as[AssistantMessage],
	"usage":                as[Usage],
	"turn_end":             as[TurnEnd],
	"tool_call":            as[ToolCall],
	"tool_progress":        as[ToolProgress],
	"tool_result":          as[ToolResult],
	"error":                as[Error],
	"done":                 as[Done],
	"compact_start":        as[CompactStart],
	"compact_done":         as[CompactDone],
	"retry":                as[Retry],
	"notice":               as[Notice],
	"model_changed":        as[ModelChanged],
	"confirmation_request": as[ConfirmationRequest],
	"permission_decision":  as[PermissionDecision],
	"policy_status":        as[PolicyStatus],
	"ext_notify":           as[ExtNotify],
	"ext_display":          as[ExtDisplay],
	"ext_clear_notes":      as[ExtClearNotes],
	"ext_panel_open":       as[ExtPanelOpen],
	"ext_panel_render":     as[ExtPanelRender],
	"ext_panel_close":      as[ExtPanelClose],
	"ext_state":            as[ExtState],
	"ext_failed":           as[ExtFailed],
	"ext_reloaded":         as[ExtReloaded],
}

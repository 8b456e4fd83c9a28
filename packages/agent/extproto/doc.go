// Package extproto is the wire between zot and an extension: the frames, the
// names they use, and the protocol's numbers. A frame is one JSON object on
// one line; its "type" tells which of the structs of this package it is.
//
// Extensions write the types of fromext.go and read those of fromhost.go.
// Unknown fields are ignored by both sides and unknown types are reported by
// [DecodeFromExtension] and [DecodeFromHost] as *UnknownTypeError, so that old
// and new meet without harm. [Reader] cuts a stream into lines.
//
// docs/extensions.md describes the conversation.
package extproto

// Version is the number in hello_ack.protocol_version.
const Version = 1

// The protocol's sizes, in bytes.
const (
	// MaxFrame is the longest line in either direction, terminator not counted.
	MaxFrame = 4 << 20
	// MaxSystemPrompt is the longest encoded system_prompt value of an
	// event_intercept_response, quotes included.
	MaxSystemPrompt = 1 << 20
	// MaxCallToolResult bounds the content of the answer to a call_tool.
	MaxCallToolResult = 256 << 10
	// MaxCallToolDepth bounds a chain of call_tool, the model's call included.
	MaxCallToolDepth = 4
)

// Capabilities of an extension (hello) and of the host (hello_ack).
const (
	CapCommands   = "commands"
	CapTools      = "tools"
	CapEvents     = "events"
	CapPanels     = "panels"
	CapSubmit     = "submit"
	CapToolCancel = "tool_cancel"
	CapCallTool   = "call_tool"
	CapRequest    = "request"
)

// Names of lifecycle events.
const (
	EventSessionStart       = "session_start"
	EventSessionEnd         = "session_end"
	EventUserPromptSubmit   = "user_prompt_submit"
	EventBeforeAgentStart   = "before_agent_start"
	EventTurnStart          = "turn_start"
	EventTurnEnd            = "turn_end"
	EventToolCall           = "tool_call"
	EventToolConfirmation   = "tool_confirmation_requested"
	EventToolResult         = "tool_result"
	EventPermissionDecision = "permission_decision"
	EventAssistantMessage   = "assistant_message"
	EventPreCompact         = "pre_compact"
	EventPostCompact        = "post_compact"
	EventModelChanged       = "model_changed"
)

// Actions of a command_response.
const (
	ActionPrompt     = "prompt"
	ActionInsert     = "insert"
	ActionDisplay    = "display"
	ActionOpenPanel  = "open_panel"
	ActionToolPrompt = "tool_prompt"
	ActionNoop       = "noop"
)

// Levels of a notify.
const (
	LevelInfo    = "info"
	LevelSuccess = "success"
	LevelWarn    = "warn"
	LevelError   = "error"
)

// Kinds of content block.
const (
	BlockText  = "text"
	BlockImage = "image"
)

// Names of panel_key.key.
const (
	KeyUp        = "up"
	KeyDown      = "down"
	KeyLeft      = "left"
	KeyRight     = "right"
	KeyEnter     = "enter"
	KeyEsc       = "esc"
	KeyTab       = "tab"
	KeyPageUp    = "pageup"
	KeyPageDown  = "pagedown"
	KeyHome      = "home"
	KeyEnd       = "end"
	KeyBackspace = "backspace"
	KeyDelete    = "delete"
	KeyRune      = "rune"
)

// ObservableEvents lists what a subscribe may name in events.
var ObservableEvents = []string{
	EventSessionStart, EventSessionEnd, EventUserPromptSubmit, EventTurnStart, EventTurnEnd, EventToolCall,
	EventToolConfirmation, EventToolResult, EventPermissionDecision, EventAssistantMessage, EventPreCompact,
	EventPostCompact, EventModelChanged,
}

// InterceptableEvents lists what a subscribe may name in intercept.
var InterceptableEvents = []string{
	EventBeforeAgentStart, EventToolCall, EventTurnStart, EventAssistantMessage,
}

package extproto

import "encoding/json"

// HelloAck answers a hello.
type HelloAck struct {
	ProtocolVersion int      `json:"protocol_version"`
	ZotVersion      string   `json:"zot_version"`
	Provider        string   `json:"provider"`
	Model           string   `json:"model"`
	CWD             string   `json:"cwd"`
	ExtensionDir    string   `json:"extension_dir"`
	DataDir         string   `json:"data_dir"`
	Capabilities    []string `json:"capabilities,omitempty"`
}

// CommandInvoked says that the user ran a command of the extension. Args is
// trimmed, and left out where empty.
type CommandInvoked struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}

// ToolCall says that the model called a tool of the extension.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// ToolCancel abandons a tool_call.
type ToolCancel struct {
	ID string `json:"id"`
}

// Event tells a subscriber of a lifecycle event. Which fields are set depends
// on Event; zero values are left out.
type Event struct {
	Event     string `json:"event"`
	SessionID string `json:"session_id,omitempty"`
	CWD       string `json:"cwd,omitempty"`
	Sequence  uint64 `json:"sequence,omitempty"`

	Step  int    `json:"step,omitempty"`
	Stop  string `json:"stop,omitempty"`
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`

	ToolID      string          `json:"tool_id,omitempty"`
	ToolName    string          `json:"tool_name,omitempty"`
	ToolArgs    json.RawMessage `json:"tool_args,omitempty"`
	ToolArgsRaw string          `json:"tool_args_raw,omitempty"`
	ToolPreview string          `json:"tool_preview,omitempty"`

	Status   string       `json:"status,omitempty"`
	Executed *bool        `json:"executed,omitempty"`
	Result   *EventResult `json:"result,omitempty"`

	Decision string `json:"decision,omitempty"`
	Source   string `json:"source,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Reason   string `json:"reason,omitempty"`

	Queued     *bool `json:"queued,omitempty"`
	ImageCount int   `json:"image_count,omitempty"`

	CompactionID  string `json:"compaction_id,omitempty"`
	MessageCount  int    `json:"message_count,omitempty"`
	TokenEstimate int    `json:"token_estimate,omitempty"`

	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`

	OriginExtension string `json:"origin_extension,omitempty"`
}

// EventResult is the result part of a tool_result event.
type EventResult struct {
	Content   []Block `json:"content"`
	IsError   bool    `json:"is_error"`
	Truncated bool    `json:"truncated,omitempty"`
}

// EventIntercept asks an interceptor. Which fields are set depends on Event.
type EventIntercept struct {
	ID    string `json:"id"`
	Event string `json:"event"`

	Step int    `json:"step,omitempty"`
	Text string `json:"text,omitempty"`

	ToolID          string          `json:"tool_id,omitempty"`
	ToolName        string          `json:"tool_name,omitempty"`
	ToolArgs        json.RawMessage `json:"tool_args,omitempty"`
	OriginExtension string          `json:"origin_extension,omitempty"`

	SessionID  string `json:"session_id,omitempty"`
	AgentRunID string `json:"agent_run_id,omitempty"`
	CWD        string `json:"cwd,omitempty"`
	Provider   string `json:"provider,omitempty"`
	Model      string `json:"model,omitempty"`
	// SystemPrompt is set for before_agent_start, where it may be "".
	SystemPrompt *string `json:"system_prompt,omitempty"`
}

// PanelKey is a key pressed while a panel of the extension has the focus.
// Text is set for KeyRune.
type PanelKey struct {
	PanelID string `json:"panel_id"`
	Key     string `json:"key"`
	Text    string `json:"text,omitempty"`
}

// PanelResize tells the room a panel has, in cells.
type PanelResize struct {
	PanelID string `json:"panel_id"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
}

// Response answers a request: Result, or Error.
type Response struct {
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *ResponseError  `json:"error,omitempty"`
}

// ResponseError says why a request failed. Code is "denied", "invalid",
// "unknown_method", "busy", "timeout", "too_large" or "failed".
type ResponseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Shutdown asks the extension to leave.
type Shutdown struct{}

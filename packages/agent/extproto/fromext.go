package extproto

import "encoding/json"

// Hello is the first frame of an extension.
type Hello struct {
	Name         string   `json:"name"`
	Version      string   `json:"version,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// RegisterCommand announces a slash command, its name without the slash.
type RegisterCommand struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// RegisterTool announces a tool the model can call. Schema is a JSON Schema
// object of type "object".
type RegisterTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	// Deferred tools stay unseen by the model until a result activates them.
	Deferred bool `json:"deferred,omitempty"`
	// Interactive tools wait for a person and have no deadline.
	Interactive           bool            `json:"interactive,omitempty"`
	OutputSchema          json.RawMessage `json:"output_schema,omitempty"`
	Namespace             string          `json:"namespace,omitempty"`
	NamespaceDescription  string          `json:"namespace_description,omitempty"`
	NamespaceInstructions string          `json:"namespace_instructions,omitempty"`
	// Exposure is "", "direct", "codemode", "deferred" or "model-only"; it
	// overrides Deferred.
	Exposure string `json:"exposure,omitempty"`
}

// Ready says that all first registrations are out.
type Ready struct{}

// Subscribe names the events to observe and those to be asked about.
type Subscribe struct {
	Events    []string `json:"events,omitempty"`
	Intercept []string `json:"intercept,omitempty"`
}

// Block is one part of a tool's result: text, or a base64 image.
type Block struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Format   string `json:"format,omitempty"` // "markdown" or empty; text only
	MIMEType string `json:"mime_type,omitempty"`
	Data     string `json:"data,omitempty"`
}

// ToolResult answers a tool_call (from an extension) or a call_tool (from the
// host, which also sets Name and Truncated).
type ToolResult struct {
	ID                string          `json:"id"`
	Name              string          `json:"name,omitempty"`
	Content           []Block         `json:"content"`
	IsError           bool            `json:"is_error,omitempty"`
	ActivateTools     []string        `json:"activate_tools,omitempty"`
	StructuredContent json.RawMessage `json:"structured_content,omitempty"`
	Truncated         bool            `json:"truncated,omitempty"`
}

// EventInterceptResponse answers an event_intercept. The zero value allows the
// action unchanged.
type EventInterceptResponse struct {
	ID           string          `json:"id"`
	Block        bool            `json:"block,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	ModifiedArgs json.RawMessage `json:"modified_args,omitempty"`
	ReplaceText  string          `json:"replace_text,omitempty"`
	// SystemPrompt is the raw value of system_prompt: nil where it was left
	// out, and perhaps not a string.
	SystemPrompt json.RawMessage `json:"system_prompt,omitempty"`
}

// Panel is the content of an interactive panel.
type Panel struct {
	ID     string   `json:"id"`
	Title  string   `json:"title,omitempty"`
	Lines  []string `json:"lines,omitempty"`
	Footer string   `json:"footer,omitempty"`
	// Keys asks for keys the host would keep; "esc" is the one there is.
	Keys []string `json:"keys,omitempty"`
}

// CommandResponse answers a command_invoked.
type CommandResponse struct {
	ID        string          `json:"id"`
	Action    string          `json:"action"`
	Prompt    string          `json:"prompt,omitempty"`
	Insert    string          `json:"insert,omitempty"`
	Display   string          `json:"display,omitempty"`
	OpenPanel *Panel          `json:"open_panel,omitempty"`
	ToolName  string          `json:"tool_name,omitempty"`
	ToolArgs  json.RawMessage `json:"tool_args,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Submit hands text to the user's prompt queue.
type Submit struct {
	Text string `json:"text"`
}

// SubmitSlash asks for a slash command to be run. zot ignores it: text from an
// extension runs no command.
type SubmitSlash struct {
	Text string `json:"text"`
}

// OpenPanel opens a panel without a command.
type OpenPanel struct {
	Panel Panel `json:"panel"`
}

// PanelRender redraws an open panel. An empty Title keeps the old one.
type PanelRender struct {
	PanelID string   `json:"panel_id"`
	Title   string   `json:"title,omitempty"`
	Lines   []string `json:"lines,omitempty"`
	Footer  string   `json:"footer,omitempty"`
}

// PanelClose closes a panel; either side sends it.
type PanelClose struct {
	PanelID string `json:"panel_id"`
}

// Notify shows a one-shot note. Level is info, success, warn or error.
type Notify struct {
	Level   string `json:"level,omitempty"`
	Message string `json:"message"`
}

// ClearNotes removes every note of this extension.
type ClearNotes struct{}

// CallTool asks the host to run a tool. ParentID is the id of the tool_call
// that the extension is working on.
type CallTool struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	ParentID string          `json:"parent_id,omitempty"`
}

// CallToolCancel abandons a call_tool.
type CallToolCancel struct {
	ID string `json:"id"`
}

// Request asks for a service of the host, judged by policy.
type Request struct {
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// ShutdownAck answers a shutdown; the extension leaves after it.
type ShutdownAck struct{}

package rpcproto

import (
	"encoding/json"
	"time"
)

// An Event is one of the event structs below, by value.
type Event interface {
	// EventType is the wire word of the event's type.
	EventType() string
}

// Events of a prompt, in the order in which they may come.
type (
	// TurnStart says that the model is about to be asked; Step counts from 1.
	TurnStart struct {
		Step int `json:"step"`
	}
	// UserMessage entered the transcript.
	UserMessage struct {
		Content []Block   `json:"content"`
		Time    time.Time `json:"time"`
	}
	// AssistantStart says that the model began to answer.
	AssistantStart struct{}
	// TextDelta is a piece of the answer.
	TextDelta struct {
		Delta string `json:"delta"`
	}
	// ReasoningDelta is a piece of what the model thinks aloud.
	ReasoningDelta struct {
		Delta string `json:"delta"`
	}
	// ToolUseStart, ToolUseArgs and ToolUseEnd follow a call as the model
	// writes it.
	ToolUseStart struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	// ToolUseArgs carries a fragment of the arguments' JSON text.
	ToolUseArgs struct {
		ID    string `json:"id"`
		Delta string `json:"delta"`
	}
	// ToolUseEnd says that the arguments are complete.
	ToolUseEnd struct {
		ID string `json:"id"`
	}
	// AssistantMessage is a finished answer as the user may see it: where an
	// interceptor replaced or suppressed the text, Content holds what it left
	// of it, and By and Reason say who did so and why.
	AssistantMessage struct {
		Content    []Block   `json:"content"`
		Time       time.Time `json:"time"`
		Suppressed bool      `json:"suppressed,omitempty"`
		Reason     string    `json:"reason,omitempty"`
		By         string    `json:"by,omitempty"`
	}
	// Usage counts the tokens of the turn and of the session so far. Auxiliary
	// marks a model call that was no turn, such as the writing of a summary.
	Usage struct {
		UsageCount
		Cumulative UsageCount `json:"cumulative"`
		Auxiliary  bool       `json:"auxiliary,omitempty"`
	}
	// UsageCount counts tokens. Input excludes what came from a cache.
	UsageCount struct {
		Input      int     `json:"input"`
		Output     int     `json:"output"`
		Reasoning  int     `json:"reasoning,omitempty"` // part of Output
		CacheRead  int     `json:"cache_read"`
		CacheWrite int     `json:"cache_write"`
		CostUSD    float64 `json:"cost_usd"`
	}
	// TurnEnd says why the model stopped: end_turn, tool_use, length, error or
	// aborted.
	TurnEnd struct {
		Stop  string `json:"stop"`
		Error string `json:"error,omitempty"`
	}
	// ToolCall says that a call begins, with the model's arguments.
	ToolCall struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Args      json.RawMessage `json:"args"`
		Extension string          `json:"extension,omitempty"` // owner of the tool
		Parent    string          `json:"parent_id,omitempty"` // call that this one is made for
		Origin    string          `json:"origin_extension,omitempty"`
	}
	// ToolProgress is a line of text from a tool at work.
	ToolProgress struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	// ToolResult says that a call is over. Args are the arguments that ran.
	ToolResult struct {
		ID         string          `json:"id"`
		IsError    bool            `json:"is_error"`
		Content    []Block         `json:"content"`
		Name       string          `json:"name,omitempty"`
		Args       json.RawMessage `json:"args,omitempty"`
		Status     string          `json:"status,omitempty"` // completed, failed, blocked, cancelled, timed_out
		Executed   *bool           `json:"executed,omitempty"`
		Extension  string          `json:"extension,omitempty"`
		Changes    []string        `json:"changes,omitempty"` // who changed the call on its way
		Diff       string          `json:"diff,omitempty"`
		Structured json.RawMessage `json:"structured_content,omitempty"`
		DurationMS int64           `json:"duration_ms,omitempty"`
		Parent     string          `json:"parent_id,omitempty"`
		Origin     string          `json:"origin_extension,omitempty"`
	}
	// Error reports a failure that ended the prompt.
	Error struct {
		Message string `json:"message"`
	}
	// Done says that the prompt, or the compaction, with all that followed
	// from it is over.
	Done struct{}
)

// Events around a prompt.
type (
	// CompactStart says that the transcript is about to be shortened.
	CompactStart struct {
		ID           string `json:"id,omitempty"`
		MessageCount int    `json:"message_count"`
		Tokens       int    `json:"tokens,omitempty"`
		Auto         bool   `json:"auto"`
	}
	// CompactDone says that it was, or with Error that it was not.
	CompactDone struct {
		Summary      string `json:"summary"`
		ID           string `json:"id,omitempty"`
		MessageCount int    `json:"message_count,omitempty"` // of the transcript now
		Tokens       int    `json:"tokens,omitempty"`
		Error        string `json:"error,omitempty"`
	}
	// Retry says that the model call will be tried again after WaitMS.
	Retry struct {
		Attempt int    `json:"attempt"` // the one that failed, from 1
		Of      int    `json:"of"`
		WaitMS  int64  `json:"wait_ms"`
		Cause   string `json:"cause,omitempty"`
	}
	// Notice is a line of the host's own. Level is info, success, warn or error.
	Notice struct {
		Level string `json:"level"`
		Text  string `json:"text"`
	}
	// ModelChanged says that later turns use another model.
	ModelChanged struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
	}
	// ConfirmationRequest asks the client to approve a call. It answers with
	// the command confirm, whose request is this ID.
	ConfirmationRequest struct {
		ID       string `json:"id"`
		ToolID   string `json:"tool_id"`
		ToolName string `json:"tool_name"`
		Preview  string `json:"tool_preview"`
	}
	// PermissionDecision says how a call was judged: approved, denied or
	// cancelled.
	PermissionDecision struct {
		ToolID   string `json:"tool_id"`
		ToolName string `json:"tool_name"`
		Decision string `json:"decision"`
		Source   string `json:"source,omitempty"` // user, remembered, policy, yolo
		Stage    string `json:"stage,omitempty"`  // pre_execution, tool_execution
		Reason   string `json:"reason,omitempty"`
	}
	// PolicyStatus names what policy or missing trust holds back.
	PolicyStatus struct {
		Mode string       `json:"mode"` // open, pinned, locked
		Held []PolicyHeld `json:"held"`
	}
	// PolicyHeld is one thing that is held back, and the command that would
	// allow it.
	PolicyHeld struct {
		What   string `json:"what"`
		Reason string `json:"reason,omitempty"`
		Remedy string `json:"remedy,omitempty"`
	}
)

// Events of extensions.
type (
	// ExtNotify is a note.
	ExtNotify struct {
		Extension string `json:"extension"`
		Level     string `json:"level"`
		Message   string `json:"message"`
	}
	// ExtDisplay is one-shot text.
	ExtDisplay struct {
		Extension string `json:"extension"`
		Text      string `json:"text"`
	}
	// ExtClearNotes removes every note of the extension.
	ExtClearNotes struct {
		Extension string `json:"extension"`
	}
	// ExtPanelOpen opens a panel; the one that was open is closed by it.
	ExtPanelOpen struct {
		Extension string   `json:"extension"`
		PanelID   string   `json:"panel_id"`
		Title     string   `json:"title"`
		Lines     []string `json:"lines"`
		Footer    string   `json:"footer"`
		// Keys lists the keys that the panel wants although a face would
		// keep them: "esc".
		Keys  []string `json:"keys,omitempty"`
		Asked bool     `json:"asked,omitempty"` // a command of the user opened it
	}
	// ExtPanelRender replaces a panel's content. An empty Title keeps the old.
	ExtPanelRender struct {
		Extension string   `json:"extension"`
		PanelID   string   `json:"panel_id"`
		Title     string   `json:"title"`
		Lines     []string `json:"lines"`
		Footer    string   `json:"footer"`
	}
	// ExtPanelClose closes a panel.
	ExtPanelClose struct {
		Extension string `json:"extension"`
		PanelID   string `json:"panel_id"`
	}
	// ExtFailed says that an extension could not be loaded or has died.
	ExtFailed struct {
		Extension string `json:"extension"`
		Message   string `json:"message"`
	}
	// ExtReloaded says that a reload is over, with counts of extensions.
	ExtReloaded struct {
		Stopped int `json:"stopped"`
		Loaded  int `json:"loaded"`
		Ready   int `json:"ready"`
		Failed  int `json:"failed"`
	}
	// ExtState says that Loading of Total extensions are not ready yet.
	ExtState struct {
		Loading int `json:"loading"`
		Total   int `json:"total"`
	}
)

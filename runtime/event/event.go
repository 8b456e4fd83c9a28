// Package event holds what a run reports while it goes. Events are values;
// whoever shows or records them (a terminal, a program on a pipe, an
// extension) picks the kinds it knows.
package event

import (
	"encoding/json"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
)

// An Event is one of the types of this package.
type Event interface{ event() }

// TurnStart says that the model is about to be asked; Step counts from 1
// within a prompt.
type TurnStart struct{ Step int }

// UserMessage says that a message from the user entered the transcript.
type UserMessage struct{ Message message.Message }

// AssistantStart says that the model began to answer.
type AssistantStart struct{}

// TextDelta is a piece of the answer's text.
type TextDelta struct{ Delta string }

// ReasoningDelta is a piece of what the model thinks aloud.
type ReasoningDelta struct{ Delta string }

// ToolUseStart, ToolUseArgs and ToolUseEnd follow a call as the model writes it.
type (
	ToolUseStart struct{ ID, Name string }
	ToolUseArgs  struct{ ID, Delta string }
	ToolUseEnd   struct{ ID string }
)

// AssistantMessage is a finished answer. Visible is the text for the user's
// eyes: an interceptor may have replaced it; Suppressed says that one withheld
// it, and Reason why. Message is what the transcript keeps and the model sees.
type AssistantMessage struct {
	Message    message.Message
	Visible    string
	Suppressed bool
	Reason     string
	By         string // the extension that replaced or suppressed; or empty
}

// Usage reports the tokens of the turn and of the session. Auxiliary marks a
// model call that was no turn, such as the writing of a summary: Turn then says
// nothing of the size of the conversation.
type Usage struct {
	Turn       message.Usage
	Cumulative message.Usage
	Auxiliary  bool
}

// TurnEnd says that the model's response is over; the calls it asks for run
// after it. Stop is one of the words of model.Stop.
type TurnEnd struct {
	Stop  string
	Error string
}

// ToolCall says that a call begins, with the model's own arguments. ArgsRaw is
// what it wrote where that is no JSON object; Args is {} then, here and in
// ToolResult.
type ToolCall struct {
	ID        string
	Name      string
	Args      json.RawMessage
	ArgsRaw   string
	Extension string // owner of the tool; or empty
	Parent    string // call that this one is made for; or empty
	Origin    string // extension that made it; or empty
}

// ToolProgress is a line of text from a tool at work.
type ToolProgress struct{ ID, Text string }

// ToolResult says that a call is over. Args are the arguments that ran.
type ToolResult struct {
	ID         string
	Name       string
	Args       json.RawMessage
	ArgsRaw    string
	Content    []message.Block
	IsError    bool
	Status     string // a word of tool.Status
	Executed   bool
	Extension  string
	Changes    []string
	Diff       string
	Structured json.RawMessage
	Duration   time.Duration
	Parent     string
	Origin     string
}

// ConfirmationRequested says that a person is about to be asked for approval.
type ConfirmationRequested struct{ ToolID, ToolName, Preview string }

// PermissionDecision says how a call was judged.
type PermissionDecision struct {
	ToolID, ToolName string
	Decision         string // approved, denied, cancelled
	Source           string // user, remembered, policy, yolo
	Stage            string // pre_execution, tool_execution
	Reason           string
}

// Retry says that the model call will be tried again after Wait.
type Retry struct {
	Attempt, Of int
	Wait        time.Duration
	Cause       string
}

// CompactStart and CompactDone frame the shortening of a transcript.
type (
	CompactStart struct {
		ID           string
		MessageCount int
		Tokens       int
		Auto         bool
	}
	CompactDone struct {
		ID           string
		Summary      string
		MessageCount int // of the transcript now
		Tokens       int
		Error        string
	}
)

// ModelChanged says that later turns use another model.
type ModelChanged struct{ Provider, Model string }

// Error reports a failure that ended the prompt.
type Error struct{ Message string }

// Done says that the prompt, with all that followed from it, is over.
type Done struct{}

// Notice is a line of the host's own for the user: what was skipped, what
// failed open. Level is info, success, warn or error.
type Notice struct{ Level, Text string }

// PolicyStatus names what policy or missing trust holds back. Mode is open,
// pinned or locked.
type PolicyStatus struct {
	Mode string
	Held []PolicyHeld
}

// PolicyHeld is one thing that is held back: why, and what would allow it.
type PolicyHeld struct{ What, Code, Reason, Remedy string }

// The events of extensions.
type (
	// ExtNotify is a note that an extension, or the host on its account, shows.
	ExtNotify struct{ Extension, Level, Message string }
	// ExtDisplay is one-shot text of an extension for the conversation's view.
	ExtDisplay struct{ Extension, Text string }
	// ExtClearNotes removes every note of one extension.
	ExtClearNotes struct{ Extension string }
	// ExtPanelOpen, ExtPanelRender and ExtPanelClose follow a panel.
	ExtPanelOpen struct {
		Extension, ID, Title string
		Lines                []string
		Footer               string
		Keys                 []string // keys the panel wants that the host would keep: "esc"
		Asked                bool     // a command of the user opened it
	}
	ExtPanelRender struct {
		Extension, ID, Title string
		Lines                []string
		Footer               string
	}
	ExtPanelClose struct{ Extension, ID string }
	// ExtSubmit is text that an extension submits as the user's prompt. Ask says
	// that the user must agree first.
	ExtSubmit struct {
		Extension, Text string
		Ask             bool
	}
	// ExtFailed says that an extension could not be loaded or has died. It stays
	// in view until it loads again, and is no part of the conversation.
	ExtFailed struct{ Extension, Message string }
	// ExtReloaded says that a reload is over; failures came as ExtFailed.
	ExtReloaded struct{ Stopped, Loaded, Ready, Failed int }
	// ExtState says that the set of running extensions changed: Loading of
	// Total are not ready yet.
	ExtState struct{ Loading, Total int }
)

func (TurnStart) event()             {}
func (UserMessage) event()           {}
func (AssistantStart) event()        {}
func (TextDelta) event()             {}
func (ReasoningDelta) event()        {}
func (ToolUseStart) event()          {}
func (ToolUseArgs) event()           {}
func (ToolUseEnd) event()            {}
func (AssistantMessage) event()      {}
func (Usage) event()                 {}
func (TurnEnd) event()               {}
func (ToolCall) event()              {}
func (ToolProgress) event()          {}
func (ToolResult) event()            {}
func (ConfirmationRequested) event() {}
func (PermissionDecision) event()    {}
func (Retry) event()                 {}
func (CompactStart) event()          {}
func (CompactDone) event()           {}
func (ModelChanged) event()          {}
func (Error) event()                 {}
func (Done) event()                  {}
func (Notice) event()                {}
func (PolicyStatus) event()          {}
func (ExtNotify) event()             {}
func (ExtDisplay) event()            {}
func (ExtClearNotes) event()         {}
func (ExtPanelOpen) event()          {}
func (ExtPanelRender) event()        {}
func (ExtPanelClose) event()         {}
func (ExtSubmit) event()             {}
func (ExtFailed) event()             {}
func (ExtReloaded) event()           {}
func (ExtState) event()              {}

package ext

import (
	"encoding/json"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// An Event is something that happened in zot. Which fields are set depends on
// Name; docs/extensions.md has the table.
type Event struct {
	Name      string
	SessionID string
	CWD       string
	Sequence  uint64 // rises from event to event, with gaps

	Step  int    // turn_start: 1 for the first model call of a prompt
	Stop  string // turn_end: "end_turn", "tool_use", "length", "error", "aborted"
	Error string
	Text  string // assistant_message, user_prompt_submit

	ToolID      string
	ToolName    string
	ToolArgs    json.RawMessage
	ToolArgsRaw string // arguments that were not valid JSON
	ToolPreview string // tool_confirmation_requested: what the user is shown

	Status   string       // tool_result: "completed", "failed", "blocked", "cancelled", "timed_out"
	Executed bool         // tool_result: the tool did run
	Result   *EventResult // tool_result, or nil

	Decision string // permission_decision: "approved", "denied", "cancelled"
	Source   string // permission_decision: "user", "remembered", "policy", "yolo"
	Stage    string
	Reason   string

	Queued     bool // user_prompt_submit: it waits for another to end
	ImageCount int

	CompactionID  string
	MessageCount  int
	TokenEstimate int

	Provider string // model_changed
	Model    string

	// OriginExtension is the extension for which a tool was called, if any.
	OriginExtension string
}

// EventResult is the result in a tool_result event.
type EventResult struct {
	Content   []ToolContent
	IsError   bool
	Truncated bool
}

// On subscribes to the events of a name. Handlers run one after the other in
// the order of the events; a second handler for a name replaces the first.
// Delivery is best effort: while a handler falls behind by more than some
// thousand events, further ones are dropped and that is logged.
func (e *Extension) On(event string, handler func(Event)) {
	e.register(func() bool { return e.events.set(event, handler) },
		func() extproto.Frame { return extproto.Subscribe{Events: []string{event}} })
}

func eventOf(f extproto.Event) Event {
	e := Event{
		Name: f.Event, SessionID: f.SessionID, CWD: f.CWD, Sequence: f.Sequence,
		Step: f.Step, Stop: f.Stop, Error: f.Error, Text: f.Text,
		ToolID: f.ToolID, ToolName: f.ToolName, ToolArgs: f.ToolArgs, ToolArgsRaw: f.ToolArgsRaw,
		ToolPreview: f.ToolPreview, Status: f.Status, Executed: f.Executed != nil && *f.Executed,
		Decision: f.Decision, Source: f.Source, Stage: f.Stage, Reason: f.Reason,
		Queued: f.Queued != nil && *f.Queued, ImageCount: f.ImageCount,
		CompactionID: f.CompactionID, MessageCount: f.MessageCount, TokenEstimate: f.TokenEstimate,
		Provider: f.Provider, Model: f.Model, OriginExtension: f.OriginExtension,
	}
	if r := f.Result; r != nil {
		e.Result = &EventResult{Content: contentOf(r.Content), IsError: r.IsError, Truncated: r.Truncated}
	}
	return e
}

// Package tool says what a tool is, whoever provides it, and keeps the
// registry that decides which tool answers to a name.
package tool

import (
	"context"
	"encoding/json"

	"github.com/patriceckhart/zot/runtime/message"
)

// A Tool can be called by a model. It is safe for concurrent use.
type Tool interface {
	Spec() Spec
	// Run performs one call. A failure of the work is a Result with IsError; an
	// error is returned only for ctx's end, and what was done until then may
	// come with it.
	Run(ctx context.Context, call Call) (Result, error)
}

// A Spec is what is known of a tool before it runs.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage // a JSON Schema object with "type":"object"
	// Deferred tools are not shown to the model until a result activates them.
	Deferred bool
	// Interactive tools wait for a person; a run without one refuses them.
	Interactive bool
	// Extension is the name of the extension that owns the tool; empty for a
	// built-in.
	Extension    string
	OutputSchema json.RawMessage
	Namespace    string
}

// A Call is one use of a tool. Args is a valid JSON object and the final one:
// interceptors and policy have had their say.
type Call struct {
	ID   string // the model's id of the call
	Name string
	Args json.RawMessage
	// Progress, if not nil, takes a line of text to show while the tool works.
	// It may be called from any goroutine and never blocks.
	Progress func(text string)
	// Parent is the id of the call that this one is made for; empty for a
	// model's own. Origin is the extension that made it.
	Parent string
	Origin string
}

// Status says how a call ended.
type Status string

// The statuses, as the tool_result event spells them.
const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Blocked   Status = "blocked"
	Cancelled Status = "cancelled"
	TimedOut  Status = "timed_out"
)

// A Result is what a call gave.
type Result struct {
	Content []message.Block // Text and Image blocks
	IsError bool
	// Status is derived from IsError where empty.
	Status     Status
	Structured json.RawMessage
	// Activate names deferred tools to show the model from now on.
	Activate []string
	// Diff is a unified diff of what an edit changed, for the user's eyes.
	Diff string
}

// TextResult is a successful result of one text block.
func TextResult(text string) Result {
	return Result{Content: []message.Block{message.Text{Text: text}}, Status: Completed}
}

// ErrorResult is a failed result of one text block, which the model reads.
func ErrorResult(text string) Result {
	return Result{Content: []message.Block{message.Text{Text: text}}, IsError: true, Status: Failed}
}

// An Access is something that a call touches. Two calls of one reply whose
// accesses name the same key, one of them to write, run in the order given;
// all others run side by side. The key "*" meets every other key.
type Access struct {
	Key   string
	Write bool
}

// Accessor is an extra ability of a tool: it says what a call with the given
// arguments touches. A tool without it runs beside everything.
type Accessor interface {
	Accesses(args json.RawMessage) []Access
}

// Previewer is an extra ability of a tool: a short text, one line, that tells
// a person what a call would do. Without it the arguments are shown.
type Previewer interface {
	Preview(args json.RawMessage) string
}

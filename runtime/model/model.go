// Package model describes one call of a model, free of any vendor: what is
// asked, what streams back, how it ends and how it fails. The packages below
// runtime/provider translate it to a vendor's wire.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
)

// A Client makes model calls. It is safe for concurrent use.
type Client interface {
	// Generate sends req and calls emit for each piece as it arrives, from one
	// goroutine, never after it returned. Retries happen inside: what was
	// emitted is never emitted twice. The Response holds all that was received;
	// with an error it holds the part that came before it, and its message
	// carries no call that is not complete. Errors are *Error, or ctx.Err().
	Generate(ctx context.Context, req Request, emit func(Chunk)) (Response, error)
}

// A Request is one model call.
type Request struct {
	Model    string
	System   string // the system prompt; empty sends none
	Messages []message.Message
	Tools    []Tool
	// Deferred holds the definitions of tools that a result activated, by name.
	// A client whose wire can place them at the result that names them (see
	// message.ToolResult.Activated) does; any other appends them to Tools.
	Deferred []Tool
	// Reasoning is "", "off", "minimal", "low", "medium", "high", "xhigh" or "max".
	Reasoning   string
	Temperature *float64
	MaxTokens   int // 0 leaves it to the provider
}

// A Tool is what a model is told of a tool.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // a JSON Schema of type object
}

// A Chunk is one piece of a streaming response. Exactly one field is set.
type Chunk struct {
	Text      string
	Reasoning string
	ToolStart *ToolStart
	ToolArgs  *ToolArgs
	ToolEnd   *ToolEnd
	Retry     *Retry
}

// ToolStart says that the model began a call.
type ToolStart struct{ ID, Name string }

// ToolArgs carries a fragment of a call's arguments.
type ToolArgs struct{ ID, Delta string }

// ToolEnd says that a call's arguments are complete.
type ToolEnd struct{ ID string }

// Retry says that the call failed in a passing way and will be tried again.
type Retry struct {
	Attempt int // the attempt that failed, from 1
	Of      int // attempts at the most
	Wait    time.Duration
	Cause   error
}

// Stop says why a response ended.
type Stop string

// The words of turn_end.stop.
const (
	StopEndTurn Stop = "end_turn"
	StopToolUse Stop = "tool_use"
	StopLength  Stop = "length"
	StopError   Stop = "error"
	StopAborted Stop = "aborted"
)

// A Response is a finished model call.
type Response struct {
	Message message.Message
	Stop    Stop
	Usage   message.Usage
}

// Kind sorts errors by what a caller can do about them.
type Kind string

// The kinds of error.
const (
	KindAuth        Kind = "auth"         // no credential, or a refused one
	KindRateLimit   Kind = "rate_limit"   // too much, too fast: try again at RetryAt
	KindOverflow    Kind = "overflow"     // the request is larger than the model's window
	KindBadRequest  Kind = "bad_request"  // the server refused the request as it stands
	KindNotFound    Kind = "not_found"    // no such model or endpoint
	KindUnavailable Kind = "unavailable"  // the server failed or could not be reached
	KindTruncated   Kind = "truncated"    // the stream ended before its end
	KindProtocol    Kind = "protocol"     // the server answered something else than was asked
	KindNoModel     Kind = "unconfigured" // no model is configured
)

// An Error says which provider and model failed, how, and what to do.
type Error struct {
	Provider string // empty where none was chosen yet
	Model    string
	Status   int    // HTTP status, 0 where none was received
	Kind     Kind   // never empty
	Message  string // the server's own words where it had any
	Remedy   string // what the user can do, a sentence without full stop
	RetryAt  time.Time
	Tool     string // the tool whose definition the server refused; or empty
	Err      error  // the cause, or nil
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider)
		if e.Model != "" {
			fmt.Fprintf(&b, " (%s)", e.Model)
		}
		b.WriteString(": ")
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, "HTTP %d: ", e.Status)
	}
	switch {
	case e.Message != "":
		b.WriteString(e.Message)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	default:
		b.WriteString(string(e.Kind))
	}
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

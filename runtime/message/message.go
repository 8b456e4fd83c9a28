// Package message holds the words of a transcript: a message, the blocks it is
// made of, and the usage a model reports. It knows no vendor, no wire and no
// file format; each of those translates to and from it.
package message

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says who a message is from.
type Role string

// The roles of a transcript. A system prompt is not a message: it travels
// beside the transcript.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	// Tool messages carry the results of the calls in the assistant message
	// before them, and nothing else.
	Tool Role = "tool"
)

// A Message is one entry of a transcript.
type Message struct {
	Role    Role
	Content []Block
	Time    time.Time
}

// A Block is one part of a message's content: [Text], [Image], [Reasoning],
// [ToolCall] or [ToolResult].
type Block interface{ block() }

// Text is prose.
type Text struct {
	Text string
	// Format is a display hint; "markdown" or empty for plain.
	Format string
}

// Image is a picture, its bytes not encoded.
type Image struct {
	MIMEType string
	Data     []byte
}

// Reasoning is what a model thought before it answered, in the form its
// provider wants to see again. Summary may be shown to a user.
type Reasoning struct {
	ID      string
	Summary string
	// Encrypted is the provider's opaque proof of the thought (a signature or
	// an encrypted copy), handed back unchanged.
	Encrypted string
}

// ToolCall is a model's request to run a tool. Args is always a valid JSON
// object: a call whose arguments could not be parsed carries them in ArgsRaw
// and has {} in Args, so that a transcript can always be replayed.
type ToolCall struct {
	ID      string
	Name    string
	Args    json.RawMessage
	ArgsRaw string
}

// ToolResult answers the ToolCall with the same id.
type ToolResult struct {
	CallID  string
	Content []Block
	IsError bool
	// Extension names the extension whose tool answered; empty for a built-in.
	Extension string
	// Changes says who changed the call on its way, for the user and never for
	// the model: "guard rewrote the arguments", one entry a change.
	Changes []string
	// Activated names the deferred tools that this result switched on.
	Activated []string
}

func (Text) block()       {}
func (Image) block()      {}
func (Reasoning) block()  {}
func (ToolCall) block()   {}
func (ToolResult) block() {}

// TextOf joins the text blocks of content with newlines.
func TextOf(content []Block) string {
	var parts []string
	for _, b := range content {
		if t, ok := b.(Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Text joins the message's text blocks with newlines.
func (m Message) Text() string { return TextOf(m.Content) }

// ToolCalls lists the calls of an assistant message, in order.
func (m Message) ToolCalls() []ToolCall {
	var calls []ToolCall
	for _, b := range m.Content {
		if c, ok := b.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Usage counts the tokens of one or more model calls. A provider that reports
// nothing leaves Known false, and the counts mean nothing then.
type Usage struct {
	Known      bool
	Input      int // tokens sent and not read from a cache
	Output     int // tokens generated, reasoning included
	Reasoning  int // the part of Output that was reasoning
	CacheRead  int
	CacheWrite int
	CostUSD    float64
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Known:      u.Known || v.Known,
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		CostUSD:    u.CostUSD + v.CostUSD,
	}
}

// Context is the number of tokens that the call occupied in the model's window.
func (u Usage) Context() int { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

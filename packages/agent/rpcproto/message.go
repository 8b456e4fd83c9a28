package rpcproto

import (
	"encoding/json"
	"time"
)

// Roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// A Message is one entry of the transcript. Time is RFC 3339, to the second.
type Message struct {
	Role    string    `json:"role"`
	Content []Block   `json:"content"`
	Time    time.Time `json:"time"`
}

// Types of a block.
const (
	BlockText       = "text"
	BlockImage      = "image"
	BlockToolCall   = "tool_call"
	BlockToolResult = "tool_result"
)

// A Block is one part of a message. Type tells which fields it has; see
// [Block.MarshalJSON].
type Block struct {
	Type string `json:"type"`

	Text   string `json:"text,omitempty"`
	Format string `json:"format,omitempty"` // "markdown", or absent

	MIMEType string `json:"mime_type,omitempty"`
	Bytes    int    `json:"bytes,omitempty"` // size of the image, not its data

	ID   string          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`

	CallID    string  `json:"call_id,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`
	Content   []Block `json:"content,omitempty"`
	Extension string  `json:"extension,omitempty"` // whose tool answered
}

// MarshalJSON writes the fields of the block's type, all of them, and no others.
func (b Block) MarshalJSON() ([]byte, error) {
	switch b.Type {
	case BlockText:
		return json.Marshal(struct {
			Type   string `json:"type"`
			Text   string `json:"text"`
			Format string `json:"format,omitempty"`
		}{b.Type, b.Text, b.Format})
	case BlockImage:
		return json.Marshal(struct {
			Type     string `json:"type"`
			MIMEType string `json:"mime_type"`
			Bytes    int    `json:"bytes"`
		}{b.Type, b.MIMEType, b.Bytes})
	case BlockToolCall:
		return json.Marshal(struct {
			Type string          `json:"type"`
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		}{b.Type, b.ID, b.Name, object(b.Args)})
	case BlockToolResult:
		return json.Marshal(struct {
			Type      string  `json:"type"`
			CallID    string  `json:"call_id"`
			IsError   bool    `json:"is_error"`
			Content   []Block `json:"content"`
			Extension string  `json:"extension,omitempty"`
		}{b.Type, b.CallID, b.IsError, list(b.Content), b.Extension})
	}
	type plain Block
	return json.Marshal(plain(b))
}

// object returns args, or an empty object in its place.
func object(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

// list returns s, or an empty list that JSON writes as [] and not as null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// request is the body of POST /messages.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Stream       bool          `json:"stream"`
	System       []block       `json:"system,omitempty"`
	Messages     []turn        `json:"messages"`
	Tools        []tool        `json:"tools,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
}

type turn struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a content block; Type says which fields it has.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []block         `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// request translates a request whose transcript was repaired.
func (c *Client) request(req model.Request) request {
	r := request{
		Model: req.Model, Stream: true, MaxTokens: c.maxTokens(req),
		Messages: turns(req.Messages), Tools: tools(req), Temperature: req.Temperature,
	}
	if strings.TrimSpace(req.System) != "" {
		r.System = []block{{Type: "text", Text: req.System}}
	}
	c.think(&r, req)
	r.cache()
	return r
}

func (c *Client) maxTokens(req model.Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	if c.opts.MaxTokens != nil {
		if n := c.opts.MaxTokens(req.Model); n > 0 {
			return min(n, 64000) // more only makes a runaway answer dearer
		}
	}
	return defaultMaxTokens
}

// tools are the definitions of a request, those activated last behind the
// others so that the cached beginning stays.
func tools(req model.Request) []tool {
	var out []tool
	for _, set := range [][]model.Tool{req.Tools, req.Deferred} {
		for _, t := range set {
			out = append(out, tool{Name: t.Name, Description: t.Description, InputSchema: schema(t.Schema)})
		}
	}
	return out
}

// schema returns s as the API accepts it: of type object.
func schema(s json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(s, &m) != nil || m == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if _, ok := m["type"]; ok {
		return s
	}
	m["type"] = json.RawMessage(`"object"`)
	fixed, err := json.Marshal(m)
	if err != nil {
		return s
	}
	return fixed
}

// turns translates the transcript. The API knows two roles, which alternate:
// results are the user's, and what follows on the same side is joined.
func turns(msgs []message.Message) []turn {
	var out []turn
	for _, m := range msgs {
		role, content := "user", userBlocks(m.Content)
		switch m.Role {
		case message.Assistant:
			role, content = "assistant", assistantBlocks(m.Content)
		case message.Tool:
			content = resultBlocks(m.Content)
		}
		if len(content) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, content...)
			continue
		}
		out = append(out, turn{role, content})
	}
	return out
}

// userBlocks translates text and images. A text without a letter is refused by
// the API, so it is left out.
func userBlocks(content []message.Block) []block {
	var out []block
	for _, b := range content {
		switch b := b.(type) {
		case message.Text:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, block{Type: "text", Text: b.Text})
			}
		case message.Image:
			out = append(out, block{Type: "image", Source: &source{"base64", b.MIMEType, base64.StdEncoding.EncodeToString(b.Data)}})
		}
	}
	return out
}

func resultBlocks(content []message.Block) []block {
	var out []block
	for _, b := range content {
		if r, ok := b.(message.ToolResult); ok {
			out = append(out, block{Type: "tool_result", ToolUseID: cleanID(r.CallID), Content: userBlocks(r.Content), IsError: r.IsError})
		}
	}
	return out
}

func assistantBlocks(content []message.Block) []block {
	var out []block
	for _, b := range content {
		switch b := b.(type) {
		case message.Text:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, block{Type: "text", Text: b.Text})
			}
		case message.Reasoning:
			if t, ok := thought(b); ok {
				out = append(out, t)
			}
		case message.ToolCall:
			out = append(out, block{Type: "tool_use", ID: cleanID(b.ID), Name: b.Name, Input: b.Args})
		}
	}
	return out
}

// The ids that our thoughts carry. Another provider's are not handed back: the
// API would refuse a signature that is not its own.
const (
	thinkingID = "anthropic/thinking"
	redactedID = "anthropic/redacted_thinking"
)

// thought translates reasoning that the API signed.
func thought(r message.Reasoning) (block, bool) {
	switch {
	case r.Encrypted == "":
		return block{}, false
	case r.ID == thinkingID:
		return block{Type: "thinking", Thinking: &r.Summary, Signature: r.Encrypted}, true
	case r.ID == redactedID:
		return block{Type: "redacted_thinking", Data: r.Encrypted}, true
	}
	return block{}, false
}

// cleanID replaces what the API does not allow in the id of a call, which may
// be another provider's.
func cleanID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// cache marks where the prompt is worth keeping: behind the system prompt
// (which comes after the tools), and behind the last two messages of the user,
// so that the next request finds what this one stored.
func (r *request) cache() {
	mark := &cacheControl{"ephemeral"}
	switch {
	case len(r.System) > 0:
		r.System[len(r.System)-1].CacheControl = mark
	case len(r.Tools) > 0:
		r.Tools[len(r.Tools)-1].CacheControl = mark
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if m := r.Messages[i]; m.Role == "user" {
			m.Content[len(m.Content)-1].CacheControl = mark
			left--
		}
	}
}

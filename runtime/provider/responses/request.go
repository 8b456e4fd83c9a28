package responses

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// request is the body of POST /responses.
type request struct {
	Model           string     `json:"model"`
	Stream          bool       `json:"stream"`
	Store           bool       `json:"store"`
	Instructions    string     `json:"instructions,omitempty"`
	Input           []item     `json:"input"`
	Tools           []tool     `json:"tools,omitempty"`
	Include         []string   `json:"include,omitempty"`
	Reasoning       *reasoning `json:"reasoning,omitempty"`
	Temperature     *float64   `json:"temperature,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// item is one of the input; Type says which fields it has.
type item struct {
	Type             string  `json:"type"`
	Role             string  `json:"role,omitempty"`
	Content          []part  `json:"content,omitempty"`
	CallID           string  `json:"call_id,omitempty"`
	Name             string  `json:"name,omitempty"`
	Arguments        string  `json:"arguments,omitempty"`
	Output           any     `json:"output,omitempty"` // a string, or []part where there are images
	ID               string  `json:"id,omitempty"`
	Summary          *[]part `json:"summary,omitempty"`
	EncryptedContent string  `json:"encrypted_content,omitempty"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

func (r request) toolNames() []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// request translates a request whose transcript was repaired.
func (c *Client) request(req model.Request) request {
	r := request{
		Model: req.Model, Stream: true, Instructions: req.System, Input: []item{},
		Temperature: req.Temperature, MaxOutputTokens: req.MaxTokens,
		Include: []string{"reasoning.encrypted_content"},
	}
	for _, set := range [][]model.Tool{req.Tools, req.Deferred} {
		for _, t := range set {
			r.Tools = append(r.Tools, tool{"function", t.Name, t.Description, parameters(t.Schema), false})
		}
	}
	for _, m := range req.Messages {
		r.Input = append(r.Input, items(m)...)
	}
	if effort := c.effort(req.Reasoning); effort != "" {
		r.Reasoning = &reasoning{Effort: effort, Summary: "auto"}
	}
	return r
}

// effort is the server's word for a level; empty sends none.
func (c *Client) effort(level string) string {
	if word, ok := c.opts.Levels[level]; ok {
		return word
	}
	switch level {
	case "off":
		return ""
	case "max":
		return "xhigh"
	}
	return level
}

// parameters returns a schema as the server accepts it: of type object, and
// with properties even where there are none.
func parameters(schema json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || s == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if s["type"] != nil && s["properties"] != nil {
		return schema
	}
	if s["type"] == nil {
		s["type"] = json.RawMessage(`"object"`)
	}
	if s["properties"] == nil {
		s["properties"] = json.RawMessage(`{}`)
	}
	fixed, err := json.Marshal(s)
	if err != nil {
		return schema
	}
	return fixed
}

// items translates one message.
func items(m message.Message) []item {
	switch m.Role {
	case message.Assistant:
		return assistantItems(m)
	case message.Tool:
		return resultItems(m)
	}
	return []item{{Type: "message", Role: "user", Content: parts(m.Content)}}
}

func parts(content []message.Block) []part {
	var out []part
	for _, b := range content {
		switch b := b.(type) {
		case message.Text:
			if b.Text != "" {
				out = append(out, part{Type: "input_text", Text: b.Text})
			}
		case message.Image:
			out = append(out, part{Type: "input_image", ImageURL: "data:" + b.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)})
		}
	}
	return out
}

func assistantItems(m message.Message) []item {
	var out []item
	for _, b := range m.Content {
		switch b := b.(type) {
		case message.Text:
			if b.Text != "" {
				out = append(out, item{Type: "message", Role: "assistant", Content: []part{{Type: "output_text", Text: b.Text}}})
			}
		case message.Reasoning:
			// Another provider's thought is not the server's to decrypt.
			if strings.HasPrefix(b.ID, reasoningID) && b.Encrypted != "" {
				summary := []part{}
				if b.Summary != "" {
					summary = append(summary, part{Type: "summary_text", Text: b.Summary})
				}
				out = append(out, item{Type: "reasoning", ID: b.ID, Summary: &summary, EncryptedContent: b.Encrypted})
			}
		case message.ToolCall:
			out = append(out, item{Type: "function_call", CallID: b.ID, Name: b.Name, Arguments: string(b.Args)})
		}
	}
	return dropLoneThought(out)
}

// dropLoneThought takes reasoning off the end of a message: the server wants
// to see what came of it, and there is nothing.
func dropLoneThought(items []item) []item {
	for len(items) > 0 && items[len(items)-1].Type == "reasoning" {
		items = items[:len(items)-1]
	}
	return items
}

// reasoningID is how the ids of the server's own reasoning begin.
const reasoningID = "rs_"

// resultItems translates a tool message: one item a result. The wire has no
// mark for a failed call, so the text says it.
func resultItems(m message.Message) []item {
	var out []item
	for _, b := range m.Content {
		r, ok := b.(message.ToolResult)
		if !ok {
			continue
		}
		out = append(out, item{Type: "function_call_output", CallID: r.CallID, Output: output(r)})
	}
	return out
}

func output(r message.ToolResult) any {
	text := message.TextOf(r.Content)
	if r.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	images := false
	list := []part{}
	if text != "" {
		list = append(list, part{Type: "input_text", Text: text})
	}
	for _, p := range parts(r.Content) {
		if p.Type == "input_image" {
			images = true
			list = append(list, p)
		}
	}
	switch {
	case images:
		return list
	case text == "":
		return "(no output)"
	}
	return text
}

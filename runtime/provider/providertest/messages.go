package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// messagesRequest is the body of POST /v1/messages.
type messagesRequest struct {
	Model     string          `json:"model"`
	Stream    bool            `json:"stream"`
	MaxTokens int             `json:"max_tokens"`
	System    json.RawMessage `json:"system"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	OutputConfig struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

func parseMessages(body []byte) (Request, error) {
	var m messagesRequest
	if err := json.Unmarshal(body, &m); err != nil {
		return Request{}, fmt.Errorf("the body is not JSON of a messages request: %w", err)
	}
	r := Request{Model: m.Model, Stream: m.Stream, MaxTokens: m.MaxTokens, Reasoning: m.OutputConfig.Effort}
	if m.Model == "" || m.MaxTokens <= 0 {
		return r, fmt.Errorf("the request names no model, or no max_tokens")
	}
	if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 {
		return r, fmt.Errorf("the request has %d cache marks, and 4 are allowed", n)
	}
	for i, t := range m.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if t.Name == "" || json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return r, fmt.Errorf("tools.%d.input_schema: %q needs a name and a schema of type object", i, t.Name)
		}
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, string(t.InputSchema)})
	}
	system, err := messagesContent(m.System)
	if err != nil {
		return r, err
	}
	for _, b := range system {
		r.System += b.Text
	}
	before := ""
	for i, msg := range m.Messages {
		if msg.Role == before || (i == 0 && msg.Role != "user") {
			return r, fmt.Errorf("message %d: roles must alternate, beginning with the user's", i)
		}
		before = msg.Role
		if err := r.addMessages(msg.Role, msg.Content); err != nil {
			return r, fmt.Errorf("message %d: %w", i, err)
		}
	}
	if len(r.Messages) == 0 {
		return r, fmt.Errorf("the request has no messages")
	}
	return r, sound(r.Messages)
}

// messagesContent reads content that is a string or a list of blocks.
func messagesContent(raw json.RawMessage) ([]messagesBlock, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []messagesBlock{{Type: "text", Text: s}}, nil
	}
	var blocks []messagesBlock
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, fmt.Errorf("content is neither a string nor a list of blocks: %s", raw)
	}
	return blocks, nil
}

// addMessages takes one message apart: results first, then what is left.
func (r *Request) addMessages(role string, raw json.RawMessage) error {
	blocks, err := messagesContent(raw)
	if err != nil {
		return err
	}
	out := Message{Role: role}
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				return fmt.Errorf("a text block is blank")
			}
			texts = append(texts, b.Text)
		case "image":
			img, err := b.image()
			if err != nil {
				return err
			}
			out.Images = append(out.Images, img)
		case "thinking":
			if b.Signature == "" {
				return fmt.Errorf("a thinking block has no signature")
			}
			out.Reasoning += b.Thinking
		case "redacted_thinking":
		case "tool_use":
			if !isObject(string(b.Input)) {
				return fmt.Errorf("the input of call %q is not an object: %s", b.ID, b.Input)
			}
			out.Calls = append(out.Calls, Call{b.ID, b.Name, string(b.Input)})
		case "tool_result":
			if len(texts) > 0 || role != "user" {
				return fmt.Errorf("the result of %q stands behind text, or is not the user's", b.ToolUseID)
			}
			res, err := b.result()
			if err != nil {
				return err
			}
			r.Messages = append(r.Messages, res)
		default:
			return fmt.Errorf("there is no block of type %q", b.Type)
		}
	}
	out.Text = strings.Join(texts, "\n")
	if out.Text != "" || out.Calls != nil || out.Images != nil {
		r.Messages = append(r.Messages, out)
	}
	return nil
}

func (b messagesBlock) image() (string, error) {
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	if err != nil || b.Source.Type != "base64" {
		return "", fmt.Errorf("the image is not in base64")
	}
	return fmt.Sprintf("%s, %d bytes", b.Source.MediaType, len(data)), nil
}

func (b messagesBlock) result() (Message, error) {
	m := Message{Role: "result", CallID: b.ToolUseID, IsError: b.IsError}
	blocks, err := messagesContent(b.Content)
	if err != nil {
		return m, err
	}
	var texts []string
	for _, c := range blocks {
		if c.Type == "image" {
			img, err := c.image()
			if err != nil {
				return m, err
			}
			m.Images = append(m.Images, img)
			continue
		}
		texts = append(texts, c.Text)
	}
	m.Text = strings.Join(texts, "\n")
	return m, nil
}

// messagesVoice speaks the Messages API.
type messagesVoice struct {
	re    *reply
	index int    // of the next block
	open  string // type of the open block; empty for none
}

func (v *messagesVoice) event(name string, data object) {
	data["type"] = name
	v.re.event(name, data)
}

func (v *messagesVoice) start() {
	msg := object{"id": fmt.Sprintf("msg_%d", v.re.n), "type": "message", "role": "assistant", "content": []any{}, "stop_reason": nil}
	v.event("message_start", object{"message": msg})
}

// block makes sure that a block of the type is open.
func (v *messagesVoice) block(kind string, content object) {
	if v.open == kind && kind != "tool_use" {
		return
	}
	v.close()
	content["type"] = kind
	v.event("content_block_start", object{"index": v.index, "content_block": content})
	v.open = kind
}

func (v *messagesVoice) close() {
	if v.open == "" {
		return
	}
	if v.open == "thinking" {
		v.delta(object{"type": "signature_delta", "signature": "sig-1"})
	}
	v.event("content_block_stop", object{"index": v.index})
	v.open = ""
	v.index++
}

func (v *messagesVoice) delta(d object) {
	v.event("content_block_delta", object{"index": v.index, "delta": d})
}

func (v *messagesVoice) text(s string) {
	v.block("text", object{"text": ""})
	v.delta(object{"type": "text_delta", "text": s})
}

func (v *messagesVoice) think(s string) {
	v.block("thinking", object{"thinking": "", "signature": ""})
	v.delta(object{"type": "thinking_delta", "thinking": s})
}

func (v *messagesVoice) calls(cs []Call) {
	for _, c := range cs {
		if v.re.has("whole-calls") && isObject(c.Args) {
			v.block("tool_use", object{"id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
			continue
		}
		v.block("tool_use", object{"id": c.ID, "name": c.Name, "input": object{}})
		for _, piece := range fragments(c.Args) {
			v.delta(object{"type": "input_json_delta", "partial_json": piece})
		}
	}
}

// messagesReasons translates the wire-free reasons.
var messagesReasons = map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}

func messagesReason(reason string) string {
	if r, ok := messagesReasons[reason]; ok {
		return r
	}
	return reason
}

func (v *messagesVoice) finish(reason string, u *Usage, done bool) {
	v.close()
	delta := object{}
	if reason != "none" {
		delta["stop_reason"] = messagesReason(reason)
	}
	data := object{"delta": delta}
	if u != nil {
		data["usage"] = messagesUsage(u)
	}
	v.event("message_delta", data)
	if done {
		v.event("message_stop", object{})
	}
}

func messagesUsage(u *Usage) object {
	return object{
		"input_tokens": u.Input - u.Cached - u.Written, "output_tokens": u.Output,
		"cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.Written,
	}
}

func (v *messagesVoice) fail(status int, code, msg string) {
	kind := code
	switch {
	case kind != "":
	case status >= 500:
		kind = "api_error"
	default:
		kind = "invalid_request_error"
	}
	v.event("error", object{"error": object{"type": kind, "message": msg}})
}

func (v *messagesVoice) whole(reason string, u *Usage) any {
	var content []object
	if thought := v.re.said("think"); thought != "" {
		content = append(content, object{"type": "thinking", "thinking": thought, "signature": "sig-1"})
	}
	if text := v.re.said("say", "repeat"); text != "" {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, c := range v.re.allCalls() {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	out := object{"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": messagesReason(reason)}
	if u != nil {
		out["usage"] = messagesUsage(u)
	}
	return out
}

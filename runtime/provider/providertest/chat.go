package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// chatRequest is the body of POST /v1/chat/completions.
type chatRequest struct {
	Model               string        `json:"model"`
	Stream              bool          `json:"stream"`
	Messages            []chatMessage `json:"messages"`
	Tools               []chatTool    `json:"tools"`
	ReasoningEffort     string        `json:"reasoning_effort"`
	MaxTokens           int           `json:"max_tokens"`
	MaxCompletionTokens int           `json:"max_completion_tokens"`
}

type chatMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        []chatCall      `json:"tool_calls"`
	ToolCallID       string          `json:"tool_call_id"`
	Tools            []chatTool      `json:"tools"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func parseChat(body []byte) (Request, error) {
	var c chatRequest
	if err := json.Unmarshal(body, &c); err != nil {
		return Request{}, fmt.Errorf("the body is not JSON of a chat request: %w", err)
	}
	r := Request{Model: c.Model, Stream: c.Stream, Reasoning: c.ReasoningEffort, MaxTokens: max(c.MaxTokens, c.MaxCompletionTokens)}
	if c.Model == "" {
		return r, fmt.Errorf("the request names no model")
	}
	var err error
	if r.Tools, err = chatTools(c.Tools); err != nil {
		return r, err
	}
	for i, m := range c.Messages {
		if err := r.addChat(m); err != nil {
			return r, fmt.Errorf("message %d: %w", i, err)
		}
	}
	if len(r.Messages) == 0 {
		return r, fmt.Errorf("the request has no messages")
	}
	return r, sound(r.Messages)
}

func (r *Request) addChat(m chatMessage) error {
	text, images, err := chatContent(m.Content)
	if err != nil {
		return err
	}
	out := Message{Role: m.Role, Text: text, Images: images, Reasoning: m.ReasoningContent}
	switch m.Role {
	case "system", "developer":
		if m.Tools != nil {
			if m.Content != nil {
				return fmt.Errorf("a declaration of tools must have no content key")
			}
			out.Role = "declare"
			if out.Tools, err = chatTools(m.Tools); err != nil {
				return err
			}
			break
		}
		if len(r.Messages) > 0 {
			return fmt.Errorf("a system message stands behind others")
		}
		r.System += text
		return nil
	case "user":
		if text == "" && images == nil {
			return fmt.Errorf("the user message is empty")
		}
	case "assistant":
		for _, c := range m.ToolCalls {
			if !isObject(c.Function.Arguments) {
				return fmt.Errorf("the arguments of call %q are not a JSON object: %s", c.ID, c.Function.Arguments)
			}
			if c.Type != "function" || c.Function.Name == "" {
				return fmt.Errorf("call %q has the type %q and the name %q", c.ID, c.Type, c.Function.Name)
			}
			out.Calls = append(out.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		if text == "" && out.Calls == nil {
			return fmt.Errorf("the assistant message has neither content nor tool_calls")
		}
	case "tool":
		if images != nil {
			return fmt.Errorf("a tool message cannot hold an image")
		}
		out.Role, out.CallID = "result", m.ToolCallID
	default:
		return fmt.Errorf("there is no role %q", m.Role)
	}
	r.Messages = append(r.Messages, out)
	return nil
}

func isObject(s string) bool {
	var m map[string]any
	return json.Unmarshal([]byte(s), &m) == nil && m != nil
}

func chatTools(tools []chatTool) ([]Tool, error) {
	var out []Tool
	seen := map[string]bool{}
	for i, t := range tools {
		name := t.Function.Name
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case t.Type != "function" || name == "":
			return nil, fmt.Errorf("tools[%d] has the type %q and the name %q", i, t.Type, name)
		case seen[name]:
			return nil, fmt.Errorf("the tool %q is declared twice", name)
		case json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object":
			return nil, fmt.Errorf("tools[%d].function.parameters: the schema of %q is not of type object: %s", i, name, t.Function.Parameters)
		}
		seen[name] = true
		out = append(out, Tool{name, t.Function.Description, string(t.Function.Parameters)})
	}
	return out, nil
}

// chatContent reads content that is missing, null, a string or a list of parts.
func chatContent(raw json.RawMessage) (text string, images []string, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil, nil
	}
	if raw[0] == '"' {
		return text, nil, json.Unmarshal(raw, &text)
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", nil, fmt.Errorf("content is neither a string nor a list of parts: %s", raw)
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "image_url":
			img, err := dataURL(p.ImageURL.URL)
			if err != nil {
				return "", nil, err
			}
			images = append(images, img)
		default:
			return "", nil, fmt.Errorf("there is no content part of type %q", p.Type)
		}
	}
	return strings.Join(texts, "\n"), images, nil
}

// dataURL describes an inline image.
func dataURL(u string) (string, error) {
	mime, data, ok := strings.Cut(strings.TrimPrefix(u, "data:"), ";base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil {
		return "", fmt.Errorf("the image is not a data URL in base64: %.40s", u)
	}
	return fmt.Sprintf("%s, %d bytes", mime, len(raw)), nil
}

// chatVoice speaks chat completions.
type chatVoice struct {
	re *reply
	n  int // events so far
}

type object = map[string]any

func (v *chatVoice) id() string {
	if v.re.has("changing-id") {
		return fmt.Sprintf("chatcmpl-%d-%d", v.re.n, v.n)
	}
	return fmt.Sprintf("chatcmpl-%d", v.re.n)
}

func (v *chatVoice) chunk(delta object, reason any) {
	v.n++
	c := object{"id": v.id(), "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}}}
	if v.re.has("error-null") {
		c["error"] = nil
	}
	if v.re.has("nulls") {
		v.nulls(delta)
	}
	v.re.event("", c)
}

// nulls fills a delta up with empty fields, and puts an event without choices
// before it.
func (v *chatVoice) nulls(delta object) {
	if _, ok := delta["content"]; !ok {
		delta["content"] = nil
	}
	if _, ok := delta["tool_calls"]; !ok {
		delta["tool_calls"] = []any{nil, []any{}}[v.n%2]
	}
	v.re.event("", object{"id": v.id(), "object": "chat.completion.chunk", "choices": []any{}, "usage": nil})
}

func (v *chatVoice) start() { v.chunk(object{"role": "assistant", "content": ""}, nil) }

func (v *chatVoice) text(s string) {
	if v.re.has("parts") {
		v.chunk(object{"content": []object{{"type": "text", "text": s}}}, nil)
		return
	}
	v.chunk(object{"content": s}, nil)
}

func (v *chatVoice) think(s string) {
	switch {
	case v.re.has("parts"):
		v.chunk(object{"content": []object{{"type": "thinking", "thinking": []object{{"type": "text", "text": s}}}}}, nil)
	case v.re.has("reasoning"):
		v.chunk(object{"reasoning": s}, nil)
	default:
		v.chunk(object{"reasoning_content": s}, nil)
	}
}

func (v *chatVoice) calls(cs []Call) {
	var queues [][]object
	for i, c := range cs {
		queues = append(queues, v.callDeltas(i, c))
	}
	if !v.re.has("interleave") {
		for _, q := range queues {
			for _, d := range q {
				v.chunk(object{"tool_calls": []object{d}}, nil)
			}
		}
		return
	}
	for left := true; left; {
		left = false
		for i, q := range queues {
			if len(q) > 0 {
				v.chunk(object{"tool_calls": []object{q[0]}}, nil)
				queues[i], left = q[1:], true
			}
		}
	}
}

// callDeltas are the pieces of the i-th call, as the quirks want them.
func (v *chatVoice) callDeltas(i int, c Call) []object {
	re := v.re
	index := func(d object) object {
		switch {
		case re.has("no-index"):
		case re.has("one-index"):
			d["index"] = 0
		case re.has("minus-index"):
			d["index"] = -1
		default:
			d["index"] = i
		}
		return d
	}
	head := index(object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}})
	if re.has("no-ids") {
		delete(head, "id")
	}
	if re.has("object-args") && isObject(c.Args) {
		head["function"] = object{"name": c.Name, "arguments": json.RawMessage(c.Args)}
		return []object{head}
	}
	if re.has("whole-calls") {
		head["function"] = object{"name": c.Name, "arguments": c.Args}
		return []object{head}
	}
	deltas := []object{head}
	for k, piece := range fragments(c.Args) {
		d := index(object{"function": object{"arguments": piece}})
		if re.has("fragment-ids") {
			d["id"] = fmt.Sprintf("%s-%d", c.ID, k)
		}
		deltas = append(deltas, d)
	}
	return deltas
}

func (v *chatVoice) finish(reason string, u *Usage, done bool) {
	if reason != "none" {
		v.chunk(object{}, reason)
	}
	if u != nil {
		v.re.event("", object{"id": v.id(), "object": "chat.completion.chunk", "choices": []any{}, "usage": chatUsage(u)})
	}
	if done {
		v.re.event("", "[DONE]")
	}
}

func chatUsage(u *Usage) object {
	out := object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached, "cache_write_tokens": u.Written},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
	if u.Cost != 0 {
		out["cost"] = u.Cost
	}
	return out
}

func (v *chatVoice) fail(status int, code, msg string) {
	e := object{"message": msg}
	if status != 0 {
		e["code"] = status
	}
	if code != "" {
		e["code"] = code
	}
	v.re.event("", object{"error": e})
}

func (v *chatVoice) whole(reason string, u *Usage) any {
	msg := object{"role": "assistant", "content": v.re.said("say", "repeat")}
	if thought := v.re.said("think"); thought != "" {
		msg["reasoning_content"] = thought
	}
	var calls []object
	for _, c := range v.re.allCalls() {
		calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	out := object{"id": v.id(), "object": "chat.completion", "created": 1700000000, "model": "fake",
		"choices": []object{{"index": 0, "message": msg, "finish_reason": reason}}}
	if u != nil {
		out["usage"] = chatUsage(u)
	}
	return out
}

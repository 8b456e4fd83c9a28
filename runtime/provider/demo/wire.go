package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// request is what is read of a chat completion request.
type request struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tool_calls"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// conversation reads off how far the script has come: the calls behind the
// last user message, if that message holds the prompt, with their results.
func (r request) conversation() conversation {
	var c conversation
	for _, t := range r.Tools {
		c.tools = append(c.tools, t.Function.Name)
	}
	at := make(map[string]int) // call id to step
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			c.prompt = strings.Contains(text(m.Content), Prompt)
			c.steps, at = nil, make(map[string]int)
		case "assistant":
			for _, call := range m.ToolCalls {
				at[call.ID] = len(c.steps)
				c.steps = append(c.steps, done{name: call.Function.Name})
			}
		case "tool":
			if i, ok := at[m.ToolCallID]; ok {
				c.steps[i].result = text(m.Content)
			}
		}
	}
	return c
}

// text reads content that is a string or a list of parts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // null, or parts without text, are no text
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// answer is a reply on the wire.
type answer struct {
	reply
	model string
	in    int // bytes of the request
}

// id of the call; the request's size makes it differ within a conversation.
func (a answer) callID() string { return fmt.Sprintf("demo_%d", a.in) }

func (a answer) finish() string {
	if a.tool != "" {
		return "tool_calls"
	}
	return "stop"
}

// usage is an estimate, four bytes to a token: there is no tokenizer here.
func (a answer) usage() object {
	thought := len(a.thought) / 4
	out := len(a.text)/4 + thought
	if a.tool != "" {
		out += len(encodeArgs(a.args)) / 4
	}
	return object{
		"prompt_tokens": a.in / 4, "completion_tokens": out, "total_tokens": a.in/4 + out,
		"completion_tokens_details": object{"reasoning_tokens": thought},
	}
}

// whole is the answer in one piece.
func (a answer) whole() object {
	msg := object{"role": "assistant", "content": a.text}
	if a.thought != "" {
		msg["reasoning_content"] = a.thought
	}
	if a.tool != "" {
		msg["tool_calls"] = []object{{"id": a.callID(), "type": "function", "function": object{"name": a.tool, "arguments": encodeArgs(a.args)}}}
	}
	return object{
		"id": "chatcmpl-demo", "object": "chat.completion", "model": a.model, "usage": a.usage(),
		"choices": []object{{"index": 0, "message": msg, "finish_reason": a.finish()}},
	}
}

// events are the data of the answer's events, word by word.
func (a answer) events() []string {
	var out []string
	add := func(delta object, finish any) {
		out = append(out, encodeArgs(object{
			"id": "chatcmpl-demo", "object": "chat.completion.chunk", "model": a.model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, w := range words(a.thought) {
		add(object{"reasoning_content": w}, nil)
	}
	for _, w := range words(a.text) {
		add(object{"content": w}, nil)
	}
	if a.tool != "" {
		call := object{"index": 0, "id": a.callID(), "type": "function", "function": object{"name": a.tool, "arguments": ""}}
		add(object{"tool_calls": []object{call}}, nil)
		for _, w := range words(encodeArgs(a.args)) {
			add(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": w}}}}, nil)
		}
	}
	add(object{}, a.finish())
	out = append(out, encodeArgs(object{"id": "chatcmpl-demo", "object": "chat.completion.chunk", "choices": []any{}, "usage": a.usage()}))
	return append(out, "[DONE]")
}

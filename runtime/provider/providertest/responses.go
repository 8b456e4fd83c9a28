package providertest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// responsesRequest is the body of POST /v1/responses.
type responsesRequest struct {
	Model           string          `json:"model"`
	Stream          bool            `json:"stream"`
	Store           bool            `json:"store"`
	Instructions    string          `json:"instructions"`
	Input           []responsesItem `json:"input"`
	MaxOutputTokens int             `json:"max_output_tokens"`
	Reasoning       struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
}

type responsesItem struct {
	Type             string          `json:"type"`
	Role             string          `json:"role"`
	Content          []responsesPart `json:"content"`
	CallID           string          `json:"call_id"`
	Name             string          `json:"name"`
	Arguments        string          `json:"arguments"`
	Output           json.RawMessage `json:"output"`
	Summary          []responsesPart `json:"summary"`
	EncryptedContent string          `json:"encrypted_content"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

func parseResponses(body []byte) (Request, error) {
	var q responsesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return Request{}, fmt.Errorf("the body is not JSON of a responses request: %w", err)
	}
	r := Request{Model: q.Model, Stream: q.Stream, System: q.Instructions, MaxTokens: q.MaxOutputTokens, Reasoning: q.Reasoning.Effort}
	if q.Model == "" || q.Store {
		return r, fmt.Errorf("the request names no model, or asks to be stored")
	}
	for i, t := range q.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if t.Type != "function" || t.Name == "" || json.Unmarshal(t.Parameters, &schema) != nil || schema.Type != "object" {
			return r, fmt.Errorf("tools[%d].parameters: %q needs a name and a schema of type object", i, t.Name)
		}
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, string(t.Parameters)})
	}
	open := false // the last message is an assistant's that further items join
	for i, item := range q.Input {
		var err error
		if open, err = r.addResponses(item, open); err != nil {
			return r, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	if len(r.Messages) == 0 {
		return r, fmt.Errorf("the request has no input")
	}
	return r, sound(r.Messages)
}

func (r *Request) addResponses(it responsesItem, open bool) (stillOpen bool, err error) {
	assistant := func() *Message {
		if !open {
			r.Messages = append(r.Messages, Message{Role: "assistant"})
		}
		return &r.Messages[len(r.Messages)-1]
	}
	switch {
	case it.Type == "message" && it.Role == "assistant":
		text, _, err := responsesParts(it.Content, "output_text")
		if err != nil || text == "" {
			return false, fmt.Errorf("an assistant message without text: %v", err)
		}
		assistant().Text += text
	case it.Type == "reasoning":
		if it.EncryptedContent == "" {
			return false, fmt.Errorf("reasoning without its encrypted content")
		}
		m := assistant()
		for _, p := range it.Summary {
			m.Reasoning += p.Text
		}
	case it.Type == "function_call":
		if !isObject(it.Arguments) {
			return false, fmt.Errorf("the arguments of call %q are not a JSON object: %s", it.CallID, it.Arguments)
		}
		m := assistant()
		m.Calls = append(m.Calls, Call{it.CallID, it.Name, it.Arguments})
	case it.Type == "function_call_output":
		m := Message{Role: "result", CallID: it.CallID}
		if json.Unmarshal(it.Output, &m.Text) != nil {
			var parts []responsesPart
			if err := json.Unmarshal(it.Output, &parts); err != nil {
				return false, err
			}
			if m.Text, m.Images, err = responsesParts(parts, "input_text"); err != nil {
				return false, err
			}
		}
		r.Messages = append(r.Messages, m)
		return false, nil
	case it.Type == "message" && it.Role == "user":
		m := Message{Role: "user"}
		if m.Text, m.Images, err = responsesParts(it.Content, "input_text"); err != nil {
			return false, err
		}
		r.Messages = append(r.Messages, m)
		return false, nil
	default:
		return false, fmt.Errorf("there is no item of type %q and role %q", it.Type, it.Role)
	}
	return true, nil
}

func responsesParts(parts []responsesPart, kind string) (text string, images []string, err error) {
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case kind:
			texts = append(texts, p.Text)
		case "input_image":
			img, err := dataURL(p.ImageURL)
			if err != nil {
				return "", nil, err
			}
			images = append(images, img)
		default:
			return "", nil, fmt.Errorf("there is no part of type %q here", p.Type)
		}
	}
	return strings.Join(texts, "\n"), images, nil
}

// responsesVoice speaks the Responses API.
type responsesVoice struct {
	re    *reply
	index int
	open  string // type of the open item; empty for none
	said  string // of the open item
	items []object
}

func (v *responsesVoice) event(name string, data object) {
	data["type"] = name
	v.re.event(name, data)
}

func (v *responsesVoice) start() {
	v.event("response.created", object{"response": object{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}}})
}

// item makes sure that an item of the type is open.
func (v *responsesVoice) item(kind string, data object) {
	if v.open == kind {
		return
	}
	v.close()
	data["type"] = kind
	data["id"] = v.id(kind)
	v.event("response.output_item.added", object{"output_index": v.index, "item": data})
	v.open, v.said = kind, ""
}

func (v *responsesVoice) id(kind string) string {
	prefix := map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc"}[kind]
	return fmt.Sprintf("%s_%d_%d", prefix, v.re.n, v.index)
}

func (v *responsesVoice) close() {
	done := object{"type": v.open, "id": v.id(v.open)}
	switch v.open {
	case "":
		return
	case "message":
		done["content"] = []object{{"type": "output_text", "text": v.said}}
	case "reasoning":
		done["summary"] = []object{{"type": "summary_text", "text": v.said}}
		done["encrypted_content"] = "enc-1"
	}
	v.done(done)
}

func (v *responsesVoice) done(item object) {
	v.event("response.output_item.done", object{"output_index": v.index, "item": item})
	v.items = append(v.items, item)
	v.open = ""
	v.index++
}

func (v *responsesVoice) text(s string) {
	v.item("message", object{"role": "assistant", "content": []any{}})
	v.said += s
	v.event("response.output_text.delta", object{"output_index": v.index, "content_index": 0, "delta": s})
}

func (v *responsesVoice) think(s string) {
	v.item("reasoning", object{"summary": []any{}})
	v.said += s
	v.event("response.reasoning_summary_text.delta", object{"output_index": v.index, "summary_index": 0, "delta": s})
}

func (v *responsesVoice) calls(cs []Call) {
	for _, c := range cs {
		v.close()
		item := object{"type": "function_call", "id": v.id("function_call"), "call_id": c.ID, "name": c.Name, "arguments": ""}
		v.event("response.output_item.added", object{"output_index": v.index, "item": item})
		if !v.re.has("whole-calls") {
			for _, piece := range fragments(c.Args) {
				v.event("response.function_call_arguments.delta", object{"output_index": v.index, "delta": piece})
			}
		}
		if v.ending() {
			return // a call that the script cuts off here is never done
		}
		v.done(object{"type": "function_call", "id": item["id"], "call_id": c.ID, "name": c.Name, "arguments": c.Args})
	}
}

// ending reports whether the turn breaks off or runs out behind its calls.
func (v *responsesVoice) ending() bool {
	steps := v.re.turn.Steps
	last := steps[len(steps)-1].Verb
	return last == "cut" || last == "end"
}

func (v *responsesVoice) finish(reason string, u *Usage, done bool) {
	v.close()
	if done && reason != "none" {
		r := v.response(reason, u)
		v.event("response."+r["status"].(string), object{"response": r})
	}
}

func (v *responsesVoice) response(reason string, u *Usage) object {
	r := object{"id": "resp_1", "object": "response", "status": "completed", "output": v.items, "error": nil, "incomplete_details": nil}
	switch reason {
	case "length":
		r["status"], r["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case "content_filter":
		r["status"], r["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	case "failed":
		r["status"], r["error"] = "failed", object{"code": "server_error", "message": "the script failed"}
	}
	if u != nil {
		r["usage"] = object{
			"input_tokens": u.Input, "output_tokens": u.Output,
			"input_tokens_details":  object{"cached_tokens": u.Cached, "cache_write_tokens": u.Written},
			"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		}
	}
	return r
}

func (v *responsesVoice) fail(status int, code, msg string) {
	if code == "" && status >= 500 {
		code = "server_error"
	}
	v.event("error", object{"code": code, "message": msg, "param": nil})
}

func (v *responsesVoice) whole(reason string, u *Usage) any {
	if thought := v.re.said("think"); thought != "" {
		v.items = append(v.items, object{"type": "reasoning", "id": "rs_1", "summary": []object{{"type": "summary_text", "text": thought}}, "encrypted_content": "enc-1"})
	}
	if text := v.re.said("say", "repeat"); text != "" {
		v.items = append(v.items, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": text}}})
	}
	for _, c := range v.re.allCalls() {
		v.items = append(v.items, object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Args})
	}
	return v.response(reason, u)
}

package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/provider/answer"
)

// chunk is one event of the stream, with the fields that are used and the
// names that the various servers give them. It is decoded with encoding/json:
// the library's own type cannot hold the foreign fields, and costs several
// times as much.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	XGroq   *groq           `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
	Object  loose           `json:"object"`
}

type groq struct {
	Usage *usage `json:"usage"`
}

type choice struct {
	Delta        *delta `json:"delta"`
	Message      *delta `json:"message"` // a whole answer has this instead
	FinishReason loose  `json:"finish_reason"`
	Usage        *usage `json:"usage"` // Moonshot puts it here
}

type delta struct {
	Content          content   `json:"content"`
	ReasoningContent loose     `json:"reasoning_content"` // DeepSeek, Moonshot, vLLM, llama.cpp
	Reasoning        loose     `json:"reasoning"`         // OpenRouter, Groq, Ollama
	Refusal          loose     `json:"refusal"`
	ToolCalls        []call    `json:"tool_calls"`
	FunctionCall     *function `json:"function_call"`
}

type call struct {
	Index    *int     `json:"index"`
	ID       loose    `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      loose `json:"name"`
	Arguments loose `json:"arguments"`
}

// fails reports whether the event is an error. Some servers put "error": null
// into every event, and some an empty object.
func (c *chunk) fails() bool {
	switch string(bytes.TrimSpace(c.Error)) {
	case "":
		return c.Object == "error"
	case "null", "{}", `""`, "false":
		return false
	}
	return true
}

func (c *chunk) usage() *usage {
	switch {
	case c.Usage != nil:
		return c.Usage
	case c.XGroq != nil && c.XGroq.Usage != nil:
		return c.XGroq.Usage
	case len(c.Choices) > 0:
		return c.Choices[0].Usage
	}
	return nil
}

// thought is the reasoning of a delta. A server that gives it under both names
// repeats itself.
func (d *delta) thought() string {
	if d.ReasoningContent != "" {
		return string(d.ReasoningContent)
	}
	if d.Reasoning != "" {
		return string(d.Reasoning)
	}
	return d.Content.thinking
}

func (c *call) fragment() answer.Fragment {
	f := answer.Fragment{Index: answer.NoIndex, ID: string(c.ID), Name: string(c.Function.Name), Args: string(c.Function.Arguments)}
	if c.Index != nil {
		f.Index = *c.Index
	}
	return f
}

// loose is a string that may come as another type: null is empty, anything
// else its JSON text (arguments that are an object, an id that is a number).
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '"':
		return json.Unmarshal(data, (*string)(l))
	case string(data) == "null":
		return nil
	}
	*l = loose(data)
	return nil
}

// content is a string, or a list of parts as Mistral's reasoning models send.
type content struct{ text, thinking string }

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(data, &parts) != nil {
		return nil
	}
	var text, thinking strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
		var inner content
		if len(p.Thinking) > 0 && json.Unmarshal(p.Thinking, &inner) == nil {
			thinking.WriteString(inner.text)
		}
	}
	c.text, c.thinking = text.String(), thinking.String()
	return nil
}

// usage counts as the servers do; numbers may be fractional or missing.
type usage struct {
	PromptTokens     float64  `json:"prompt_tokens"`
	CompletionTokens float64  `json:"completion_tokens"`
	Cost             float64  `json:"cost"`                    // OpenRouter
	PromptCacheHit   float64  `json:"prompt_cache_hit_tokens"` // DeepSeek
	CachedTokens     float64  `json:"cached_tokens"`           // Moonshot
	Prompt           *details `json:"prompt_tokens_details"`
	Completion       *details `json:"completion_tokens_details"`
}

type details struct {
	Cached     float64 `json:"cached_tokens"`
	CacheWrite float64 `json:"cache_write_tokens"`
	Reasoning  float64 `json:"reasoning_tokens"`
}

// tokens translates to our counting, in which Input excludes what was cached
// and Output includes what was reasoned. xAI leaves the reasoning out.
func (u *usage) tokens() message.Usage {
	var p, c details
	if u.Prompt != nil {
		p = *u.Prompt
	}
	if u.Completion != nil {
		c = *u.Completion
	}
	read := max(p.Cached, u.PromptCacheHit, u.CachedTokens)
	out := u.CompletionTokens
	if c.Reasoning > out {
		out += c.Reasoning
	}
	return message.Usage{
		Known:      u.PromptTokens > 0 || out > 0,
		Input:      int(max(0, u.PromptTokens-read-p.CacheWrite)),
		Output:     int(out),
		Reasoning:  int(c.Reasoning),
		CacheRead:  int(read),
		CacheWrite: int(p.CacheWrite),
		CostUSD:    u.Cost,
	}
}

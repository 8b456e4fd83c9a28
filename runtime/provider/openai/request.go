package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go"
	"github.com/openai/openai-go/packages/param"
	"github.com/openai/openai-go/shared"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// params translates a request whose transcript was repaired.
func (c *Client) params(req model.Request) sdk.ChatCompletionNewParams {
	placed := c.placeTools(req)
	p := sdk.ChatCompletionNewParams{Model: req.Model, Messages: c.messages(req, placed), Tools: toolParams(placed.top)}
	if !c.noStreamOptions.Load() {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if req.Temperature != nil {
		p.Temperature = param.NewOpt(*req.Temperature)
	}
	if req.MaxTokens > 0 {
		c.limit(&p, int64(req.MaxTokens))
	}
	c.effort(&p, req.Reasoning)
	return p
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// maxTokensField is the name of the field that bounds the answer.
func (c *Client) maxTokensField() string {
	if (c.opts.Dialect.MaxTokens == maxCompletionTokens) != c.swapMaxTokens.Load() {
		return maxCompletionTokens
	}
	return maxTokens
}

func (c *Client) limit(p *sdk.ChatCompletionNewParams, n int64) {
	if c.maxTokensField() == maxCompletionTokens {
		p.MaxCompletionTokens = param.NewOpt(n)
	} else {
		p.MaxTokens = param.NewOpt(n)
	}
}

func (c *Client) effort(p *sdk.ChatCompletionNewParams, reasoning string) {
	if reasoning == "" {
		return
	}
	level := c.opts.Dialect.level(reasoning)
	switch c.opts.Dialect.Effort {
	case EffortField:
		p.ReasoningEffort = shared.ReasoningEffort(level)
	case EffortObject:
		r := map[string]any{"effort": level}
		if level == "" {
			r = map[string]any{"enabled": false}
		}
		p.SetExtraFields(map[string]any{"reasoning": r})
	}
}

// messages translates the transcript, which is sound, and puts the deferred
// tools where they belong.
func (c *Client) messages(req model.Request, placed *placement) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	if req.System != "" {
		out = append(out, sdk.SystemMessage(req.System))
	}
	for _, m := range req.Messages {
		switch m.Role {
		case message.Assistant:
			out = append(out, c.assistant(m))
		case message.Tool:
			out = append(out, results(m)...)
			if tools := placed.take(m); len(tools) > 0 {
				out = append(out, declaration(tools))
			}
			if mirror, ok := imagesOf(m); ok {
				out = append(out, mirror)
			}
		default:
			out = append(out, user(m.Content))
		}
	}
	return out
}

// user translates content to a plain string where it can: many compatible
// servers know nothing else.
func user(content []message.Block) sdk.ChatCompletionMessageParamUnion {
	images := false
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, b := range content {
		switch b := b.(type) {
		case message.Text:
			parts = append(parts, sdk.TextContentPart(b.Text))
		case message.Image:
			images = true
			parts = append(parts, image(b))
		}
	}
	if !images {
		return sdk.UserMessage(message.TextOf(content))
	}
	return sdk.UserMessage(parts)
}

func image(b message.Image) sdk.ChatCompletionContentPartUnionParam {
	url := "data:" + b.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: url})
}

func (c *Client) assistant(m message.Message) sdk.ChatCompletionMessageParamUnion {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	if text := m.Text(); text != "" {
		a.Content.OfString = param.NewOpt(text)
	}
	for _, call := range m.ToolCalls() {
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallParam{
			ID:       call.ID,
			Function: sdk.ChatCompletionMessageToolCallFunctionParam{Name: call.Name, Arguments: string(call.Args)},
		})
	}
	if field := c.opts.Dialect.ReasoningField; field != "" {
		if thought := reasoningOf(m); thought != "" {
			a.SetExtraFields(map[string]any{field: thought})
		}
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: a}
}

func reasoningOf(m message.Message) string {
	var parts []string
	for _, b := range m.Content {
		if r, ok := b.(message.Reasoning); ok && r.Summary != "" {
			parts = append(parts, r.Summary)
		}
	}
	return strings.Join(parts, "\n")
}

// results translates a tool message: one message a result. The wire has no
// mark for a failed call, so the text says it.
func results(m message.Message) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	for _, b := range m.Content {
		if r, ok := b.(message.ToolResult); ok {
			out = append(out, sdk.ToolMessage(resultText(r), r.CallID))
		}
	}
	return out
}

func resultText(r message.ToolResult) string {
	text := message.TextOf(r.Content)
	switch {
	case text == "" && hasImage(r.Content):
		text = "(the image follows in the next message)"
	case text == "":
		text = "(no output)"
	}
	if r.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	return text
}

func hasImage(content []message.Block) bool {
	for _, b := range content {
		if _, ok := b.(message.Image); ok {
			return true
		}
	}
	return false
}

// imagesOf returns a user message with the images of a tool message, which the
// wire cannot carry in a result. Each is introduced by the id of its call.
func imagesOf(m message.Message) (sdk.ChatCompletionMessageParamUnion, bool) {
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, b := range m.Content {
		r, ok := b.(message.ToolResult)
		if !ok || !hasImage(r.Content) {
			continue
		}
		parts = append(parts, sdk.TextContentPart("Images in the result of the call "+r.CallID+":"))
		for _, rb := range r.Content {
			if img, ok := rb.(message.Image); ok {
				parts = append(parts, image(img))
			}
		}
	}
	return sdk.UserMessage(parts), len(parts) > 0
}

// toolParam is a tool definition on the wire. It is written here and not with
// the library's type, which would sort the keys of the schema.
type toolParam struct {
	Type     string       `json:"type"`
	Function functionSpec `json:"function"`
}

type functionSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func wireTools(tools []model.Tool) []toolParam {
	out := make([]toolParam, len(tools))
	for i, t := range tools {
		out[i] = toolParam{"function", functionSpec{t.Name, t.Description, parameters(t.Schema)}}
	}
	return out
}

func toolParams(tools []model.Tool) []sdk.ChatCompletionToolParam {
	var out []sdk.ChatCompletionToolParam
	for _, t := range wireTools(tools) {
		out = append(out, param.Override[sdk.ChatCompletionToolParam](t))
	}
	return out
}

// parameters returns a schema as servers accept it: of type object, and with
// properties even where there are none.
func parameters(schema json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || s == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	_, typed := s["type"]
	_, listed := s["properties"]
	if typed && listed {
		return schema
	}
	if !typed {
		s["type"] = json.RawMessage(`"object"`)
	}
	if !listed {
		s["properties"] = json.RawMessage(`{}`)
	}
	fixed, err := json.Marshal(s)
	if err != nil {
		return schema
	}
	return fixed
}

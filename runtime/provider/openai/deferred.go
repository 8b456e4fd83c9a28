package openai

import (
	sdk "github.com/openai/openai-go"
	"github.com/openai/openai-go/packages/param"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// A placement says where each tool of a request is declared: at the top, or
// behind the tool message in which a result first activated it. It depends on
// the transcript alone, so that later requests declare it at the same place.
type placement struct {
	top      []model.Tool
	deferred map[string]model.Tool // by name; those not placed yet
}

func (c *Client) placeTools(req model.Request) *placement {
	p := &placement{top: append([]model.Tool(nil), req.Tools...)}
	if !c.opts.Dialect.DeferredInPlace {
		p.top = append(p.top, req.Deferred...)
		return p
	}
	p.deferred = make(map[string]model.Tool)
	named := activated(req.Messages)
	for _, t := range req.Deferred {
		if named[t.Name] {
			p.deferred[t.Name] = t
		} else {
			// The result that named it is no longer in the transcript.
			p.top = append(p.top, t)
		}
	}
	return p
}

// activated is the set of the tools that some result names.
func activated(msgs []message.Message) map[string]bool {
	named := make(map[string]bool)
	for _, m := range msgs {
		for _, b := range m.Content {
			if r, ok := b.(message.ToolResult); ok {
				for _, name := range r.Activated {
					named[name] = true
				}
			}
		}
	}
	return named
}

// take returns the tools to declare behind the tool message m, in the order in
// which its results name them. Messages must be given in their order: a tool
// is declared behind the first that names it.
func (p *placement) take(m message.Message) []model.Tool {
	var tools []model.Tool
	for _, b := range m.Content {
		r, ok := b.(message.ToolResult)
		if !ok {
			continue
		}
		for _, name := range r.Activated {
			if t, ok := p.deferred[name]; ok {
				delete(p.deferred, name)
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// declaration is the message that makes tools available from its position on:
// a system message with tools and, by the format's rule, no content at all.
func declaration(tools []model.Tool) sdk.ChatCompletionMessageParamUnion {
	msg := param.Override[sdk.ChatCompletionSystemMessageParam](struct {
		Role  string      `json:"role"`
		Tools []toolParam `json:"tools"`
	}{"system", wireTools(tools)})
	return sdk.ChatCompletionMessageParamUnion{OfSystem: &msg}
}

func toolNames(tools []model.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

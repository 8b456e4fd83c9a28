package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// An Outcome is what an extension's command asks the face to do; exactly one
// of its parts is set, or none. What the host can do by itself it has done: a
// panel is open, a display is reported.
type Outcome struct {
	Extension string
	Prompt    string // to be submitted as the user's message
	Insert    string // to be put into the editor
	Display   string // was reported as event.ExtDisplay
	Panel     bool   // a panel was opened
}

// RunCommand runs a slash command of an extension. An error carries what the
// user should read; it is extension.ErrUnknownCommand (wrapped) for a name that
// nobody owns.
func (h *Host) RunCommand(ctx context.Context, name, args string) (Outcome, error) {
	ext, resp, err := h.manager.RunCommand(ctx, name, args)
	o := Outcome{Extension: ext}
	switch {
	case errors.Is(err, extension.ErrUnknownCommand):
		return o, err
	case err != nil:
		return o, fmt.Errorf("extension /%s: %w", name, err)
	case resp.Error != "":
		return o, fmt.Errorf("extension /%s: %s", name, resp.Error)
	}
	switch resp.Action {
	case extproto.ActionPrompt:
		o.Prompt = strings.TrimSpace(resp.Prompt)
	case extproto.ActionInsert:
		o.Insert = resp.Insert
	case extproto.ActionDisplay:
		o.Display = resp.Display
		h.bus.Publish(event.ExtDisplay{Extension: ext, Text: resp.Display})
	case extproto.ActionOpenPanel:
		if resp.OpenPanel == nil {
			return o, fmt.Errorf("extension /%s: it asked to open a panel and sent none", name)
		}
		o.Panel = true
	case extproto.ActionToolPrompt:
		return o, h.toolPrompt(ctx, name, resp, &o)
	case extproto.ActionNoop:
	default:
		return o, fmt.Errorf("extension /%s: unknown action %q", name, resp.Action)
	}
	return o, nil
}

// toolPrompt runs a tool on the user's account and hands its result to the
// model with the prompt.
func (h *Host) toolPrompt(ctx context.Context, name string, resp extproto.CommandResponse, o *Outcome) error {
	if strings.TrimSpace(resp.Prompt) == "" || resp.ToolName == "" {
		return fmt.Errorf("extension /%s: tool_prompt needs tool_name and prompt", name)
	}
	args, err := object(resp.ToolArgs)
	if err != nil {
		return fmt.Errorf("extension /%s: tool_args: %w", name, err)
	}
	r, err := h.agent.Call(ctx, tool.Call{ID: "cmd-" + rand.Text(), Name: resp.ToolName, Args: args})
	if err != nil {
		return err
	}
	o.Prompt = fmt.Sprintf("%s\n\nResult of %s %s:\n%s", strings.TrimSpace(resp.Prompt), resp.ToolName, args, message.TextOf(r.Content))
	return nil
}

// object returns the arguments of a call, {} where there are none.
func object(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 || string(args) == "null" {
		return json.RawMessage("{}"), nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return nil, fmt.Errorf("they must be a JSON object, not %.80s", args)
	}
	return args, nil
}

package ext

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

type command struct {
	name, description string
	handler           func(context.Context, string) Response
}

func (c *command) frame() extproto.Frame {
	return extproto.RegisterCommand{Name: c.name, Description: c.description}
}

// A Response says what zot is to do after a command. Build it with [Prompt],
// [Insert], [Display], [OpenPanel], [ToolPrompt], [Noop] or [Errorf].
type Response struct {
	// Action is "prompt", "insert", "display", "open_panel", "tool_prompt" or
	// "noop"; empty means noop. The field of that name goes with it.
	Action    string
	Prompt    string
	Insert    string
	Display   string
	OpenPanel *Panel
	ToolName  string
	ToolArgs  json.RawMessage
	// Error, if not empty, is shown in red and nothing else is done.
	Error string
}

// Prompt submits text as the user's next prompt.
func Prompt(text string) Response { return Response{Action: extproto.ActionPrompt, Prompt: text} }

// Insert writes text where the cursor is; the user goes on from there.
func Insert(text string) Response { return Response{Action: extproto.ActionInsert, Insert: text} }

// Display shows text as a note. The model does not see it.
func Display(text string) Response { return Response{Action: extproto.ActionDisplay, Display: text} }

// Noop does nothing: the handler has done, or started, what there is to do.
func Noop() Response { return Response{Action: extproto.ActionNoop} }

// Errorf reports a failure to the user.
func Errorf(format string, args ...any) Response {
	return Response{Action: extproto.ActionNoop, Error: fmt.Sprintf(format, args...)}
}

// OpenPanel opens a panel. See [Extension.OnPanelKey] for its keys.
func OpenPanel(id, title string, lines []string, footer string) Response {
	return Response{Action: extproto.ActionOpenPanel,
		OpenPanel: &Panel{ID: id, Title: title, Lines: lines, Footer: footer}}
}

// ToolPrompt has zot run the tool name with args, which must encode as a JSON
// object, put call and result into the transcript, and prompt the model with
// text. A mistake in these gives an error response.
func ToolPrompt(name string, args any, text string) Response {
	raw, err := object(args)
	switch {
	case name == "":
		return Errorf("tool_prompt: no tool is named")
	case text == "":
		return Errorf("tool_prompt %q: there is no prompt text", name)
	case err != nil:
		return Errorf("tool_prompt %q: %v", name, err)
	}
	return Response{Action: extproto.ActionToolPrompt, ToolName: name, ToolArgs: raw, Prompt: text}
}

// object encodes args, nil as {}, and refuses all that is not a JSON object.
func object(args any) (json.RawMessage, error) {
	if args == nil {
		return json.RawMessage(`{}`), nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("encoding arguments: %w", err)
	}
	if !isObject(raw) {
		return nil, fmt.Errorf("arguments are not a JSON object: %.40s", raw)
	}
	return raw, nil
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}

func (r Response) frame(id string) extproto.CommandResponse {
	f := extproto.CommandResponse{ID: id, Action: r.Action, Prompt: r.Prompt, Insert: r.Insert,
		Display: r.Display, ToolName: r.ToolName, ToolArgs: r.ToolArgs, Error: r.Error}
	if f.Action == "" {
		f.Action = extproto.ActionNoop
	}
	if r.OpenPanel != nil {
		p := extproto.Panel(*r.OpenPanel)
		f.OpenPanel = &p
	}
	return f
}

package extproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Frame is one of the frame structs of this package, by value.
type Frame interface {
	// FrameType is the wire word of the frame's type.
	FrameType() string
}

// UnknownTypeError says that a frame is well formed and of no known type.
type UnknownTypeError struct{ Type string }

func (e *UnknownTypeError) Error() string { return fmt.Sprintf("unknown frame type %q", e.Type) }

// ErrNotFrame is wrapped by the errors for lines that are no frame at all: not
// JSON, not an object, or without a type.
var ErrNotFrame = errors.New("not a frame")

// Head holds the fields by which a frame is sorted before it is decoded.
type Head struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Peek reads type and id of a line. It does not read further than that where
// the two stand first, as both sides write them; that the rest is JSON shows
// when the frame is decoded.
func Peek(line []byte) (Head, error) {
	if h, ok := peekFast(line); ok {
		return h, nil
	}
	return peekSlow(line)
}

// peekFast reads `{"type":"word"` and, where it comes next, `,"id":"word"`.
// Anything else is left to the parser.
func peekFast(line []byte) (Head, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return Head{}, false
	}
	typ, rest, ok := plainString(rest)
	if !ok || typ == "" || len(rest) == 0 {
		return Head{}, false
	}
	if rest[0] == '}' {
		return Head{Type: typ}, len(rest) == 1
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`,"id":"`))
	if !ok {
		return Head{}, false // the id may stand further back
	}
	id, _, ok := plainString(rest)
	return Head{Type: typ, ID: id}, ok
}

// plainString reads up to the closing quote of a string that has no escapes.
func plainString(b []byte) (s string, rest []byte, ok bool) {
	i := bytes.IndexByte(b, '"')
	if i < 0 || bytes.IndexByte(b[:i], '\\') >= 0 {
		return "", nil, false
	}
	return string(b[:i]), b[i+1:], true
}

func peekSlow(line []byte) (Head, error) {
	trimmed := bytes.TrimLeft(line, " \t")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return Head{}, fmt.Errorf("%w: not a JSON object", ErrNotFrame)
	}
	var h struct {
		Type string          `json:"type"`
		ID   json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return Head{}, fmt.Errorf("%w: %v", ErrNotFrame, err)
	}
	head := Head{Type: h.Type}
	if len(h.ID) > 0 && h.ID[0] == '"' {
		if err := json.Unmarshal(h.ID, &head.ID); err != nil {
			return Head{}, fmt.Errorf("%w: %v", ErrNotFrame, err)
		}
	} else if len(h.ID) > 0 && string(h.ID) != "null" {
		head.ID = string(h.ID) // a number, as some write it
	}
	if head.Type == "" {
		return Head{}, fmt.Errorf("%w: no type", ErrNotFrame)
	}
	return head, nil
}

// Encode returns the frame as one line without its terminator. The type comes
// first.
func Encode(f Frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", f.FrameType(), err)
	}
	line := make([]byte, 0, len(body)+len(f.FrameType())+12)
	line = append(line, `{"type":"`...)
	line = append(line, f.FrameType()...)
	line = append(line, '"')
	if len(body) > 2 {
		line = append(line, ',')
	}
	return append(line, body[1:]...), nil
}

// DecodeFromExtension decodes a line that an extension wrote.
func DecodeFromExtension(line []byte) (Frame, error) { return decode(line, fromExtension) }

// DecodeFromHost decodes a line that the host wrote.
func DecodeFromHost(line []byte) (Frame, error) { return decode(line, fromHost) }

// A decoder turns a line of one type into its frame.
type decoder func(line []byte) (Frame, error)

func decode(line []byte, table map[string]decoder) (Frame, error) {
	head, err := Peek(line)
	if err != nil {
		return nil, err
	}
	d, ok := table[head.Type]
	if !ok {
		return nil, &UnknownTypeError{Type: head.Type}
	}
	f, err := d(line)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", head.Type, err)
	}
	return f, nil
}

func as[F Frame](line []byte) (Frame, error) {
	var f F
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, err
	}
	return f, nil
}

var fromExtension = map[string]decoder{
	"hello":                    as[Hello],
	"register_command":         as[RegisterCommand],
	"register_tool":            as[RegisterTool],
	"ready":                    as[Ready],
	"subscribe":                as[Subscribe],
	"tool_result":              as[ToolResult],
	"event_intercept_response": as[EventInterceptResponse],
	"command_response":         as[CommandResponse],
	"submit":                   as[Submit],
	"submit_slash":             as[SubmitSlash],
	"open_panel":               as[OpenPanel],
	"panel_render":             as[PanelRender],
	"panel_close":              as[PanelClose],
	"notify":                   as[Notify],
	"clear_notes":              as[ClearNotes],
	"call_tool":                as[CallTool],
	"call_tool_cancel":         as[CallToolCancel],
	"request":                  as[Request],
	"shutdown_ack":             as[ShutdownAck],
}

var fromHost = map[string]decoder{
	"hello_ack":       as[HelloAck],
	"command_invoked": as[CommandInvoked],
	"tool_call":       as[ToolCall],
	"tool_cancel":     as[ToolCancel],
	"tool_result":     as[ToolResult],
	"event":           as[Event],
	"event_intercept": as[EventIntercept],
	"panel_key":       as[PanelKey],
	"panel_resize":    as[PanelResize],
	"panel_close":     as[PanelClose],
	"response":        as[Response],
	"shutdown":        as[Shutdown],
}

func (Hello) FrameType() string                  { return "hello" }
func (RegisterCommand) FrameType() string        { return "register_command" }
func (RegisterTool) FrameType() string           { return "register_tool" }
func (Ready) FrameType() string                  { return "ready" }
func (Subscribe) FrameType() string              { return "subscribe" }
func (ToolResult) FrameType() string             { return "tool_result" }
func (EventInterceptResponse) FrameType() string { return "event_intercept_response" }
func (CommandResponse) FrameType() string        { return "command_response" }
func (Submit) FrameType() string                 { return "submit" }
func (SubmitSlash) FrameType() string            { return "submit_slash" }
func (OpenPanel) FrameType() string              { return "open_panel" }
func (PanelRender) FrameType() string            { return "panel_render" }
func (PanelClose) FrameType() string             { return "panel_close" }
func (Notify) FrameType() string                 { return "notify" }
func (ClearNotes) FrameType() string             { return "clear_notes" }
func (CallTool) FrameType() string               { return "call_tool" }
func (CallToolCancel) FrameType() string         { return "call_tool_cancel" }
func (Request) FrameType() string                { return "request" }
func (ShutdownAck) FrameType() string            { return "shutdown_ack" }

func (HelloAck) FrameType() string       { return "hello_ack" }
func (CommandInvoked) FrameType() string { return "command_invoked" }
func (ToolCall) FrameType() string       { return "tool_call" }
func (ToolCancel) FrameType() string     { return "tool_cancel" }
func (Event) FrameType() string          { return "event" }
func (EventIntercept) FrameType() string { return "event_intercept" }
func (PanelKey) FrameType() string       { return "panel_key" }
func (PanelResize) FrameType() string    { return "panel_resize" }
func (Response) FrameType() string       { return "response" }
func (Shutdown) FrameType() string       { return "shutdown" }

// FrameTypes lists the types of frame that the host sends, or those that an
// extension does, sorted.
func FrameTypes(fromHostSide bool) []string {
	table := fromExtension
	if fromHostSide {
		table = fromHost
	}
	return slices.Sorted(maps.Keys(table))
}

package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/patriceckhart/zot/runtime/message"
)

// Bounds in bytes above which content goes to a blob, and how much of a text
// stays in the row for readers that know no blobs.
const (
	maxInlineImage = 4 << 10
	maxInlineText  = 64 << 10
	textHead       = 4 << 10
)

// blockWire is a block in the file. It has no type: the fields that are there
// tell which it is.
type blockWire struct {
	Text   *string `json:"text,omitempty"`
	Format string  `json:"format,omitempty"`

	MIMEType *string `json:"mime_type,omitempty"`
	Data     string  `json:"data,omitempty"` // base64

	// Blob names the file that holds a long text, or an image, and Size its bytes.
	Blob string `json:"blob,omitempty"`
	Size int64  `json:"size,omitempty"`

	ID           *string         `json:"id,omitempty"`
	Name         *string         `json:"name,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	ArgumentsRaw string          `json:"arguments_raw,omitempty"`

	CallID    *string     `json:"call_id,omitempty"`
	Content   []blockWire `json:"content,omitempty"`
	IsError   bool        `json:"is_error,omitempty"`
	Extension string      `json:"extension,omitempty"`
	Changes   []string    `json:"changes,omitempty"`
	Activated []string    `json:"activated,omitempty"`

	ReasoningID *string `json:"reasoning_id,omitempty"`
	Summary     *string `json:"summary,omitempty"`
	Encrypted   *string `json:"encrypted_content,omitempty"`
}

func encodeMessage(m message.Message, b blobs) (*messageWire, error) {
	content, err := encodeBlocks(m.Content, b)
	if err != nil {
		return nil, err
	}
	return &messageWire{Role: string(m.Role), Content: content, Time: m.Time.Format(time.RFC3339Nano)}, nil
}

func encodeBlocks(content []message.Block, b blobs) ([]blockWire, error) {
	out := make([]blockWire, 0, len(content))
	for _, c := range content {
		w, err := encodeBlock(c, b)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

func encodeBlock(block message.Block, b blobs) (w blockWire, err error) {
	switch c := block.(type) {
	case message.Text:
		w.Text, w.Format = &c.Text, c.Format
		if len(c.Text) > maxInlineText && b != "" {
			head := cutRunes(c.Text, textHead)
			w.Text = &head
			w.Blob, w.Size, err = b.put([]byte(c.Text))
		}
	case message.Image:
		w.MIMEType = &c.MIMEType
		if len(c.Data) > maxInlineImage && b != "" {
			w.Blob, w.Size, err = b.put(c.Data)
		} else {
			w.Data = base64.StdEncoding.EncodeToString(c.Data)
		}
	case message.ToolCall:
		w.ID, w.Name, w.Arguments, w.ArgumentsRaw = &c.ID, &c.Name, safeArgs(c.Args), c.ArgsRaw
	case message.ToolResult:
		w.CallID, w.IsError = &c.CallID, c.IsError
		w.Extension, w.Changes, w.Activated = c.Extension, c.Changes, c.Activated
		w.Content, err = encodeBlocks(c.Content, b)
	case message.Reasoning:
		w.ReasoningID, w.Summary, w.Encrypted = &c.ID, &c.Summary, &c.Encrypted
	default:
		err = fmt.Errorf("a block of type %T has no form on disk", block)
	}
	return w, err
}

// safeArgs keeps a row valid whatever the arguments are.
func safeArgs(args json.RawMessage) json.RawMessage {
	if isObject(args) {
		return args
	}
	return json.RawMessage("{}")
}

func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(raw)
}

// cutRunes returns at most n bytes of s, whole characters only.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// decodeMessage translates a message. Blobs are not read: see hold.
func (d *decoder) decodeMessage(w *messageWire) (message.Message, error) {
	m := message.Message{Role: message.Role(w.Role), Time: parseTime(w.Time)}
	switch m.Role {
	case message.User, message.Assistant, message.Tool:
	default:
		return m, fmt.Errorf("%w: role %.40q", errNotRow, w.Role)
	}
	m.Content = d.decodeBlocks(w.Content, true)
	return m, nil
}

func (d *decoder) decodeBlocks(ws []blockWire, top bool) []message.Block {
	out := make([]message.Block, 0, len(ws))
	for i := range ws {
		b := d.decodeBlock(&ws[i], top)
		if b == nil {
			d.unknownBlocks++
			continue
		}
		out = append(out, b)
		if ws[i].Blob != "" || len(ws[i].Data) > maxInlineImage {
			d.hold(out, len(out)-1, ws[i].Blob)
		}
	}
	return out
}

// decodeBlock tells a block by its fields. Results and calls are only at the
// top of a message.
func (d *decoder) decodeBlock(w *blockWire, top bool) message.Block {
	switch {
	case w.CallID != nil && top:
		return message.ToolResult{
			CallID: *w.CallID, Content: d.decodeBlocks(w.Content, false), IsError: w.IsError,
			Extension: w.Extension, Changes: w.Changes, Activated: w.Activated,
		}
	case w.Name != nil && top:
		return decodeCall(w)
	case w.MIMEType != nil:
		data, err := base64.StdEncoding.DecodeString(w.Data)
		if err != nil {
			return placeholder(*w.MIMEType, int64(len(w.Data)), "it is damaged")
		}
		return message.Image{MIMEType: *w.MIMEType, Data: data}
	case w.ReasoningID != nil || w.Summary != nil || w.Encrypted != nil:
		return message.Reasoning{ID: value(w.ReasoningID), Summary: value(w.Summary), Encrypted: value(w.Encrypted)}
	case w.Text != nil:
		return message.Text{Text: *w.Text, Format: w.Format}
	}
	return nil
}

// decodeCall makes the arguments an object, whatever a program wrote: text
// that is none is kept in ArgsRaw.
func decodeCall(w *blockWire) message.ToolCall {
	c := message.ToolCall{ID: value(w.ID), Name: *w.Name, ArgsRaw: w.ArgumentsRaw, Args: json.RawMessage("{}")}
	args := w.Arguments
	var text string
	if len(args) > 0 && args[0] == '"' && json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(text)
	}
	switch {
	case isObject(args):
		c.Args = args
	case len(args) > 0 && string(args) != "null" && c.ArgsRaw == "":
		c.ArgsRaw = string(args)
	}
	return c
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// placeholder stands for content that is not there.
func placeholder(kind string, size int64, why string) message.Text {
	return message.Text{Text: fmt.Sprintf("[%s, %d bytes: %s]", kind, size, why)}
}

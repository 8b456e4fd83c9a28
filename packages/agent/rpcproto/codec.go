package rpcproto

import (
	"encoding/json"
	"fmt"
)

// An UnknownTypeError says that a line is well formed and of no known type.
// Clients skip such lines.
type UnknownTypeError struct{ Type string }

func (e *UnknownTypeError) Error() string { return fmt.Sprintf("unknown event type %q", e.Type) }

// EncodeEvent returns the event as one line without its terminator, its type
// first.
func EncodeEvent(e Event) ([]byte, error) { return encode(e.EventType(), e) }

// EncodeResponse returns the response as one line without its terminator.
func EncodeResponse(r Response) ([]byte, error) { return encode("response", r) }

// EncodeCommand returns the command as one line without its terminator.
func EncodeCommand(c Command) ([]byte, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", c.Type, err)
	}
	return line, nil
}

func encode(typ string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", typ, err)
	}
	line := make([]byte, 0, len(body)+len(typ)+12)
	line = append(line, `{"type":"`...)
	line = append(line, typ...)
	line = append(line, '"')
	if len(body) > 2 {
		line = append(line, ',')
	}
	return append(line, body[1:]...), nil
}

// DecodeLine decodes one line that zot wrote. Exactly one of the response and
// the event is set unless there is an error.
func DecodeLine(line []byte) (*Response, Event, error) {
	var h struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, nil, fmt.Errorf("not a line of zot: %w", err)
	}
	if h.Type == "response" {
		var r Response
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, nil, fmt.Errorf("decoding response: %w", err)
		}
		return &r, nil, nil
	}
	d, ok := decoders[h.Type]
	if !ok {
		return nil, nil, &UnknownTypeError{Type: h.Type}
	}
	e, err := d(line)
	if err != nil {
		return nil, nil, fmt.Errorf("decoding %s: %w", h.Type, err)
	}
	return nil, e, nil
}

func as[E Event](line []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, err
	}
	return e, nil
}

package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/packages/ssestream"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/sse"
)

// A stream reads one answer.
type stream struct {
	origin httpapi.Origin
	build  *answer.Builder

	finish string // the server's finish reason, once it came
	done   bool   // [DONE] came
	closed bool   // a usage event without choices came: nothing follows it
	whole  bool   // the answer came in one piece

	usage message.Usage
	stop  model.Stop
	end   answer.End
}

// read consumes the stream and decides how the answer ended. The usage comes
// last, behind the finish reason, so it reads on until the server is done; what
// fails after the finish reason costs no more than the usage.
func (s *stream) read(d ssestream.Decoder) error {
	for !s.done && d.Next() {
		if err := s.event(d); err != nil {
			if s.finish != "" {
				break
			}
			return err
		}
	}
	if err := d.Err(); err != nil && !s.complete() {
		var long *sse.TooLongError
		if errors.As(err, &long) {
			return s.origin.Protocol("%v", err)
		}
		return s.origin.Truncated(err)
	}
	return s.conclude()
}

func (s *stream) complete() bool { return s.finish != "" || s.done || s.closed }

func (s *stream) event(d ssestream.Decoder) error {
	ev := d.Event()
	if strings.HasPrefix(string(ev.Data[:min(len(ev.Data), 6)]), "[DONE]") {
		s.done = true
		return nil
	}
	var c chunk
	if err := json.Unmarshal(ev.Data, &c); err != nil {
		var mistyped *json.UnmarshalTypeError
		switch {
		case errors.As(err, &mistyped):
			// One field is of another type than OpenAI's; the rest was decoded.
		case isCut(d):
			return s.origin.Truncated(nil)
		case ev.Type == "error":
			return s.origin.InStream(ev.Data)
		default:
			return s.origin.Protocol("an event of the stream is not JSON: %s", httpapi.Excerpt(ev.Data))
		}
	}
	if c.fails() || ev.Type == "error" {
		return s.origin.InStream(ev.Data)
	}
	s.chunk(c)
	return nil
}

func isCut(d ssestream.Decoder) bool {
	own, ok := d.(*decoder)
	return ok && own.unfinished()
}

func (s *stream) chunk(c chunk) {
	u := c.usage()
	if u != nil {
		s.usage = u.tokens()
	}
	// Such an event may also come first, from servers that count the prompt.
	s.closed = u != nil && len(c.Choices) == 0 && !s.build.Empty()
	if len(c.Choices) == 0 {
		return
	}
	ch := c.Choices[0]
	s.delta(ch.Delta)
	if ch.Message != nil {
		s.whole = true
		s.delta(ch.Message)
	}
	if ch.FinishReason != "" {
		s.finish = string(ch.FinishReason)
	}
}

func (s *stream) delta(d *delta) {
	if d == nil {
		return
	}
	s.build.Reasoning(d.thought())
	s.build.Text(d.Content.text)
	s.build.Text(string(d.Refusal))
	for _, tc := range d.ToolCalls {
		s.build.Call(tc.fragment())
	}
	if f := d.FunctionCall; f != nil {
		s.build.Call(answer.Fragment{Index: answer.NoIndex, Name: string(f.Name), Args: string(f.Arguments)})
	}
}

// conclude applies the rule of the package comment.
func (s *stream) conclude() error {
	if s.whole && s.finish == "" {
		s.done = true
	}
	if !s.complete() {
		return s.origin.Truncated(nil)
	}
	if s.finish == "" && !s.build.Intact() {
		return s.origin.Truncated(errors.New("the server ended it inside the arguments of a tool call"))
	}
	if s.build.Nameless() {
		return s.origin.Protocol("the model's answer holds a tool call without a name")
	}
	switch s.finish {
	case "length", "max_tokens", "model_length":
		s.stop, s.end = model.StopLength, answer.AtLimit
		return nil
	case "content_filter":
		f := s.origin.Protocol("the provider's content filter stopped the answer")
		f.Kind, f.Remedy = model.KindBadRequest, "rephrase the request, or choose another model"
		return f
	case "error", "network_error", "insufficient_system_resource":
		f := s.origin.InStream([]byte(`{"message":"the server gave up on the answer","code":"server_error"}`))
		return f
	}
	s.stop = model.StopEndTurn
	if s.build.HasCalls() {
		s.stop = model.StopToolUse
	}
	return nil
}

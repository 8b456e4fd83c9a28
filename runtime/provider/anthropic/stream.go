package anthropic

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/sse"
)

// event is any event of the stream, and also a whole answer, whose type is
// "message".
type event struct {
	Type         string          `json:"type"`
	Message      *reply          `json:"message"`
	Index        int             `json:"index"`
	ContentBlock *part           `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`

	Content    []part `json:"content"`     // of a whole answer
	StopReason string `json:"stop_reason"` // of a whole answer
}

type reply struct {
	Usage *usage `json:"usage"`
}

type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	PartialJSON string `json:"partial_json"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	StopReason  string `json:"stop_reason"`
}

type usage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
}

// isAnswer reports whether a JSON document is a whole answer, or the error in
// place of one.
func isAnswer(data []byte) bool {
	var e event
	return json.Unmarshal(data, &e) == nil && (e.Type == "message" || e.Type == "error")
}

// A stream reads one answer.
type stream struct {
	origin httpapi.Origin
	build  *answer.Builder
	calls  map[int]bool // blocks that are calls

	counts usage // the last stated of each count
	reason string
	over   bool // message_stop came

	stop model.Stop
	end  answer.End
}

func (s *stream) read(body io.Reader) error {
	s.calls = make(map[int]bool)
	events := sse.NewReader(body, 0)
	for !s.over {
		ev, err := events.Next()
		if err != nil {
			return s.ended(err)
		}
		var e event
		if err := json.Unmarshal(ev.Data, &e); err != nil {
			var mistyped *json.UnmarshalTypeError
			switch {
			case errors.As(err, &mistyped):
			case ev.Unfinished:
				return s.ended(io.EOF)
			default:
				return s.origin.Protocol("an event of the stream is not JSON: %s", httpapi.Excerpt(ev.Data))
			}
		}
		if e.Type == "error" {
			if s.reason != "" {
				break
			}
			return s.origin.InStream(ev.Data)
		}
		s.take(e)
	}
	return s.conclude()
}

// ended says what the end of the stream means.
func (s *stream) ended(err error) error {
	var long *sse.TooLongError
	switch {
	case s.reason != "":
		return s.conclude() // no more was lost than message_stop
	case errors.As(err, &long):
		return s.origin.Protocol("%v", err)
	case err == io.EOF:
		return s.origin.Truncated(nil)
	}
	return s.origin.Truncated(err)
}

func (s *stream) take(e event) {
	s.count(e.Usage)
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			s.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.ContentBlock != nil {
			s.begin(e.Index, *e.ContentBlock)
		}
	case "content_block_delta":
		s.delta(e.Index, e.Delta)
	case "content_block_stop":
		s.build.Break()
	case "message_delta":
		if e.Delta.StopReason != "" {
			s.reason = e.Delta.StopReason
		}
	case "message_stop":
		s.over = true
	case "message":
		for i, p := range e.Content {
			s.begin(i, p)
		}
		s.reason, s.over = e.StopReason, true
	}
}

// begin takes the start of a block, which may hold all of it.
func (s *stream) begin(i int, p part) {
	s.build.Break()
	switch p.Type {
	case "text":
		s.build.Text(p.Text)
	case "thinking":
		s.build.Proof(thinkingID, p.Signature)
		s.build.Reasoning(p.Thinking)
	case "redacted_thinking":
		s.build.Proof(redactedID, p.Data)
	case "tool_use":
		s.calls[i] = true
		args := string(p.Input)
		if args == "{}" || args == "null" {
			args = "" // the deltas bring them
		}
		s.build.Call(answer.Fragment{Index: i, ID: p.ID, Name: p.Name, Args: args})
	}
}

func (s *stream) delta(i int, d delta) {
	switch d.Type {
	case "text_delta":
		s.build.Text(d.Text)
	case "thinking_delta":
		s.build.Reasoning(d.Thinking)
	case "signature_delta":
		s.build.Proof("", d.Signature)
	case "input_json_delta":
		if s.calls[i] { // and not a tool that the server runs itself
			s.build.Call(answer.Fragment{Index: i, Args: d.PartialJSON})
		}
	}
}

func (s *stream) count(u *usage) {
	if u == nil {
		return
	}
	for _, c := range []struct{ dst, src **int }{
		{&s.counts.Input, &u.Input}, {&s.counts.Output, &u.Output}, {&s.counts.CacheRead, &u.CacheRead}, {&s.counts.CacheWrite, &u.CacheWrite},
	} {
		if *c.src != nil {
			*c.dst = *c.src
		}
	}
}

func (s *stream) usage() message.Usage {
	n := func(p *int) int {
		if p == nil {
			return 0
		}
		return *p
	}
	c := s.counts
	u := message.Usage{Input: n(c.Input), Output: n(c.Output), CacheRead: n(c.CacheRead), CacheWrite: n(c.CacheWrite)}
	u.Known = u != message.Usage{}
	return u
}

// conclude decides how a whole answer ended.
func (s *stream) conclude() error {
	if s.build.Nameless() {
		return s.origin.Protocol("the model's answer holds a tool call without a name")
	}
	s.stop = model.StopEndTurn
	switch s.reason {
	case "max_tokens", "model_context_window_exceeded":
		s.stop, s.end = model.StopLength, answer.AtLimit
	case "refusal":
		f := s.origin.Protocol("the model refused to answer")
		f.Kind, f.Remedy = model.KindBadRequest, "rephrase the request, or choose another model"
		return f
	case "":
		if !s.build.Intact() {
			return s.origin.Truncated(errors.New("the server ended it inside the arguments of a tool call"))
		}
		fallthrough
	default:
		if s.build.HasCalls() {
			s.stop = model.StopToolUse
		}
	}
	return nil
}

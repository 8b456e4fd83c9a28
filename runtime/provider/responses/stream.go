package responses

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/sse"
)

// event is any event of the stream, and also a whole answer, which has an
// object and no type.
type event struct {
	Type        string      `json:"type"`
	OutputIndex int         `json:"output_index"`
	Delta       string      `json:"delta"`
	Item        *outputItem `json:"item"`
	Response    *response   `json:"response"`

	Object string `json:"object"`
	response
}

type response struct {
	Status     string          `json:"status"`
	Output     []outputItem    `json:"output"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *usage `json:"usage"`
}

// outputItem is an item of the answer.
type outputItem struct {
	Type             string `json:"type"`
	ID               string `json:"id"`
	CallID           string `json:"call_id"`
	Name             string `json:"name"`
	Arguments        string `json:"arguments"`
	EncryptedContent string `json:"encrypted_content"`
	Content          []text `json:"content"`
	Summary          []text `json:"summary"`
}

type text struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type usage struct {
	Input        int `json:"input_tokens"`
	Output       int `json:"output_tokens"`
	InputDetails struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) tokens() message.Usage {
	d := u.InputDetails
	return message.Usage{
		Known: u.Input > 0 || u.Output > 0,
		Input: max(0, u.Input-d.Cached-d.CacheWrite), Output: u.Output, Reasoning: u.OutputDetails.Reasoning,
		CacheRead: d.Cached, CacheWrite: d.CacheWrite,
	}
}

// isAnswer reports whether a JSON document is a whole answer, or the error in
// place of one.
func isAnswer(data []byte) bool {
	var e event
	_ = json.Unmarshal(data, &e) // a field of another type leaves the rest
	return e.Object == "response" || (len(e.Error) > 0 && string(e.Error) != "null")
}

// A stream reads one answer.
type stream struct {
	origin httpapi.Origin
	build  *answer.Builder

	item  int          // output index that text and reasoning belong to
	grown map[int]bool // items of which deltas came
	final *response

	usage message.Usage
	stop  model.Stop
	end   answer.End
}

func (s *stream) read(body io.Reader) error {
	s.item, s.grown = -1, make(map[int]bool)
	events := sse.NewReader(body, 0)
	for s.final == nil {
		ev, err := events.Next()
		if err != nil {
			return s.ended(err)
		}
		if string(ev.Data) == "[DONE]" {
			continue
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
		if e.Type == "error" || (e.Type == "" && e.Object != "response") {
			return s.origin.InStream(ev.Data)
		}
		s.take(e)
	}
	return s.conclude()
}

// ended says what the end of the stream means, which came before that of the
// answer.
func (s *stream) ended(err error) error {
	var long *sse.TooLongError
	switch {
	case errors.As(err, &long):
		return s.origin.Protocol("%v", err)
	case err == io.EOF:
		return s.origin.Truncated(nil)
	}
	return s.origin.Truncated(err)
}

func (s *stream) take(e event) {
	switch e.Type {
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			s.build.Call(answer.Fragment{Index: e.OutputIndex, ID: e.Item.CallID, Name: e.Item.Name, Args: e.Item.Arguments})
			s.grown[e.OutputIndex] = e.Item.Arguments != ""
		}
	case "response.output_text.delta", "response.refusal.delta":
		s.at(e.OutputIndex)
		s.build.Text(e.Delta)
	case "response.reasoning_summary_part.added":
		if s.grown[e.OutputIndex] {
			s.at(e.OutputIndex)
			s.build.Reasoning("\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.at(e.OutputIndex)
		s.build.Reasoning(e.Delta)
	case "response.function_call_arguments.delta":
		s.grown[e.OutputIndex] = true
		s.build.Call(answer.Fragment{Index: e.OutputIndex, Args: e.Delta})
	case "response.output_item.done":
		if e.Item != nil {
			s.finished(e.OutputIndex, *e.Item)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		s.final = e.Response
		if s.final == nil {
			s.final = &response{Status: strings.TrimPrefix(e.Type, "response.")}
		}
	case "":
		for i, o := range e.Output {
			s.finished(i, o)
		}
		s.final = &e.response
	}
}

// at makes item i the one that text and reasoning go to.
func (s *stream) at(i int) {
	if s.item != i {
		s.build.Break()
		s.item = i
	}
	s.grown[i] = true
}

// finished takes a finished item: the whole of one that no deltas were sent for,
// and the proof of reasoning.
func (s *stream) finished(i int, o outputItem) {
	whole := !s.grown[i]
	switch o.Type {
	case "message":
		for _, t := range o.Content {
			if whole {
				s.at(i)
				s.build.Text(t.Text + t.Refusal)
			}
		}
	case "reasoning":
		s.at(i)
		for k, t := range o.Summary {
			if whole && k > 0 {
				s.build.Reasoning("\n\n")
			}
			if whole {
				s.build.Reasoning(t.Text)
			}
		}
		if o.EncryptedContent != "" {
			s.build.Proof(o.ID, o.EncryptedContent)
		}
	case "function_call":
		f := answer.Fragment{Index: i, ID: o.CallID, Name: o.Name}
		if whole {
			f.Args = o.Arguments
			s.grown[i] = true
		}
		s.build.Call(f)
	}
}

// conclude decides how the answer ended.
func (s *stream) conclude() error {
	r := s.final
	if r.Usage != nil {
		s.usage = r.Usage.tokens()
	}
	if s.build.Nameless() {
		return s.origin.Protocol("the model's answer holds a tool call without a name")
	}
	switch r.Status {
	case "failed", "cancelled":
		if len(r.Error) == 0 || string(r.Error) == "null" {
			return s.origin.InStream([]byte(`{"message":"the server gave up on the answer","code":"server_error"}`))
		}
		return s.origin.InStream(r.Error)
	case "incomplete":
		if r.Incomplete.Reason == "content_filter" {
			f := s.origin.Protocol("the provider's content filter stopped the answer")
			f.Kind, f.Remedy = model.KindBadRequest, "rephrase the request, or choose another model"
			return f
		}
		s.stop, s.end = model.StopLength, answer.AtLimit
		return nil
	}
	s.stop = model.StopEndTurn
	if s.build.HasCalls() {
		s.stop = model.StopToolUse
	}
	return nil
}

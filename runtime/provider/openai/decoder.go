package openai

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/openai/openai-go/option"
	"github.com/openai/openai-go/packages/ssestream"

	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/sse"
)

// The library's own decoder takes a keep-alive comment for an event without
// data and fails on it.
func init() {
	ssestream.RegisterDecoder(httpapi.EventStreamType, func(rc io.ReadCloser) ssestream.Decoder {
		return &decoder{body: rc, events: sse.NewReader(rc, 0)}
	})
}

type decoder struct {
	body   io.Closer
	events *sse.Reader
	event  sse.Event
	err    error
}

func (d *decoder) Next() bool {
	if d.err != nil {
		return false
	}
	d.event, d.err = d.events.Next()
	return d.err == nil
}

func (d *decoder) Event() ssestream.Event {
	return ssestream.Event{Type: d.event.Name, Data: d.event.Data}
}

func (d *decoder) Close() error { return d.body.Close() }

// Err is nil at the clean end of the stream.
func (d *decoder) Err() error {
	if d.err == io.EOF {
		return nil
	}
	return d.err
}

// unfinished reports whether the stream ended inside the current event.
func (d *decoder) unfinished() bool { return d.event.Unfinished }

// eventStreamOnly turns every response into an event stream or an error in the
// server's words. The library would lose the words of most refusals, and take
// a successful answer in another format for an empty stream.
func eventStreamOnly(o httpapi.Origin) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		resp, err := next(req)
		if err != nil {
			return nil, err
		}
		return httpapi.EventStream(o, resp, isAnswer)
	}
}

// isAnswer reports whether a JSON document is a whole answer, or the error in
// place of one.
func isAnswer(data []byte) bool {
	var c chunk
	_ = json.Unmarshal(data, &c) // a field of another type leaves the rest
	return c.Choices != nil || c.fails()
}

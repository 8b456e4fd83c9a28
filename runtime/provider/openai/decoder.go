package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/openai/openai-go/option"
	"github.com/openai/openai-go/packages/ssestream"

	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/sse"
)

const eventStream = "text/event-stream"

// The library's own decoder takes a keep-alive comment for an event without
// data and fails on it.
func init() {
	ssestream.RegisterDecoder(eventStream, func(rc io.ReadCloser) ssestream.Decoder {
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

// maxWhole bounds an answer that came in one piece, in bytes.
const maxWhole = 64 << 20

// eventStreamOnly turns every response into an event stream or an error in the
// server's words. The library would lose the words of most refusals, and take
// a successful answer in another format for an empty stream.
func eventStreamOnly(o httpapi.Origin) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		resp, err := next(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			return nil, o.Refused(resp)
		}
		return asEventStream(o, resp)
	}
}

// asEventStream goes by the first byte that is not blank, since the header is
// often missing or wrong. A whole JSON answer becomes a stream of one event.
func asEventStream(o httpapi.Origin, resp *http.Response) (*http.Response, error) {
	body := bufio.NewReader(resp.Body)
	first, err := firstByte(body)
	if err != nil && err != io.EOF {
		resp.Body.Close()
		return nil, o.Unreachable(err)
	}
	closer := resp.Body
	switch {
	case err == io.EOF, first != '{' && first != '<' && first != '[':
		resp.Body = readCloser{body, closer}
	case first == '{':
		defer closer.Close()
		data, err := io.ReadAll(io.LimitReader(body, maxWhole+1))
		if err != nil {
			return nil, o.Truncated(err)
		}
		if len(data) > maxWhole {
			return nil, o.Protocol("the answer is longer than %d bytes", maxWhole)
		}
		var c chunk
		if json.Unmarshal(data, &c); c.Choices == nil && !c.fails() {
			return nil, o.Protocol("the server answered with JSON that is no answer: %s", httpapi.Excerpt(data))
		}
		resp.Body = io.NopCloser(wholeAsEvent(data))
	default:
		defer closer.Close()
		return nil, notAnAnswer(o, resp, body)
	}
	resp.Header.Set("Content-Type", eventStream)
	return resp, nil
}

func notAnAnswer(o httpapi.Origin, resp *http.Response, body io.Reader) error {
	head, _ := io.ReadAll(io.LimitReader(body, 4096))
	kind := resp.Header.Get("Content-Type")
	if kind == "" {
		kind = "something"
	}
	return o.Protocol("the server answered with %s instead of an event stream: %s", kind, httpapi.Excerpt(head))
}

type readCloser struct {
	io.Reader
	io.Closer
}

// firstByte returns the first byte that is not blank, without taking it.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c, r.UnreadByte()
		}
	}
}

// wholeAsEvent frames a JSON document as one event; the whitespace between its
// tokens may hold line ends, which would end the event's line.
func wholeAsEvent(data []byte) io.Reader {
	data = bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, data)
	return io.MultiReader(bytes.NewReader([]byte("data: ")), bytes.NewReader(data), bytes.NewReader([]byte("\n\n")))
}

package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// EventStreamType is the media type of event streams.
const EventStreamType = "text/event-stream"

// maxWhole bounds an answer that came in one piece, in bytes.
const maxWhole = 64 << 20

// Post sends body as JSON and returns the event stream that it was answered
// with; see [EventStream]. The error is a *Failure or ctx's.
func Post(ctx context.Context, hc *http.Client, o Origin, url string, header http.Header, body any, isAnswer func([]byte) bool) (io.ReadCloser, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, o.Protocol("the request cannot be written as JSON: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(data))
	if err != nil {
		return nil, o.FailureOf(ctx, err)
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", EventStreamType)
	resp, err := hc.Do(req)
	if err == nil {
		resp, err = EventStream(o, resp, isAnswer)
	}
	if err != nil {
		return nil, o.FailureOf(ctx, err)
	}
	return resp.Body, nil
}

// EventStream turns a response into one whose body is an event stream, or into
// an error in the server's words. It goes by the first byte that is not blank,
// since the header is often missing or wrong. A JSON document for which
// isAnswer is true becomes a stream of that one event.
func EventStream(o Origin, resp *http.Response, isAnswer func([]byte) bool) (*http.Response, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, o.Refused(resp)
	}
	body := bufio.NewReader(resp.Body)
	first, err := firstByte(body)
	if err != nil && err != io.EOF {
		resp.Body.Close()
		return nil, err
	}
	closer := resp.Body
	switch {
	case err == io.EOF, first != '{' && first != '<' && first != '[':
		resp.Body = readCloser{body, closer}
	case first == '{':
		defer closer.Close()
		data, err := io.ReadAll(io.LimitReader(body, maxWhole+1))
		switch {
		case err != nil:
			return nil, o.Truncated(err)
		case len(data) > maxWhole:
			return nil, o.Protocol("the answer is longer than %d bytes", maxWhole)
		case !isAnswer(data):
			return nil, o.Protocol("the server answered with JSON that is no answer: %s", Excerpt(data))
		}
		resp.Body = io.NopCloser(wholeAsEvent(data))
	default:
		defer closer.Close()
		return nil, notAnAnswer(o, resp, body)
	}
	resp.Header.Set("Content-Type", EventStreamType)
	return resp, nil
}

func notAnAnswer(o Origin, resp *http.Response, body io.Reader) error {
	head, _ := io.ReadAll(io.LimitReader(body, 4096))
	kind := resp.Header.Get("Content-Type")
	if kind == "" {
		kind = "something"
	}
	return o.Protocol("the server answered with %s instead of an event stream: %s", kind, Excerpt(head))
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
		if !strings.ContainsRune(" \n\r\t", rune(c)) {
			return c, r.UnreadByte()
		}
	}
}

// wholeAsEvent frames a JSON document as one event; the whitespace between its
// tokens may hold line ends, which would end the event's line.
func wholeAsEvent(data []byte) io.Reader {
	for i, c := range data {
		if c == '\n' || c == '\r' {
			data[i] = ' '
		}
	}
	return io.MultiReader(strings.NewReader("data: "), bytes.NewReader(data), strings.NewReader("\n\n"))
}

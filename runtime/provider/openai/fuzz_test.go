package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

// answering is a transport that answers every request with the same bytes.
type answering []byte

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, req.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(a)), Request: req,
	}, nil
}

// FuzzStream answers with any bytes. The client never panics; it returns a
// sound answer or an error that carries no call.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n: c\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":null},\"finish_reason\":\"length\"}]}\n\n",
		"data: {\"error\":{\"message\":\"too many tokens\",\"code\":500}}\n\n",
		"{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}]}",
		"<html>", "[", "data: null\n\n", "data: {\"choices\":[null]}\n\n", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[null]}}],\"usage\":{}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		c := openai.New(openai.Options{
			Provider: "fake", BaseURL: "http://fake/v1", Retry: httpapi.Retry{Attempts: 1},
			HTTP: &http.Client{Transport: answering(in)},
		})
		got := providertest.Ask(t, c, ask("go"))
		if got.Err != nil {
			if e, ok := got.Err.(*model.Error); !ok || e.Kind == "" || len(got.Response.Message.ToolCalls()) > 0 || strings.Contains(e.Error(), "\x00") {
				t.Fatalf("error %#v with the calls %v", got.Err, got.Response.Message.ToolCalls())
			}
		} else if got.Response.Stop == "" || got.Response.Stop == model.StopError {
			t.Fatalf("stopped with %q", got.Response.Stop)
		}
	})
}

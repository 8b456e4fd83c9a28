package providertest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/model"
)

// fixedAnswer is a transport that answers every request with the same bytes.
type fixedAnswer []byte

func (a fixedAnswer) RoundTrip(req *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, req.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(a)), Request: req,
	}, nil
}

// FuzzStream answers a client with any bytes, beginning with the seeds. The
// client, which makes one attempt, must not panic, and must return a sound
// answer, or an error that carries no call.
func FuzzStream(f *testing.F, newClient func(hc *http.Client) model.Client, seeds ...string) {
	for _, seed := range append(seeds, "", "<html>", "[", "{}", "data: null\n\n", "data: {}\n\n", "event: error\ndata: {\"error\":null}\n\n") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		c := newClient(&http.Client{Transport: fixedAnswer(in)})
		got := Ask(t, c, contractCase{}.request())
		calls := got.Response.Message.ToolCalls()
		if got.Err == nil {
			if got.Response.Stop == "" || got.Response.Stop == model.StopError {
				t.Fatalf("stopped with %q", got.Response.Stop)
			}
			return
		}
		e, ok := got.Err.(*model.Error)
		if !ok || e.Kind == "" || len(calls) > 0 || strings.Contains(e.Error(), "\x00") {
			t.Fatalf("error %#v with the calls %v", got.Err, calls)
		}
	})
}

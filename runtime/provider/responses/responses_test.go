package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
	"github.com/patriceckhart/zot/runtime/provider/responses"
)

func newClient(t testing.TB, url string, retry httpapi.Retry) *responses.Client {
	t.Helper()
	hc, err := httpapi.NewClient(httpapi.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hc.CloseIdleConnections)
	return responses.New(responses.Options{
		Provider: "fake", BaseURL: url, APIKey: providertest.Key, AuthRemedy: "run zot login again", HTTP: hc, Retry: retry,
		Cost: func(_ string, u message.Usage) float64 { return float64(u.Output) },
	})
}

func TestContract(t *testing.T) {
	providertest.Contract(t, providertest.Subject{
		Wire: providertest.Responses,
		New: func(t testing.TB, url string, retry httpapi.Retry) model.Client {
			return newClient(t, url, retry)
		},
	})
}

func ask(reasoning string) model.Request {
	return model.Request{Model: "m", Reasoning: reasoning, Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: "go"}}}}}
}

// Reasoning comes back encrypted, and only that of this API.
func TestReasoningIsHandedBack(t *testing.T) {
	srv := providertest.New(t, `
		turn
		  think Let me see.
		  say Looking.
		  call id=c1 bash {"command":"ls"}
		turn
		  say Done.`)
	c := newClient(t, srv.URL(), httpapi.Retry{})
	req := ask("high")
	got := providertest.Ask(t, c, req)
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	foreign := message.Reasoning{ID: "anthropic/thinking", Summary: "foreign", Encrypted: "x"}
	got.Response.Message.Content = append(got.Response.Message.Content, foreign)
	req.Messages = append(req.Messages, got.Response.Message, message.Message{Role: message.Tool, Content: []message.Block{
		message.ToolResult{CallID: "c1", IsError: true, Content: []message.Block{message.Text{Text: "no"}, message.Image{MIMEType: "image/png", Data: []byte("x")}}},
	}})
	providertest.Ask(t, c, req)
	want := `request 1
model m
user: go
request 2
model m
... 1 messages as before
assistant: Looking.
  thought: Let me see.
  call c1 bash {"command":"ls"}
result c1: Error: no
  image image/png, 1 bytes
`
	if d := cmp.Diff(want, srv.Log()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
	body := string(srv.Requests()[1].Body)
	for _, s := range []string{`"store":false`, `"encrypted_content":"enc-1"`, `"reasoning":{"effort":"high","summary":"auto"}`, `"include":["reasoning.encrypted_content"]`} {
		if !strings.Contains(body, s) {
			t.Errorf("the request lacks %s: %s", s, body)
		}
	}
}

func TestEnds(t *testing.T) {
	tests := []struct {
		script string
		kind   model.Kind
		stop   model.Stop
	}{
		{"say Hi.\n finish content_filter", model.KindBadRequest, ""},
		{"say Hi.\n finish failed", model.KindUnavailable, ""},
		{"say Hi.\n finish length", "", model.StopLength},
		{"say Hi.\n no done", model.KindTruncated, ""},
		{"quirk whole-calls\n call bash {\"a\":1}", "", model.StopToolUse},
		{"think a\n say b\n think c\n say d", "", model.StopEndTurn},
	}
	for _, tt := range tests {
		srv := providertest.New(t, "turn\n "+tt.script)
		got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{Attempts: 1}), ask(""))
		e, _ := got.Err.(*model.Error)
		if (tt.kind == "" && (got.Err != nil || got.Response.Stop != tt.stop)) || (tt.kind != "" && (e == nil || e.Kind != tt.kind)) {
			t.Errorf("%q: stop %q, %v; want %q, %q", tt.script, got.Response.Stop, got.Err, tt.stop, tt.kind)
		}
	}
}

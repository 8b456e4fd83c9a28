package anthropic_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/anthropic"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func newClient(t testing.TB, url string, retry httpapi.Retry) *anthropic.Client {
	t.Helper()
	hc, err := httpapi.NewClient(httpapi.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hc.CloseIdleConnections)
	return anthropic.New(anthropic.Options{
		Provider: "fake", BaseURL: url, APIKey: providertest.Key, AuthRemedy: "run zot login again", HTTP: hc, Retry: retry,
		MaxTokens: func(string) int { return 8000 },
		Cost:      func(_ string, u message.Usage) float64 { return float64(u.Output) },
	})
}

func TestContract(t *testing.T) {
	providertest.Contract(t, providertest.Subject{
		Wire:             providertest.Messages,
		NoReasoningCount: true,
		New: func(t testing.TB, url string, retry httpapi.Retry) model.Client {
			return newClient(t, url, retry)
		},
	})
}

func says(r message.Role, s string) message.Message {
	return message.Message{Role: r, Content: []message.Block{message.Text{Text: s}}}
}

func ask(name, reasoning string) model.Request {
	return model.Request{Model: name, Reasoning: reasoning, Messages: []message.Message{says(message.User, "go")}}
}

// A thought comes back with its signature, and only to those who signed it.
func TestThinkingIsHandedBack(t *testing.T) {
	srv := providertest.New(t, `
		turn
		  think Let me see.
		  say Looking.
		  call id=toolu_1 bash {"command":"ls"}
		turn
		  expect transcript contains "thought: Let me see."
		  expect transcript lacks "foreign"
		  expect result is "a.txt"
		  say Done.`)
	c := newClient(t, srv.URL(), httpapi.Retry{})
	req := ask("claude-opus-4-5", "high")
	got := providertest.Ask(t, c, req)
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	if r, ok := got.Response.Message.Content[0].(message.Reasoning); !ok || r.Summary != "Let me see." || r.Encrypted != "sig-1" {
		t.Errorf("content begins with %+v", got.Response.Message.Content[0])
	}
	foreign := message.Reasoning{ID: "rs_1", Summary: "foreign", Encrypted: "x"}
	got.Response.Message.Content = append([]message.Block{got.Response.Message.Content[0], foreign}, got.Response.Message.Content[1:]...)
	req.Messages = append(req.Messages, got.Response.Message, message.Message{Role: message.Tool, Content: []message.Block{
		message.ToolResult{CallID: "toolu_1", Content: []message.Block{message.Text{Text: "a.txt"}}},
	}})
	if got := providertest.Ask(t, c, req); got.Text != "Done." {
		t.Errorf("got %q, %v", got.Text, got.Err)
	}
	if body := string(srv.Requests()[1].Body); !strings.Contains(body, `{"type":"thinking","thinking":"Let me see.","signature":"sig-1"}`) {
		t.Errorf("the thought was not handed back: %s", body)
	}
}

func TestReasoningLevels(t *testing.T) {
	tests := []struct {
		model, level, want string
	}{
		{"claude-opus-5", "", ""},
		{"claude-opus-5", "off", `"thinking":{"type":"disabled"}`},
		{"claude-opus-5", "high", `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}`},
		{"claude-opus-4-6", "minimal", `"output_config":{"effort":"low"}`},
		{"claude-sonnet-4-5-20250929", "low", `"thinking":{"type":"enabled","budget_tokens":4000}`},
		{"claude-haiku-4-5", "minimal", `"thinking":{"type":"enabled","budget_tokens":1024}`},
		{"claude-opus-4-20250514", "medium", `"budget_tokens":4000`},
	}
	temperature := 0.5
	for _, tt := range tests {
		srv := providertest.New(t, "turn\n say Hi.")
		req := ask(tt.model, tt.level)
		req.Temperature = &temperature
		if got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}), req); got.Err != nil {
			t.Fatal(got.Err)
		}
		body := string(srv.Requests()[0].Body)
		if !strings.Contains(body, tt.want) || (tt.want == "" && strings.Contains(body, "thinking")) {
			t.Errorf("%s, %q: body %s lacks %s", tt.model, tt.level, body, tt.want)
		}
		thinks := strings.Contains(body, "adaptive") || strings.Contains(body, "enabled")
		if strings.Contains(body, "temperature") == thinks {
			t.Errorf("%s, %q: a temperature goes with thinking, or is missing without: %s", tt.model, tt.level, body)
		}
	}
}

// A model that wants to be asked for thinking in the other way is.
func TestLearnsThinking(t *testing.T) {
	srv := providertest.New(t, `
		turn
		  status 400 shape=anthropic type=invalid_request_error thinking.adaptive.display: Extra inputs are not permitted
		turn
		  status 400 shape=anthropic type=invalid_request_error adaptive thinking is not supported on this model
		turn
		  say Hi.
		turn
		  say Hi again.`)
	c := newClient(t, srv.URL(), httpapi.Retry{Attempts: 1})
	for _, want := range []string{"Hi.", "Hi again."} {
		if got := providertest.Ask(t, c, ask("claude-next", "high")); got.Text != want {
			t.Errorf("got %q, %v", got.Text, got.Err)
		}
	}
	if body := string(srv.Requests()[3].Body); !strings.Contains(body, `"type":"enabled"`) {
		t.Errorf("what was learnt was forgotten: %s", body)
	}
}

// The end of the system prompt and the last two user turns are marked for the
// cache, and what stands before them does not change from request to request.
func TestCacheMarks(t *testing.T) {
	srv := providertest.New(t, "turn\n say One.\nturn\n say Two.")
	c := newClient(t, srv.URL(), httpapi.Retry{})
	req := ask("claude-opus-5", "")
	req.System = "Be brief."
	req.Tools = []model.Tool{{Name: "a", Schema: json.RawMessage(`{"type":"object"}`)}}
	providertest.Ask(t, c, req)
	req.Messages = append(req.Messages, says(message.Assistant, "One."), says(message.User, "more"))
	providertest.Ask(t, c, req)
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for i, want := range []int{2, 3} {
		if n := bytes.Count(srv.Requests()[i].Body, []byte(mark)); n != want {
			t.Errorf("request %d has %d marks, want %d: %s", i+1, n, want, srv.Requests()[i].Body)
		}
	}
	first := strings.ReplaceAll(string(srv.Requests()[0].Body), mark, "")
	second := strings.ReplaceAll(string(srv.Requests()[1].Body), mark, "")
	upTo, _, _ := strings.Cut(first, `]}],"tools"`)
	if !strings.HasPrefix(second, upTo) {
		t.Errorf("the second request does not begin as the first:\n%s\n%s", upTo, second)
	}
}

// Failed results are marked, ids of other providers made acceptable, and
// images kept inside their result.
func TestResults(t *testing.T) {
	srv := providertest.New(t, "turn\n say Hi.")
	req := ask("claude-opus-5", "")
	req.Messages = append(req.Messages,
		message.Message{Role: message.Assistant, Content: []message.Block{message.ToolCall{ID: "functions.bash:0", Name: "bash", Args: json.RawMessage(`{}`)}}},
		message.Message{Role: message.Tool, Content: []message.Block{message.ToolResult{CallID: "functions.bash:0", IsError: true, Content: []message.Block{
			message.Text{Text: "no"}, message.Image{MIMEType: "image/png", Data: []byte("x")}}}}},
		says(message.User, "and?"))
	providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}), req)
	want := "request 1\nmodel claude-opus-5\nuser: go\nassistant\n  call functions_bash_0 bash {}\nresult functions_bash_0 (error): no\n  image image/png, 1 bytes\nuser: and?\n"
	if d := cmp.Diff(want, srv.Log()); d != "" {
		t.Errorf("request (-want +got):\n%s", d)
	}
}

func TestHeaders(t *testing.T) {
	srv := providertest.New(t, "turn\n expect header X-Api-Key is "+providertest.Key+"\n expect header Anthropic-Version is 2023-06-01\n expect header Authorization is \"\"\n say Hi.")
	if got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}), ask("claude-opus-5", "")); got.Err != nil {
		t.Fatal(got.Err)
	}
}

func TestEnds(t *testing.T) {
	tests := []struct {
		script string
		kind   model.Kind
		stop   model.Stop
	}{
		{"say Hi.\n finish refusal", model.KindBadRequest, ""},
		{"say Hi.\n finish model_context_window_exceeded", "", model.StopLength},
		{"say Hi.\n finish pause_turn", "", model.StopEndTurn},
		{"say Hi.\n no done", "", model.StopEndTurn},
		{"say Hi.\n finish none", "", model.StopEndTurn},
		{"say Hi.\n finish none\n no done", model.KindTruncated, ""},
		{"call bash {\"a\"\n finish none", model.KindTruncated, ""},
		{"say Hi.\n error code=overloaded_error Overloaded", model.KindUnavailable, ""},
		{"quirk whole-calls\n call bash {\"a\":1}", "", model.StopToolUse},
	}
	for _, tt := range tests {
		srv := providertest.New(t, "turn\n "+tt.script)
		got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{Attempts: 1}), ask("m", ""))
		e, _ := got.Err.(*model.Error)
		if (tt.kind == "" && (got.Err != nil || got.Response.Stop != tt.stop)) || (tt.kind != "" && (e == nil || e.Kind != tt.kind)) {
			t.Errorf("%q: stop %q, %v; want %q, %q", tt.script, got.Response.Stop, got.Err, tt.stop, tt.kind)
		}
	}
}

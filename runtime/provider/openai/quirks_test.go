package openai_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/httpapi"
	"github.com/patriceckhart/zot/runtime/provider/openai"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
)

func user(s string) message.Message {
	return message.Message{Role: message.User, Content: []message.Block{message.Text{Text: s}}}
}

func ask(s string) model.Request {
	return model.Request{Model: "m", Messages: []message.Message{user(s)}}
}

// callsOf writes calls as "name args".
func callsOf(m message.Message) []string {
	var got []string
	for _, c := range m.ToolCalls() {
		got = append(got, c.Name+" "+string(c.Args))
	}
	return got
}

// However a server numbers and cuts its calls, they arrive as they were meant.
func TestCallQuirks(t *testing.T) {
	const body = `
		say Two things.
		call read {"path":"a b"}
		call write {"path":"c","content":"d"}`
	for _, quirks := range []string{
		"", "no-index", "one-index", "minus-index", "whole-calls", "interleave", "no-ids", "same-ids", "fragment-ids",
		"object-args", "changing-id", "nulls", "error-null", "crlf noise bom", "parts", "json",
		"no-index whole-calls", "one-index whole-calls", "minus-index whole-calls", "no-index whole-calls no-ids",
		"one-index whole-calls no-ids", "minus-index whole-calls no-ids", "one-index fragment-ids",
		"nulls noise crlf changing-id error-null", "whole-calls same-ids",
	} {
		t.Run(quirks, func(t *testing.T) {
			srv := providertest.New(t, "turn\nquirk "+quirks+body)
			got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}, openai.Dialect{}), ask("go"))
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			want := []string{`read {"path":"a b"}`, `write {"path":"c","content":"d"}`}
			if d := cmp.Diff(want, callsOf(got.Response.Message)); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if got.Response.Message.Text() != "Two things." || got.Response.Stop != model.StopToolUse {
				t.Errorf("text %q, stop %q", got.Response.Message.Text(), got.Response.Stop)
			}
			if cs := got.Response.Message.ToolCalls(); cs[0].ID == cs[1].ID {
				t.Errorf("both calls have the id %q", cs[0].ID)
			}
			if !got.Response.Usage.Known {
				t.Error("the usage was lost")
			}
		})
	}
}

// The rule for streams without a finish reason, as the package comment gives it.
func TestNoFinishReason(t *testing.T) {
	tests := []struct {
		name, script string
		kind         model.Kind // empty: accepted
		stop         model.Stop
	}{
		{"done mark after text", "say All of it.\n finish none\n usage none", "", model.StopEndTurn},
		{"closing usage after text", "say All of it.\n finish none\n no done", "", model.StopEndTurn},
		{"neither", "say All of it.\n finish none\n usage none\n no done", model.KindTruncated, ""},
		{"done mark after whole arguments", "call bash {\"a\":1}\n finish none\n usage none", "", model.StopToolUse},
		{"done mark inside arguments", "call bash {\"a\":\n finish none\n usage none", model.KindTruncated, ""},
		{"finish reason and no done mark", "say All of it.\n usage none\n no done", "", model.StopEndTurn},
		{"foreign finish reason", "say All of it.\n finish eos", "", model.StopEndTurn},
		{"stop with calls", "call bash {}\n finish stop", "", model.StopToolUse},
		{"tool_calls without calls", "say All of it.\n finish tool_calls", "", model.StopEndTurn},
		{"content filter", "say All of\n finish content_filter", model.KindBadRequest, ""},
		{"the server's own failure", "say All of\n finish error", model.KindUnavailable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.New(t, "turn\n"+tt.script)
			got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{Attempts: 1}, openai.Dialect{}), ask("go"))
			if tt.kind == "" {
				if got.Err != nil || got.Response.Stop != tt.stop {
					t.Errorf("got %v, stop %q; want stop %q", got.Err, got.Response.Stop, tt.stop)
				}
				return
			}
			if e, ok := got.Err.(*model.Error); !ok || e.Kind != tt.kind {
				t.Errorf("error = %v, want one of kind %q", got.Err, tt.kind)
			}
			if len(got.Response.Message.ToolCalls()) > 0 {
				t.Errorf("kept the calls %v", callsOf(got.Response.Message))
			}
		})
	}
}

// Servers disagree on the name of the field that holds the reasoning.
func TestReasoningNames(t *testing.T) {
	for _, quirk := range []string{"nulls", "reasoning", "parts"} {
		srv := providertest.New(t, "turn\n quirk "+quirk+"\n think Well, well.\n say Yes.")
		got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}, openai.Dialect{}), ask("go"))
		if got.Thought != "Well, well." || got.Text != "Yes." {
			t.Errorf("%s: thought %q, text %q, %v", quirk, got.Thought, got.Text, got.Err)
		}
	}
}

func TestUsageSpellings(t *testing.T) {
	const answer = `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"%s}]%s}`
	tests := []struct {
		name, inChoice, beside string
		want                   message.Usage
	}{
		{"OpenRouter's cost", "", `,"usage":{"prompt_tokens":10,"completion_tokens":2,"cost":0.25}`, message.Usage{Known: true, Input: 10, Output: 2, CostUSD: 0.25}},
		{"DeepSeek's cache", "", `,"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8}`, message.Usage{Known: true, Input: 2, Output: 2, CacheRead: 8, CostUSD: 2}},
		{"Moonshot's place", `,"usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":4}`, "", message.Usage{Known: true, Input: 6, Output: 2, CacheRead: 4, CostUSD: 2}},
		{"Groq's place", "", `,"x_groq":{"id":"r","usage":{"prompt_tokens":10,"completion_tokens":2}}`, message.Usage{Known: true, Input: 10, Output: 2, CostUSD: 2}},
		{"xAI's reasoning", "", `,"usage":{"prompt_tokens":10,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":5}}`, message.Usage{Known: true, Input: 10, Output: 7, Reasoning: 5, CostUSD: 7}},
		{"fractions", "", `,"usage":{"prompt_tokens":10.0,"completion_tokens":2.0,"prompt_tokens_details":null}`, message.Usage{Known: true, Input: 10, Output: 2, CostUSD: 2}},
		{"zeros", "", `,"usage":{"prompt_tokens":0,"completion_tokens":0}`, message.Usage{}},
		{"null", "", `,"usage":null`, message.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			event := strings.Replace(strings.Replace(answer, "%s", tt.inChoice, 1), "%s", tt.beside, 1)
			quoted, _ := json.Marshal("data: " + event + "\n\ndata: [DONE]\n\n")
			srv := providertest.New(t, "turn\n raw "+string(quoted)+"\n end")
			got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}, openai.Dialect{}), ask("go"))
			if got.Err != nil || got.Response.Usage != tt.want {
				t.Errorf("usage = %+v, %v; want %+v", got.Response.Usage, got.Err, tt.want)
			}
		})
	}
}

// A server that does not know a field of ours is asked again without it, once,
// and the field stays away from then on.
func TestLearnsFields(t *testing.T) {
	srv := providertest.New(t, `
		turn
		  status 400 Unrecognized request argument supplied: stream_options
		turn
		  say one
		turn
		  status 400 Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.
		turn
		  say two`)
	c := newClient(t, srv.URL(), httpapi.Retry{Attempts: 1}, openai.Dialect{})
	req := ask("go")
	if got := providertest.Ask(t, c, req); got.Text != "one" {
		t.Fatalf("got %q, %v", got.Text, got.Err)
	}
	req.MaxTokens = 77
	if got := providertest.Ask(t, c, req); got.Text != "two" {
		t.Fatalf("got %q, %v", got.Text, got.Err)
	}
	bodies := srv.Requests()
	for i, want := range []bool{true, false, false, false} {
		if got := bytes.Contains(bodies[i].Body, []byte("stream_options")); got != want {
			t.Errorf("request %d has stream_options: %v, want %v", i+1, got, want)
		}
	}
	if !bytes.Contains(bodies[3].Body, []byte(`"max_completion_tokens":77`)) {
		t.Errorf("the last request lacks the field that the server asked for: %s", bodies[3].Body)
	}
}

func TestHeaders(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	t.Setenv("OPENAI_ORG_ID", "org-from-the-environment")
	srv := providertest.New(t, "turn\n expect header User-Agent is zot/9\n expect header X-Extra is yes\n expect header Authorization is \"\"\n say Hi.")
	c := openai.New(openai.Options{Provider: "fake", BaseURL: srv.URL() + "/", UserAgent: "zot/9", Headers: map[string]string{"X-Extra": "yes"}})
	if got := providertest.Ask(t, c, ask("go")); got.Err != nil {
		t.Fatal(got.Err)
	}
	for k := range srv.Requests()[0].Header {
		if strings.HasPrefix(k, "X-Stainless") || strings.HasPrefix(k, "Openai-") {
			t.Errorf("the request tells %s", k)
		}
	}
}

func TestReasoningLevels(t *testing.T) {
	tests := []struct {
		dialect openai.Dialect
		level   string
		want    string // in the body; empty: nothing about it
	}{
		{openai.Dialect{}, "", ""},
		{openai.Dialect{}, "off", ""},
		{openai.Dialect{}, "low", `"reasoning_effort":"low"`},
		{openai.Dialect{}, "max", `"reasoning_effort":"xhigh"`},
		{openai.Dialect{Levels: map[string]string{"xhigh": "high", "off": "none"}}, "xhigh", `"reasoning_effort":"high"`},
		{openai.Dialect{Levels: map[string]string{"off": "none"}}, "off", `"reasoning_effort":"none"`},
		{openai.Dialect{Effort: openai.EffortObject}, "medium", `"reasoning":{"effort":"medium"}`},
		{openai.Dialect{Effort: openai.EffortObject}, "off", `"reasoning":{"enabled":false}`},
		{openai.Dialect{Effort: openai.EffortNone}, "high", ""},
	}
	for _, tt := range tests {
		srv := providertest.New(t, "turn\n say Hi.")
		req := ask("go")
		req.Reasoning = tt.level
		if got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}, tt.dialect), req); got.Err != nil {
			t.Fatal(got.Err)
		}
		body := string(srv.Requests()[0].Body)
		if tt.want == "" && strings.Contains(body, "reasoning") || !strings.Contains(body, tt.want) {
			t.Errorf("%+v, level %q: body %s lacks %s", tt.dialect, tt.level, body, tt.want)
		}
	}
}

// Kimi K3 is told of a deferred tool behind the result that activated it, and
// at the same place ever after.
func TestDeferredInPlace(t *testing.T) {
	tool := func(name string) model.Tool {
		return model.Tool{Name: name, Description: "D.", Schema: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}
	}
	transcript := []message.Message{
		user("go"),
		{Role: message.Assistant, Content: []message.Block{
			message.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{}`)},
			message.ToolCall{ID: "c2", Name: "find", Args: json.RawMessage(`{}`)},
		}},
		{Role: message.Tool, Content: []message.Block{
			message.ToolResult{CallID: "c1", Content: []message.Block{message.Image{MIMEType: "image/png", Data: []byte("x")}}, Activated: []string{"late", "unknown"}},
			message.ToolResult{CallID: "c2", Content: []message.Block{message.Text{Text: "b"}}, Activated: []string{"late", "later"}},
		}},
	}
	srv := providertest.New(t, "turn\n say One.\nturn\n say Two.")
	c := newClient(t, srv.URL(), httpapi.Retry{}, openai.Dialect{DeferredInPlace: true, ReasoningField: "reasoning_content"})
	req := model.Request{Model: "kimi-k3", Messages: transcript, Tools: []model.Tool{tool("find")}, Deferred: []model.Tool{tool("later"), tool("late"), tool("lost")}}
	providertest.Ask(t, c, req)
	req.Messages = append(req.Messages,
		message.Message{Role: message.Assistant, Content: []message.Block{message.Reasoning{Summary: "Hm."}, message.Text{Text: "One."}}}, user("more"))
	providertest.Ask(t, c, req)

	want := `request 1
model kimi-k3
tools find lost
user: go
assistant
  call c1 find {}
  call c2 find {}
result c1: (the image follows in the next message)
result c2: b
declare late later
user: Images in the result of the call c1:
  image image/png, 1 bytes
request 2
model kimi-k3
tools find lost
... 6 messages as before
assistant: One.
  thought: Hm.
user: more
`
	if d := cmp.Diff(want, srv.Log()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
	declared := `{"role":"system","tools":[{"type":"function","function":{"name":"late","description":"D.","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}`
	if body := string(srv.Requests()[0].Body); !strings.Contains(body, declared) {
		t.Errorf("the declaration is not as the format wants it: %s", body)
	}
}

func TestSchemasAreMadeObjects(t *testing.T) {
	srv := providertest.New(t, "turn\n say Hi.")
	req := ask("go")
	for _, s := range []string{``, `null`, `{}`, `{"type":"object"}`, `{"properties":{"a":{}}}`, `"odd"`} {
		req.Tools = append(req.Tools, model.Tool{Name: "t" + string(rune('a'+len(req.Tools))), Schema: json.RawMessage(s)})
	}
	if got := providertest.Ask(t, newClient(t, srv.URL(), httpapi.Retry{}, openai.Dialect{}), req); got.Err != nil {
		t.Fatal(got.Err)
	}
}

// A silent server does not hold a call forever, and keep-alives keep it.
func TestIdle(t *testing.T) {
	srv := providertest.New(t, "turn\n say Hel\n hang")
	hc, err := httpapi.NewClient(httpapi.ClientOptions{Idle: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c := openai.New(openai.Options{Provider: "fake", BaseURL: srv.URL(), HTTP: hc})
	got := providertest.Ask(t, c, ask("go"))
	e, ok := got.Err.(*model.Error)
	if !ok || e.Kind != model.KindTruncated || !strings.Contains(e.Error(), "silent") || got.Text != "Hel" {
		t.Errorf("got %q, %v; want the text and an error about the silence", got.Text, got.Err)
	}
}

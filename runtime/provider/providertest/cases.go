package providertest

import (
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
)

// contract is what every client does, in scripts that no wire is part of.
var contract = []contractCase{
	// Answers.
	{
		name: "text", script: "turn\n expect prompt is hi\n expect model is fake\n say Hello, you there.",
		text: "Hello, you there.", stop: model.StopEndTurn,
		usage: message.Usage{Known: true, Input: 10, Output: 5, CostUSD: 5},
	},
	{name: "nothing at all", script: "turn", stop: model.StopEndTurn},
	{
		name: "reasoning", script: "turn\n think Let me see.\n say Yes.\n usage input=100 output=50 cached=60 written=20 reasoning=30",
		text: "Yes.", reasoning: "Let me see.", stop: model.StopEndTurn,
		usage: message.Usage{Known: true, Input: 20, Output: 50, Reasoning: 30, CacheRead: 60, CacheWrite: 20, CostUSD: 50},
	},
	{name: "no usage", script: "turn\n say Hi.\n usage none", text: "Hi.", unknown: true},
	{
		name: "one call", script: "turn\n say Looking.\n call id=a1 bash {\"command\":\"ls -l\"}", text: "Looking.",
		calls: []message.ToolCall{{ID: "a1", Name: "bash", Args: []byte(`{"command":"ls -l"}`)}}, stop: model.StopToolUse,
	},
	{
		name:   "several calls in order",
		script: "turn\n call bash {\"command\":\"a\"}\n call bash {\"command\":\"b\"}\n call now {}",
		calls:  []message.ToolCall{call("bash", `{"command":"a"}`), call("bash", `{"command":"b"}`), call("now", `{}`)}, stop: model.StopToolUse,
	},
	{name: "a call without arguments", script: "turn\n call now", calls: []message.ToolCall{call("now", `{}`)}, stop: model.StopToolUse},
	{
		name: "arguments that are not JSON", script: "turn\n call bash {\"command\": \"ls", stop: model.StopToolUse,
		calls: []message.ToolCall{broken("bash", `{"command": "ls`)},
	},
	{
		name: "arguments that are no object", script: "turn\n call bash [1,2]", stop: model.StopToolUse,
		calls: []message.ToolCall{broken("bash", `[1,2]`)},
	},
	{
		name: "length in the text", script: "turn\n say As I was sa\n finish length",
		text: "As I was sa", stop: model.StopLength,
	},
	{
		name: "length in the arguments", script: "turn\n call bash {\"command\":\"a\"}\n call bash {\"comm\n finish length",
		calls: []message.ToolCall{call("bash", `{"command":"a"}`), broken("bash", `{"comm`)}, stop: model.StopLength,
	},
	{
		name: "length before the arguments", script: "turn\n say Now.\n call now\n finish length",
		text: "Now.", stop: model.StopLength,
	},
	{name: "crlf", script: "turn\n quirk crlf noise bom\n say Hello, you.\n call now {}", text: "Hello, you.", calls: []message.ToolCall{call("now", `{}`)}},
	{name: "a whole answer", script: "turn\n quirk json\n say Hello, you.\n call now {}", text: "Hello, you.", calls: []message.ToolCall{call("now", `{}`)}, stop: model.StopToolUse},
	{name: "an event stream by another name", script: "turn\n content-type text/plain\n say Hello.", text: "Hello."},

	// Streams that break.
	{
		name: "cut in the text", script: "turn\n say Hello, you\n cut",
		text: "Hello, you", kind: model.KindTruncated, says: []string{"broke off"}, stop: model.StopError,
	},
	{name: "closed in the text", script: "turn\n say Hello, you\n end", text: "Hello, you", kind: model.KindTruncated},
	{name: "cut in the arguments", script: "turn\n say Go.\n call bash {\"command\":\"rm x\n cut", text: "Go.", kind: model.KindTruncated},
	{name: "closed in the arguments", script: "turn\n say Go.\n call bash {\"command\":\"rm x\n end", text: "Go.", kind: model.KindTruncated},
	{name: "closed behind whole arguments", script: "turn\n say Go.\n call bash {\"command\":\"rm x\"}\n end", text: "Go.", kind: model.KindTruncated},
	{
		name: "cut before anything, then fine", script: "turn\n cut\nturn\n say Hello.",
		text: "Hello.", retries: []model.Retry{{Attempt: 1, Wait: 500 * time.Millisecond}},
	},
	{
		name: "never anything", script: "turn\n end\nturn\n cut\nturn\n end", kind: model.KindTruncated, says: []string{"3 times"},
		retries: []model.Retry{{Attempt: 1, Wait: 500 * time.Millisecond}, {Attempt: 2, Wait: time.Second}},
	},
	{
		name: "an error in the stream", script: "turn\n say Hel\n error status=502 the backend died",
		text: "Hel", kind: model.KindUnavailable, says: []string{"the backend died"},
	},
	{
		name: "an error first in the stream", script: "turn\n error code=server_error busy\nturn\n say Hello.",
		text: "Hello.", retries: []model.Retry{{Attempt: 1, Wait: 500 * time.Millisecond}},
	},
	{name: "a web page instead", script: "turn\n content-type text/html\n raw \"<!DOCTYPE html><p>Log in</p>\"\n end", kind: model.KindProtocol, says: []string{"text/html", "base URL"}},
	{name: "other JSON instead", script: "turn\n content-type application/json\n raw \"{\\\"status\\\":\\\"fine\\\"}\"\n end", kind: model.KindProtocol, says: []string{"fine"}},

	// Refusals, in the words of many servers.
	{name: "401", script: "turn\n status 401 code=invalid_api_key Incorrect API key: " + Key, kind: model.KindAuth, status: 401, says: []string{"Incorrect API key: [key]", "zot login"}},
	{name: "403 in HTML", script: "turn\n status 403 shape=html Access denied & logged", kind: model.KindAuth, status: 403, says: []string{"Access denied & logged"}, lacks: []string{"<", "color"}},
	{name: "404 in plain text", script: "turn\n status 404 shape=plain model not here", kind: model.KindNotFound, status: 404, says: []string{"model not here", "--list-models"}},
	{name: "400 with a detail", script: "turn\n status 400 shape=detail no such field", kind: model.KindBadRequest, status: 400, says: []string{"no such field"}},
	{name: "422 with a list of details", script: `turn
		status 422 shape=detail [{"loc":["body","top_k"],"msg":"must be positive","type":"value_error"}]`, kind: model.KindBadRequest, says: []string{"body.top_k: must be positive"}},
	{name: "400 in a list", script: "turn\n status 400 shape=google code=INVALID_ARGUMENT bad things", kind: model.KindBadRequest, says: []string{"bad things"}},
	{name: "418 without words", script: "turn\n status 418 shape=empty", kind: model.KindBadRequest, says: []string{"HTTP 418", "teapot"}},
	{name: "a redirect", script: "turn\n status 308 https://elsewhere.example/v1?token=1", kind: model.KindProtocol, says: []string{"https://elsewhere.example/v1"}, lacks: []string{"token"}},
	{name: "an empty account", script: "turn\n status 429 code=insufficient_quota You exceeded your current quota", kind: model.KindRateLimit, says: []string{"balance"}},
	{name: "a tool refused by name", req: model.Request{Tools: contractTools}, script: "turn\n expect tool bash now\n status 400 type=invalid_request_error param=tools[1].function.parameters Invalid schema for function 'now': no", kind: model.KindBadRequest, tool: "now", says: []string{`"now"`}},
	{name: "a tool refused by position", req: model.Request{Tools: contractTools}, script: "turn\n status 400 tools.0.custom.input_schema: is wrong", kind: model.KindBadRequest, tool: "bash", says: []string{`"bash"`}},

	// Trying again.
	{name: "503, then fine", script: "turn\n status 503 shape=html Bad day\nturn\n say Hello.", text: "Hello.", retries: []model.Retry{{Attempt: 1, Wait: 500 * time.Millisecond}}},
	{name: "429 with seconds", script: "turn\n status 429 retry-after=2 slow down\nturn\n say Hello.", text: "Hello.", retries: []model.Retry{{Attempt: 1, Wait: 2 * time.Second}}},
	{name: "429 with milliseconds", script: "turn\n status 429 retry-after-ms=250 retry-after=1 slow down\nturn\n say Hello.", text: "Hello.", retries: []model.Retry{{Attempt: 1, Wait: 250 * time.Millisecond}}},
	{name: "429 with words", script: "turn\n status 429 Limit 30000, used 29000. Please try again in 1m4.5s.", kind: model.KindRateLimit, says: []string{"in 1m5s", "try again at"}},
	{name: "429 with nothing", script: "turn\n status 429 slow down\nturn\n status 429 slow down\nturn\n status 429 slow down", kind: model.KindRateLimit, status: 429, says: []string{"slow down", "3 times"}, retries: []model.Retry{{Attempt: 1, Wait: 500 * time.Millisecond}, {Attempt: 2, Wait: time.Second}}},
	{name: "429 with hours", script: "turn\n status 429 retry-after=11000 slow down", kind: model.KindRateLimit, says: []string{"try again at", "in 3h3m20s"}},
	{name: "429 with a far date", script: "turn\n status 429 retry-at=2h come back later", kind: model.KindRateLimit, says: []string{"try again at"}},
	{name: "400 is not tried again", script: "turn\n status 400 no", kind: model.KindBadRequest},

	// Overflow, by different signs.
	{name: "overflow by code", script: "turn\n status 400 code=context_length_exceeded This model's maximum context length is 8192 tokens.", kind: model.KindOverflow, says: []string{"8192", "/compact"}},
	{name: "overflow by status", script: "turn\n status 413 shape=plain no", kind: model.KindOverflow},
	{name: "overflow by phrase", script: "turn\n status 400 shape=anthropic type=invalid_request_error prompt is too long: 213462 tokens > 200000 maximum", kind: model.KindOverflow, says: []string{"213462"}},
	{name: "overflow in the stream", script: "turn\n error the request exceeds the available context size (4096 tokens)", kind: model.KindOverflow},
	{name: "overflow in a bare 500", script: "turn\n status 500 shape=plain input of 9000 tokens exceeds the limit", kind: model.KindOverflow, status: 500},
	{name: "a limit per minute is none", script: "turn\n status 429 retry-after=90 Rate limit reached for tokens per min (TPM): limit 30000", kind: model.KindRateLimit},

	// What is sent.
	{
		name: "the conversation",
		req: model.Request{
			System: "Be brief.", Tools: contractTools,
			Messages: []message.Message{
				says(message.User, "list"),
				calling(message.ToolCall{ID: "c1", Name: "bash", Args: []byte(`{"command":"ls"}`)}),
				answering(result("c1", "a.txt\nb.txt")),
				says(message.Assistant, "Two files."),
				says(message.User, "thanks"),
			},
		},
		script: `turn
			expect system is "Be brief."
			expect transcript is "model fake\ntools bash now\nsystem ...\nuser: list\nassistant\n  call c1 bash {\"command\":\"ls\"}\nresult c1: a.txt\n  b.txt\nassistant: Two files.\nuser: thanks\n"
			say Welcome.`,
		text: "Welcome.",
	},
	{
		name: "orphans are repaired",
		req: model.Request{Messages: []message.Message{
			says(message.User, "go"),
			answering(result("ghost", "boo")),
			calling(message.ToolCall{ID: "c1", Name: "bash", Args: []byte(`{"command":"a"}`)}, message.ToolCall{ID: "c2", Name: "bash", Args: []byte(`{"command": "b`)}),
			answering(result("c1", "done"), result("c1", "again"), result("c9", "whose?")),
			says(message.User, "and now?"),
		}},
		script: `turn
			expect transcript matches "(?s)^model fake\nuser: go\nassistant\n  call c1 bash \\{\"command\":\"a\"\\}\n  call c2 bash \\{\\}\nresult c1: done\nresult c2( .error.)?: .*no result was recorded.*\nuser: and now\\?\n$"
			say Fine.`,
		text: "Fine.",
	},
	{
		name: "images",
		req: model.Request{Messages: []message.Message{
			{Role: message.User, Content: []message.Block{message.Text{Text: "what is this?"}, message.Image{MIMEType: "image/png", Data: []byte("12345")}}},
			calling(message.ToolCall{ID: "c1", Name: "bash", Args: []byte(`{}`)}),
			answering(message.ToolResult{CallID: "c1", Content: []message.Block{message.Image{MIMEType: "image/gif", Data: []byte("123")}}}),
		}},
		script: `turn
			expect images 2
			expect transcript contains "image image/png, 5 bytes"
			expect transcript contains "image image/gif, 3 bytes"
			say A picture.`,
		text: "A picture.",
	},
	{
		name: "deferred tools join the others",
		req: model.Request{Tools: contractTools, Deferred: []model.Tool{{Name: "late", Schema: []byte(`{"type":"object"}`)}}, Messages: []message.Message{
			says(message.User, "go"),
			calling(message.ToolCall{ID: "c1", Name: "bash", Args: []byte(`{}`)}),
			answering(message.ToolResult{CallID: "c1", Content: []message.Block{message.Text{Text: "ok"}}, Activated: []string{"late"}}),
		}},
		script: "turn\n expect tool bash now late\n say Fine.", text: "Fine.",
	},
	{name: "two users in a row", req: model.Request{Messages: []message.Message{says(message.User, "a"), says(message.Assistant, ""), says(message.User, "b")}}, script: "turn\n expect prompt contains b\n say Fine.", text: "Fine."},
}

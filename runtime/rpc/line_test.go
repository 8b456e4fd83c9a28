package rpc_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/rpcproto"
	"github.com/patriceckhart/zot/runtime/rpc"
)

// Each line that is no command is answered, with its id where that can be
// read, and the next one is served.
func TestBadLines(t *testing.T) {
	tests := []struct{ line, response string }{
		{`this is not JSON`, `{"type":"response","success":false,"error":"invalid JSON: invalid character 'h' in literal true (expecting 'r')"}`},
		{`{"id":"x","type":"ping"`, `{"type":"response","success":false,"error":"invalid JSON: unexpected end of JSON input"}`},
		{`[1,2]`, `{"type":"response","success":false,"error":"a command is a JSON object, not a JSON array"}`},
		{`"ping"`, `{"type":"response","success":false,"error":"a command is a JSON object, not a JSON string"}`},
		{`null`, `{"type":"response","success":false,"error":"the command has no \"type\""}`},
		{`{"id":"1"}`, `{"type":"response","id":"1","success":false,"error":"the command has no \"type\""}`},
		{`{"id":"1","type":7}`, `{"type":"response","id":"1","success":false,"error":"field \"type\": a JSON number does not belong there"}`},
		{`{"id":"1","type":"prompt","message":["x"]}`, `{"type":"response","id":"1","command":"prompt","success":false,"error":"field \"message\": a JSON array does not belong there"}`},
		{`{"id":["1"],"type":"ping"}`, `{"type":"response","command":"ping","success":false,"error":"field \"id\": must be a string or a number, got [\"1\"]"}`},
		{`{"id":7,"type":"fly"}`, `{"type":"response","id":7,"command":"fly","success":false,"error":"unknown command"}`},
		{`{"id":"1","type":"prompt"}`, `{"type":"response","id":"1","command":"prompt","success":false,"error":"prompt: the message is empty"}`},
		{`{"id":"1","type":"prompt","message":" \n"}`, `{"type":"response","id":"1","command":"prompt","success":false,"error":"prompt: the message is empty"}`},
		{`{"id":"1","type":"prompt","images":[{"mime_type":"image/png","data":"%%"}]}`,
			`{"type":"response","id":"1","command":"prompt","success":false,"error":"the command cannot be read: illegal base64 data at input byte 0"}`},
		{`{"id":"1","type":"prompt","images":[{"mime_type":"text/plain","data":"eA=="}]}`,
			`{"type":"response","id":"1","command":"prompt","success":false,"error":"prompt: image 1 needs a mime_type like image/png, and data in base64"}`},
		{`{"id":"1","type":"set_model"}`, `{"type":"response","id":"1","command":"set_model","success":false,"error":"set_model: the model is missing"}`},
		{`{"id":"1","type":"set_reasoning","reasoning":"hard"}`,
			`{"type":"response","id":"1","command":"set_reasoning","success":false,"error":"set_reasoning: unknown level \"hard\"; use off, minimal, low, medium, high, xhigh or max"}`},
		{`{"id":"1","type":"confirm","request":"r","answer":"maybe"}`,
			`{"type":"response","id":"1","command":"confirm","success":false,"error":"confirm: unknown answer \"maybe\"; use yes, always_tool, always or no"}`},
		{`{"id":"1","type":"confirm","request":"r","answer":"yes"}`,
			`{"type":"response","id":"1","command":"confirm","success":false,"error":"confirm: nothing is asked in this session"}`},
		{`{"id":"1","type":"panel_key","panel_id":"p","key":"up"}`, `{"type":"response","id":"1","command":"panel_key","success":false,"error":"panel_key: no panel \"p\" is open"}`},
		{`{"id":"1","type":"panel_key","panel_id":"p"}`, `{"type":"response","id":"1","command":"panel_key","success":false,"error":"panel_key: the key is missing"}`},
		{`{"id":"1","type":"panel_close","panel_id":"p"}`, `{"type":"response","id":"1","command":"panel_close","success":false,"error":"panel_close: no panel \"p\" is open"}`},
		{`{"id":"1","type":"run_command"}`, `{"type":"response","id":"1","command":"run_command","success":false,"error":"run_command: the name is missing"}`},
		{`{"id":"1","type":"run_command","name":"none"}`, `{"type":"response","id":"1","command":"run_command","success":false,"error":"no such command: /none"}`},
		{`{"id":"1","type":"reload_ext","name":"none"}`, `{"type":"response","id":"1","command":"reload_ext","success":false,"error":"no such extension: \"none\""}`},
		{`{"id":null,"type":"ping","unknown":{}}`, `{"type":"response","command":"ping","success":true,"data":{"pong":true}}`},
	}
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{})
		for _, test := range tests {
			c.wants(test.line, test.response)
		}
		c.send(`{"type":"prompt","message":"and now?"}`)
		c.until(`"done"`)
		c.over()
	})
}

// Lines may come with a byte order mark, with CR LF, blank ones between them,
// and without an end at the end.
func TestLineForms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{})
		io.WriteString(c.in, "\xef\xbb\xbf{\"id\":1,\"type\":\"ping\"}\r\n\r\n\n   \n{\"id\":2,\"type\":\"ping\"}\r\n{\"id\":3,\"type\":\"ping\"}")
		rest, err := c.leave()
		if err != nil || len(rest) != 3 {
			t.Errorf("got %q, %v", rest, err)
		}
	})
}

// A line over the limit is refused under its id, and what follows is served.
// The longest that is allowed is.
func TestLongLines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{})
		line := func(head string, n int) string { return head + strings.Repeat("x", n-len(head)-2) + `"}` }
		c.wants(line(`{"id":"1","type":"prompt","message":"`, rpcproto.MaxLine+1),
			`{"type":"response","id":"1","command":"prompt","success":false,"error":"the line is over the limit of 16777216 bytes"}`)
		c.wants(line(`{"message":"`, 2*rpcproto.MaxLine), `{"type":"response","success":false,"error":"the line is over the limit of 16777216 bytes"}`)
		c.wants(line(`{"type":"ping","message":"`, rpcproto.MaxLine)+"\r", `{"type":"response","command":"ping","success":true,"data":{"pong":true}}`)
		c.over()
	})
}

// With a token nothing is served, started or said before it was shown.
func TestToken(t *testing.T) {
	ext := map[string]string{"eager": "send {\"type\":\"hello\",\"name\":\"eager\"}\nsend {\"type\":\"notify\",\"level\":\"info\",\"message\":\"here\"}\nsend {\"type\":\"ready\"}\non shutdown\n  exit 0\n"}
	for _, test := range []struct{ first, response string }{
		{`{"id":"0","type":"hello","token":"wrong"}`, `{"type":"response","id":"0","command":"hello","success":false,"error":"auth failed: wrong token"}`},
		{`{"id":"0","type":"hello"}`, `{"type":"response","id":"0","command":"hello","success":false,"error":"auth failed: wrong token"}`},
		{`{"id":"0","type":"hello","token":"secret1"}`, `{"type":"response","id":"0","command":"hello","success":false,"error":"auth failed: wrong token"}`},
		{`{"id":"0","type":"ping"}`, `{"type":"response","id":"0","command":"ping","success":false,"error":"auth required: the first command must be hello with the token"}`},
		{`{"id":"0","type":"fly"}`, `{"type":"response","id":"0","command":"fly","success":false,"error":"auth required: the first command must be hello with the token"}`},
		{`what?`, `{"type":"response","success":false,"error":"auth required: the first command must be hello with the token"}`},
		{strings.Repeat(" ", rpcproto.MaxLine) + `{"type":"hello","token":"secret"}`, `{"type":"response","success":false,"error":"auth required: the first command must be hello with the token"}`},
	} {
		bubble(t, func(t *testing.T) {
			c := serve(t, setup{token: "secret", extensions: ext})
			c.send(test.first)
			rest, err := c.leave()
			compare(t, rest, test.response)
			if !errors.Is(err, rpc.ErrAuth) {
				t.Errorf("ended with %v", err)
			}
		})
	}
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{token: "secret", extensions: ext})
		c.send("", `{"id":"0","type":"hello","token":"secret"}`)
		lines := c.until(`"ext_notify"`)
		matches(t, lines[0], `"command":"hello","success":true`)
		matches(t, c.ask(`{"type":"hello","token":"secret"}`), `"success":true`)
		matches(t, c.ask(`{"type":"hello","token":"guess"}`), `"success":false,"error":"auth failed: wrong token"`)
		if _, err := c.leave(); !errors.Is(err, rpc.ErrAuth) {
			t.Errorf("ended with %v", err)
		}
	})
	bubble(t, func(t *testing.T) { // nobody came
		c := serve(t, setup{token: "secret", extensions: ext})
		rest, err := c.leave()
		if len(rest) > 0 || err != nil {
			t.Errorf("got %q, %v", rest, err)
		}
	})
}

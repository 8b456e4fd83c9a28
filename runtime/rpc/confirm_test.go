package rpc_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/rpc"
	"github.com/patriceckhart/zot/runtime/tool"
)

// asking is a session whose user wishes to be asked about every call.
func asking(m stage, tool *fakeTool) setup {
	return setup{model: m, tools: tools(tool), asker: &rpc.Asker{}, policy: policyFor{Effect: guard.Ask, Soft: true}}
}

func tools(t *fakeTool) []tool.Tool { return []tool.Tool{t} }

const helloConfirm = `{"type":"hello","capabilities":["confirm"]}`

// A client that announced it is asked about calls, and its answer holds.
func TestConfirm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, echo := newStage(), &fakeTool{}
		c := serve(t, asking(m, echo))
		c.ask(helloConfirm)
		question := func(id, args string) {
			t.Helper()
			c.seen = nil
			c.send(`{"type":"prompt","message":"go"}`)
			m.call(id, "echo", args)
			lines := c.until(`"confirmation_request"`)
			matches(t, lines[len(lines)-1], `{"type":"confirmation_request","id":"`+id+`","tool_id":"`+id+`","tool_name":"echo","tool_preview":".*"}`)
		}
		finish := func() string {
			t.Helper()
			m.say("ok")
			c.until(`"done"`)
			return strings.Join(c.seen, "\n")
		}

		question("c1", `{"n":1}`)
		c.wants(`{"id":1,"type":"confirm","request":"c9","answer":"yes"}`,
			`{"type":"response","id":1,"command":"confirm","success":false,"error":"confirm: no question \"c9\" is open"}`)
		c.wants(`{"id":2,"type":"confirm","request":"c1","answer":"yes"}`, `{"type":"response","id":2,"command":"confirm","success":true}`)
		matches(t, finish(), `"permission_decision","tool_id":"c1","tool_name":"echo","decision":"approved","source":"user"`)

		question("c2", `{"n":2}`)
		c.ask(`{"type":"confirm","request":"c2","answer":"no","reason":"not now"}`)
		matches(t, finish(), `"tool_result","id":"c2","is_error":true,"content":\[{"type":"text","text":"not now"}\]`)

		// Stopped while it is asked: the answer comes too late.
		question("c3", `{"n":3}`)
		c.send(`{"type":"abort"}`)
		matches(t, strings.Join(c.until(`"done"`), "\n"), `(?s)"decision":"cancelled".*"turn_end","stop":"aborted"`)
		matches(t, c.ask(`{"type":"confirm","request":"c3","answer":"yes"}`), `"success":false,"error":"confirm: no question`)

		question("c4", `{"n":4}`)
		c.ask(`{"type":"confirm","request":"c4","answer":"always_tool"}`)
		m.call("c5", "echo", `{"n":5}`)
		if got := finish(); strings.Count(got, "confirmation_request") != 1 {
			t.Errorf("asked again:\n%s", got)
		}
		c.over()
		compare(t, echo.calls(), `{"n":1}`, `{"n":4}`, `{"n":5}`)
	})
}

// A client that does not answer questions is asked none: what the user wished
// to be asked about runs, what a policy demands a yes for does not, and this is
// said once.
func TestNobodyToAsk(t *testing.T) {
	for _, test := range []struct {
		soft bool
		runs int
		want string
	}{{true, 2, `"decision":"approved","source":"yolo"`}, {false, 0, `"decision":"denied","source":"policy"`}} {
		bubble(t, func(t *testing.T) {
			m, echo := newStage(), &fakeTool{}
			s := asking(m, echo)
			s.policy = policyFor{Effect: guard.Ask, Soft: test.soft, Reason: "it is guarded"}
			var told atomic.Int32
			s.asker.Unasked = func() { told.Add(1) }
			c := serve(t, s)
			c.ask(`{"type":"hello"}`)
			c.send(`{"type":"prompt","message":"go"}`)
			m.call("c1", "echo", `{}`)
			m.call("c2", "echo", `{}`)
			m.say("ok")
			got := strings.Join(c.until(`"done"`), "\n")
			matches(t, got, test.want)
			if strings.Contains(got, "confirmation_request") || told.Load() != 1 || len(echo.calls()) != test.runs {
				t.Errorf("%d calls ran, it was said %d times:\n%s", len(echo.calls()), told.Load(), got)
			}
			c.over()
		})
	}
}

// A client that leaves while it is asked has said no.
func TestLeavesWhileAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, echo := newStage(), &fakeTool{}
		c := serve(t, asking(m, echo))
		c.ask(helloConfirm)
		c.send(`{"type":"prompt","message":"go"}`)
		m.call("c1", "echo", `{}`)
		c.until(`"confirmation_request"`)
		c.in.Close()
		synctest.Wait()
		m.call("c2", "echo", `{}`) // asked when it has left already
		m.say("ok")
		rest, err := c.leave()
		if got := strings.Join(rest, "\n"); err != nil || strings.Count(got, "the client left without an answer") != 4 || len(echo.calls()) > 0 {
			t.Errorf("%v ran, ended with %v after\n%s", echo.calls(), err, got)
		}
	})
}

package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// moods answers tool calls as their arguments ask for.
const moods = `
	send {"type":"hello","name":"moods","capabilities":["tool_cancel"]}
	send {"type":"register_tool","name":"echo","schema":{"type":"object"}}
	send {"type":"ready"}
	on tool_call contains between
	  send {"type":"notify","message":"before"}
	  send {"type":"tool_result","id":"$id","content":[{"type":"text","text":"ok"}]}
	  send {"type":"notify","message":"after"}
	on tool_call contains in pieces
	  part {"type":"tool_result","id":"
	  pause 20ms
	  send $id","content":[{"type":"text","text":"ok"}]}
	on tool_call contains never
	  send {"type":"notify","message":"no answer will come"}
	on tool_call contains silence
	on tool_call contains die first
	  exit 3
	on tool_call contains die after
	  send {"type":"tool_result","id":"$id","content":[{"type":"text","text":"ok"}]}
	  exit 4
	on tool_call
	  send {"type":"tool_result","id":"$id","content":[{"type":"text","text":"ok"}]}
`

// mood is a call of the tool of moods.
func mood(ctx context.Context, t tool.Tool, how string) (tool.Result, error) {
	return t.Run(ctx, tool.Call{ID: "x", Args: json.RawMessage(fmt.Sprintf(`{"mood":%q}`, how))})
}

// inARow makes quick calls, after which whoever calls next reads the answer by
// himself.
func inARow(t *testing.T, echo tool.Tool, how string, n int) {
	t.Helper()
	for range n {
		if res, err := mood(t.Context(), echo, how); err != nil || text(res) != "ok" {
			t.Fatalf("%s: %+v, %v", how, res, err)
		}
	}
}

// What comes between answers is handled in its order, whoever read it.
func TestNotesBetweenAnswers(t *testing.T) {
	const calls = 200
	r := started(t, extension.Options{}, scripted(t, "moods", moods))
	echo := r.tool("echo")
	for range calls {
		inARow(t, echo, "between", 1)
		inARow(t, echo, "plain", 2)
	}
	eventually(t, "all notes have come", func() bool { return len(emitted[event.ExtNotify](r)) >= 2*calls })
	for n, note := range emitted[event.ExtNotify](r) {
		if want := []string{"before", "after"}[n%2]; note.Message != want {
			t.Fatalf("note %d is %q, want %q", n, note.Message, want)
		}
	}
}

// An answer that comes in two pieces, with a pause that no caller reads
// through, is one answer.
func TestAnswerInPieces(t *testing.T) {
	r := started(t, extension.Options{}, scripted(t, "moods", moods))
	echo := r.tool("echo")
	for range 10 {
		inARow(t, echo, "plain", 2)
		inARow(t, echo, "in pieces", 2)
	}
}

// A call that gets no answer ends when it is cancelled, also for a caller who
// reads by himself, and the calls after it work.
func TestCancelAfterCallsInARow(t *testing.T) {
	r := started(t, extension.Options{}, scripted(t, "moods", moods))
	echo := r.tool("echo")
	for _, how := range []string{"never", "silence"} {
		inARow(t, echo, "plain", 3)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		before := time.Now()
		if _, err := mood(ctx, echo, how); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", how, err)
		}
		quick(t, "the cancelled call", before)
	}
	inARow(t, echo, "plain", 3)
}

// A death is noticed at once: by who waits for an answer, and where nobody does.
func TestDeathAfterCallsInARow(t *testing.T) {
	r := started(t, extension.Options{}, scripted(t, "moods", moods))
	echo := r.tool("echo")
	inARow(t, echo, "plain", 3)
	before := time.Now()
	res, err := mood(t.Context(), echo, "die first")
	if err != nil || !res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	wantContains(t, text(res), "extension moods disconnected", "exit status 3")
	quick(t, "the failure", before)

	r = started(t, extension.Options{}, scripted(t, "moods", moods))
	echo = r.tool("echo")
	inARow(t, echo, "plain", 3)
	before = time.Now()
	inARow(t, echo, "die after", 1)
	eventually(t, "the extension is down", func() bool { return r.status("moods").State == extension.StateFailed })
	quick(t, "the news", before)
	wantContains(t, r.status("moods").Error, "exit status 4")
}

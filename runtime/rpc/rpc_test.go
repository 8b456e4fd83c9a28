package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/tool"
)

// bubble runs a test in a bubble of synctest: its clock begins with the year
// 2000, and time passes only while everybody waits.
func bubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// The lines of a short conversation, byte for byte as existing clients know
// them.
func TestConversation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{})
		c.wants(`{"id":"1","type":"hello"}`,
			`{"type":"response","id":"1","command":"hello","success":true,"data":{"protocol_version":1,"version":"1.2.3","provider":"test","model":"fake"}}`)
		c.wants(`{"id":"2","type":"ping"}`, `{"type":"response","id":"2","command":"ping","success":true,"data":{"pong":true}}`)
		c.wants(`{"type":"get_models"}`,
			`{"type":"response","command":"get_models","success":true,"data":{"models":[{"id":"fake","provider":"test","context_window":1000,"max_output":10,"reasoning":false}]}}`)
		c.send(`{"id":"3","type":"prompt","message":"hi"}`)
		compare(t, c.until(`{"type":"done"}`),
			`{"type":"response","id":"3","command":"prompt","success":true,"data":{"started":true}}`,
			`{"type":"user_message","content":[{"type":"text","text":"hi"}],"time":"2000-01-01T00:00:00Z"}`,
			`{"type":"turn_start","step":1}`,
			`{"type":"assistant_start"}`,
			`{"type":"text_delta","delta":"hello"}`,
			`{"type":"assistant_message","content":[{"type":"text","text":"hello"}],"time":"2000-01-01T00:00:00Z"}`,
			`{"type":"usage","input":10,"output":2,"cache_read":0,"cache_write":0,"cost_usd":0,"cumulative":{"input":10,"output":2,"cache_read":0,"cache_write":0,"cost_usd":0}}`,
			`{"type":"turn_end","stop":"end_turn"}`,
			`{"type":"done"}`)
		c.wants(`{"id":"4","type":"get_messages"}`,
			`{"type":"response","id":"4","command":"get_messages","success":true,"data":{"messages":[`+
				`{"role":"user","content":[{"type":"text","text":"hi"}],"time":"2000-01-01T00:00:00Z"},`+
				`{"role":"assistant","content":[{"type":"text","text":"hello"}],"time":"2000-01-01T00:00:00Z"}]}}`)
		matches(t, c.ask(`{"id":"5","type":"get_state"}`),
			`^{"type":"response","id":"5","command":"get_state","success":true,"data":{"provider":"test","model":"fake","cwd":"/project","message_count":2,"busy":false,`+
				`"usage":{"input":10,"output":2,"cache_read":0,"cache_write":0,"cost_usd":0},"session_id":"\w+"}}$`)
		c.wants(`{"id":"6","type":"clear"}`, `{"type":"response","id":"6","command":"clear","success":true}`)
		c.wants(`{"id":"7","type":"get_messages"}`, `{"type":"response","id":"7","command":"get_messages","success":true,"data":{"messages":[]}}`)
		c.over()
	})
}

// A tool call shows as it is written, as it begins and as it ends, and the
// transcript holds it.
func TestToolCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		turns := 0
		m := generate(func(_ context.Context, _ model.Request, emit func(model.Chunk)) (model.Response, error) {
			if turns++; turns > 1 {
				return answer(message.Text{Text: "done"}), nil
			}
			emit(model.Chunk{ToolStart: &model.ToolStart{ID: "c1", Name: "echo"}})
			emit(model.Chunk{ToolArgs: &model.ToolArgs{ID: "c1", Delta: `{"a":1}`}})
			emit(model.Chunk{ToolEnd: &model.ToolEnd{ID: "c1"}})
			return answer(message.ToolCall{ID: "c1", Name: "echo", Args: []byte(`{"a":1}`)}), nil
		})
		c := serve(t, setup{model: m, tools: []tool.Tool{&fakeTool{}}})
		c.send(`{"type":"prompt","message":"go"}`)
		lines := c.until(`{"type":"done"}`)
		for _, want := range []string{
			`{"type":"tool_use_start","id":"c1","name":"echo"}`,
			`{"type":"tool_use_args","id":"c1","delta":"{\"a\":1}"}`,
			`{"type":"tool_use_end","id":"c1"}`,
			`{"type":"tool_call","id":"c1","name":"echo","args":{"a":1}}`,
			`{"type":"turn_end","stop":"tool_use"}`,
			`{"type":"tool_result","id":"c1","is_error":false,"content":[{"type":"text","text":"{\"a\":1}"}],"name":"echo","args":{"a":1},"status":"completed","executed":true}`,
			`{"type":"turn_start","step":2}`,
		} {
			i := slices.Index(lines, want)
			if i < 0 {
				t.Fatalf("no %s in what is left:\n%s", want, strings.Join(lines, "\n"))
			}
			lines = lines[i+1:]
		}
		matches(t, c.ask(`{"type":"get_messages"}`),
			`"role":"tool","content":\[{"type":"tool_result","call_id":"c1","is_error":false,"content":\[{"type":"text","text":"{\\"a\\":1}"}\]}\]`)
		c.over()
	})
}

// A prompt that comes while another runs is answered at once and waits; each
// ends with its own done.
func TestPromptsQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newStage()
		c := serve(t, setup{model: m})
		c.send(`{"id":1,"type":"prompt","message":"one"}`)
		c.until(`"assistant_start"`)
		c.wants(`{"id":2,"type":"prompt","message":"two"}`, `{"type":"response","id":2,"command":"prompt","success":true,"data":{"started":true,"queued":1}}`)
		c.wants(`{"id":3,"type":"compact"}`, `{"type":"response","id":3,"command":"compact","success":true,"data":{"started":true,"queued":2}}`)
		matches(t, c.ask(`{"type":"get_state"}`), `"busy":true,.*"queued":2`)
		m.say("first")
		matches(t, strings.Join(c.until(`"done"`), ""), `"text":"first"`)
		matches(t, c.until(`"user_message"`)[0], `"text":"two"`)
		m.say("second")
		c.until(`"done"`)
		m.say("a summary")
		matches(t, strings.Join(c.until(`{"type":"done"}`), ""), `"compact_start".*"compact_done"`)
		c.over()
	})
}

// What would change the ground under a running prompt is refused; once its
// done was seen it is carried out, every time.
func TestBusy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newStage()
		c := serve(t, setup{model: m})
		for range 50 {
			c.send(`{"type":"prompt","message":"x"}`)
			c.until(`"assistant_start"`)
			for _, command := range []string{`"clear"`, `"set_model","model":"m"`, `"set_reasoning","reasoning":"low"`} {
				matches(t, c.ask(`{"id":9,"type":`+command+`}`), `"id":9,"command":"\w+","success":false,"error":"agent is busy"}`)
			}
			m.say("y")
			c.until(`"done"`)
			c.wants(`{"type":"clear"}`, `{"type":"response","command":"clear","success":true}`)
		}
		c.over()
	})
}

// Abort ends what runs with turn_end aborted and done, leaves what waits, and
// does no harm to an idle session.
func TestAbort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newStage()
		c := serve(t, setup{model: m})
		c.wants(`{"id":"a","type":"abort"}`, `{"type":"response","id":"a","command":"abort","success":true}`)
		c.send(`{"type":"prompt","message":"one"}`, `{"type":"prompt","message":"two"}`)
		c.until(`"queued":1`)
		synctest.Wait()
		c.wants(`{"id":"b","type":"abort"}`, `{"type":"response","id":"b","command":"abort","success":true}`)
		compare(t, c.until(`"done"`), `{"type":"turn_end","stop":"aborted"}`, `{"type":"done"}`)
		m.say("second")
		matches(t, strings.Join(c.until(`"done"`), ""), `"text":"two".*"text":"second"`)

		// Sent in one go with the prompt, it aborts that prompt all the same.
		c.send(`{"type":"prompt","message":"three"}` + "\n" + `{"type":"abort"}`)
		lines := c.until(`"done"`)
		if !slices.Contains(lines, `{"type":"turn_end","stop":"aborted"}`) {
			t.Errorf("no turn_end aborted in\n%s", strings.Join(lines, "\n"))
		}
		c.over()
	})
}

// Compaction ends with done, whether it came to something or not.
func TestCompact(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newStage()
		c := serve(t, setup{model: m})
		c.send(`{"type":"compact"}`)
		lines := c.until(`"done"`)
		compare(t, kinds(lines[len(lines)-2:]), "error", "done") // nothing to shorten
		long := strings.Repeat("a long question ", 200)
		for range 4 {
			c.send(`{"type":"prompt","message":"` + long + `"}`)
			c.until(`"assistant_start"`)
			m.say(strings.Repeat("a long answer ", 200))
			c.until(`"done"`)
		}
		c.send(`{"type":"compact"}`)
		c.until(`"compact_start"`)
		m.say("they talked")
		lines = c.until(`"done"`)
		matches(t, strings.Join(lines, ""), `{"type":"compact_done","summary":"they talked"`)
		matches(t, c.ask(`{"type":"get_messages"}`), `"messages":\[{"role":"user","content":\[{"type":"text","text":"[^"]*they talked`)

		// Stopped, it ends all the same.
		c.send(`{"type":"compact"}`, `{"type":"abort"}`)
		c.until(`"type":"done"`)
		c.over()
	})
}

// A failed prompt says why and ends with done, and the next one is served.
func TestFailedPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{model: failing})
		for range 2 {
			c.send(`{"type":"prompt","message":"x"}`)
			lines := c.until(`"done"`)
			compare(t, lines[len(lines)-3:],
				`{"type":"turn_end","stop":"error","error":"test: it is down"}`, `{"type":"error","message":"test: it is down"}`, `{"type":"done"}`)
		}
		c.over()
	})
}

// Without a model hello, get_state and get_models answer, and name what is
// configured; a prompt fails like any other.
func TestNoModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{noModel: errNoKey})
		c.wants(`{"type":"hello"}`,
			`{"type":"response","command":"hello","success":true,"data":{"protocol_version":1,"version":"1.2.3","provider":"test","model":"wanted"}}`)
		matches(t, c.ask(`{"type":"get_state"}`), `"provider":"test","model":"wanted"`)
		matches(t, c.ask(`{"type":"get_models"}`), `"id":"fake"`)
		c.send(`{"type":"prompt","message":"x"}`)
		matches(t, strings.Join(c.until(`"done"`), ""), `{"type":"error","message":"there is no key"}`)
		c.send(`{"type":"compact"}`)
		matches(t, strings.Join(c.until(`"done"`), ""), `{"type":"error","message":"there is no key"}`)
		c.over()
	})
}

// Images reach the model.
func TestImages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got []message.Block
		m := generate(func(_ context.Context, req model.Request, _ func(model.Chunk)) (model.Response, error) {
			got = req.Messages[0].Content
			return answer(message.Text{Text: "a dot"}), nil
		})
		c := serve(t, setup{model: m})
		c.send(`{"type":"prompt","message":"what?","images":[{"mime_type":"image/png","data":"iVBORw=="}]}`)
		matches(t, strings.Join(c.until(`"done"`), ""), `"content":\[{"type":"text","text":"what\?"},{"type":"image","mime_type":"image/png","bytes":4}\]`)
		if img, ok := got[1].(message.Image); !ok || string(img.Data) != "\x89PNG" {
			t.Errorf("the model got %#v", got)
		}
		c.over()
	})
}

// The model and how hard it thinks can be changed between prompts; another
// model thinks as hard as the one before.
func TestModelAndReasoning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got []string
		m := generate(func(_ context.Context, req model.Request, _ func(model.Chunk)) (model.Response, error) {
			got = append(got, req.Model+" "+req.Reasoning)
			return answer(message.Text{Text: "ok"}), nil
		})
		c := serve(t, setup{model: m})
		prompt := func() { c.send(`{"type":"prompt","message":"x"}`); c.until(`"done"`) }
		prompt()
		c.wants(`{"type":"set_reasoning","reasoning":"Maximum"}`, `{"type":"response","command":"set_reasoning","success":true}`)
		prompt()
		c.send(`{"type":"set_model","model":"other"}`)
		compare(t, c.until(`"response"`), `{"type":"model_changed","provider":"test","model":"other"}`,
			`{"type":"response","command":"set_model","success":true,"data":{"model":"other"}}`)
		matches(t, c.ask(`{"type":"get_state"}`), `"model":"other",.*"reasoning":"max"`)
		prompt()
		compare(t, got, "fake ", "fake max", "other max")
		c.over()
	})
}

// The end of the input lets what runs and waits finish.
func TestInputEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := generate(func(context.Context, model.Request, func(model.Chunk)) (model.Response, error) {
			time.Sleep(time.Hour) // of the bubble
			return answer(message.Text{Text: "at last"}), nil
		})
		c := serve(t, setup{model: m})
		c.send(`{"type":"prompt","message":"one"}`, `{"type":"prompt","message":"two"}`, `{"type":"compact"}`)
		rest, err := c.leave()
		if err != nil || strings.Count(strings.Join(rest, "\n"), `{"type":"done"}`) != 3 {
			t.Errorf("ended with %v after\n%s", err, strings.Join(rest, "\n"))
		}
	})
}

// When zot is told to end, the client hears of the prompt's end, and even one
// that reads nothing does not hold it up.
func TestToldToEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{model: newStage()})
		c.send(`{"type":"prompt","message":"one"}`, `{"type":"prompt","message":"two"}`)
		c.until(`"queued":1`)
		synctest.Wait()
		c.stop()
		rest, err := c.leave()
		compare(t, kinds(rest[len(rest)-2:]), "turn_end", "done")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
	bubble(t, func(t *testing.T) {
		unread, w := io.Pipe()
		c := serve(t, setup{out: w})
		c.send(`{"type":"prompt","message":"one"}`)
		synctest.Wait()
		c.stop()
		start := time.Now()
		if _, err := c.leave(); !errors.Is(err, context.Canceled) || time.Since(start) > 5*time.Second {
			t.Errorf("ended with %v after %v", err, time.Since(start))
		}
		unread.Close()
	})
}

// A client that is gone ends the session with an error and stops the prompt.
func TestOutputFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, w := io.Pipe()
		asked, stopped := make(chan struct{}), make(chan struct{})
		m := generate(func(ctx context.Context, _ model.Request, emit func(model.Chunk)) (model.Response, error) {
			close(asked)
			<-ctx.Done()
			close(stopped)
			return model.Response{}, ctx.Err()
		})
		c := serve(t, setup{out: w, model: m})
		c.send(`{"type":"prompt","message":"one"}`)
		<-asked
		r.Close()
		<-stopped
		if _, err := c.leave(); err == nil || !strings.Contains(err.Error(), "writing to the client") {
			t.Errorf("ended with %v", err)
		}
	})
}

// An input that fails is an error and not an end.
func TestInputFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, setup{})
		c.in.CloseWithError(errors.New("the cable is cut"))
		if _, err := c.leave(); err == nil || !strings.Contains(err.Error(), "reading commands: the cable is cut") {
			t.Errorf("ended with %v", err)
		}
	})
}

// A client may write all it has before it reads a line.
func TestWritesBeforeItReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, w := io.Pipe()
		c := serve(t, setup{out: w, model: says(strings.Repeat("long ", 10_000))})
		const n = 200
		for i := range n {
			c.send(fmt.Sprintf(`{"id":%d,"type":"prompt","message":"x"}`, i), fmt.Sprintf(`{"id":%d,"type":"get_state"}`, n+i))
		}
		c.in.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(text), `{"type":"done"}`); got != n {
			t.Errorf("%d prompts ended, want %d", got, n)
		}
		if got := strings.Count(string(text), `{"type":"response"`); got != 2*n {
			t.Errorf("%d responses, want %d", got, 2*n)
		}
	})
}

package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/transports"
)

const observesAll = `{"type":"subscribe","events":["session_start","session_end","turn_start","turn_end","tool_call","tool_result","assistant_message"]}`

// A session's start is the first thing that an extension is told, however late
// it is; what was before it is ready it does not hear of.
func TestSessionStartComesFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		early, late := newPuppet(t, "early"), newPuppet(t, "late")
		r := rigOf(t, extension.Options{}, early, late)
		early.load(observesAll)
		late.begin()
		late.greet()
		late.say(observesAll)
		r.OpenSession("s1", "/proj")
		r.Observe(event.TurnStart{Step: 1})
		late.hearsNothing()
		late.say(`{"type":"ready"}`)
		r.Observe(event.TurnStart{Step: 2})

		want := func(p *puppet, name string, step any) {
			t.Helper()
			e := p.hears("event")
			if e["event"] != name || e["step"] != step || e["session_id"] != "s1" || e["cwd"] != "/proj" {
				t.Errorf("%s hears %v, want %s %v", p.name, e, name, step)
			}
		}
		want(early, "session_start", nil)
		want(early, "turn_start", 1.0)
		want(early, "turn_start", 2.0)
		want(late, "session_start", nil)
		want(late, "turn_start", 2.0)

		r.CloseSession("session_switch")
		if e := early.hears("event"); e["event"] != "session_end" || e["reason"] != "session_switch" {
			t.Errorf("%v", e)
		}
		late.hears("event")
		r.OpenSession("s2", "/other")
		if e := early.hears("event"); e["event"] != "session_start" || e["session_id"] != "s2" || e["cwd"] != "/other" {
			t.Errorf("%v", e)
		}
		early.hearsNothing()
	})
}

// A change of the model between the hello_ack, which names it, and ready is
// told.
func TestEarlyModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.begin()
		r.Observe(event.ModelChanged{Provider: "p", Model: "in the hello_ack"})
		p.greet()
		r.Observe(event.ModelChanged{Provider: "p", Model: "new"})
		p.say(`{"type":"subscribe","events":["model_changed"]}`, `{"type":"ready"}`)
		if e := p.hears("event"); e["model"] != "new" {
			t.Errorf("%v", e)
		}
		p.hearsNothing()
	})
}

// A prompt that was submitted while an extension was on its way is told once it
// is ready, behind the session's start; one of a session that is over is not.
func TestEarlyPrompts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const observes = `{"type":"subscribe","events":["session_start","user_prompt_submit"]}`
		early, late := newPuppet(t, "early"), newPuppet(t, "late")
		r := rigOf(t, extension.Options{}, early, late)
		early.load(observes)
		late.begin()
		r.OpenSession("s0", "/proj")
		r.UserPromptSubmitted("of another session", false, 0)
		r.CloseSession("session_switch")
		r.OpenSession("s1", "/proj")
		r.UserPromptSubmitted("one", false, 0)
		late.greet()
		r.UserPromptSubmitted("two", true, 1)
		late.say(observes)
		late.hearsNothing()
		late.say(`{"type":"ready"}`)
		r.UserPromptSubmitted("three", false, 0)

		hears := func(p *puppet) (all []any) {
			for len(p.lines) > 0 {
				e := p.hears("event")
				all = append(all, e["event"], e["text"])
			}
			return all
		}
		if got := fmt.Sprint(hears(late)); got != "[session_start <nil> user_prompt_submit one user_prompt_submit two user_prompt_submit three]" {
			t.Errorf("the late one hears %s", got)
		}
		if got := fmt.Sprint(hears(early)); got != "[session_start <nil> user_prompt_submit of another session session_start <nil> user_prompt_submit one user_prompt_submit two user_prompt_submit three]" {
			t.Errorf("the early one hears %s", got)
		}
	})
}

// A spy is a connection that notes where each frame lies in memory.
type spy struct {
	transports.Conn
	note func(frame []byte)
}

func (s spy) WriteFrame(frame []byte, deadline time.Time) error {
	s.note(frame)
	return s.Conn.WriteFrame(frame, deadline)
}

// Every subscriber gets every event, in the same order; an event is encoded
// once, however many there are.
func TestManySubscribers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const subscribers, turns = 50, 100
		var mu sync.Mutex
		encodings := map[string]map[*byte]bool{} // of each event, where it lies
		var entries []extension.Entry
		var puppets []*puppet
		for i := range subscribers {
			p := newPuppet(t, fmt.Sprintf("ext%d", i))
			e := p.entry()
			launch := e.Launch
			e.Launch = func(ctx context.Context, stderr io.Writer) (transports.Conn, error) {
				conn, err := launch(ctx, stderr)
				return spy{conn, func(frame []byte) {
					mu.Lock()
					defer mu.Unlock()
					if encodings[string(frame)] == nil {
						encodings[string(frame)] = map[*byte]bool{}
					}
					encodings[string(frame)][unsafe.SliceData(frame)] = true
				}}, err
			}
			puppets, entries = append(puppets, p), append(entries, e)
		}
		r := newRig(t, extension.Options{}, entries...)
		for _, p := range puppets {
			p.load(`{"type":"subscribe","events":["turn_start","turn_end"]}`)
		}
		clear(encodings)
		for i := range turns {
			r.Observe(event.TurnStart{Step: i + 1})
			r.Observe(event.TurnEnd{Stop: "end_turn"})
			r.Observe(event.ToolCall{ID: "nobody subscribed to it"})
			synctest.Wait() // the queues hold no more than 256
		}
		for _, p := range puppets {
			for i := range 2 * turns {
				e := p.hears("event")
				if want := []string{"turn_start", "turn_end"}[i%2]; e["event"] != want || want == "turn_start" && e["step"] != float64(i/2+1) {
					t.Fatalf("%s hears %v as number %d", p.name, e, i)
				}
			}
			p.hearsNothing()
		}
		if len(encodings) != 2*turns {
			t.Errorf("%d different frames, want %d", len(encodings), 2*turns)
		}
		for frame, places := range encodings {
			if len(places) != 1 {
				t.Errorf("%s was encoded %d times", frame, len(places))
			}
		}
	})
}

// One that does not read is disconnected, visibly, once its queue is full or a
// frame waits too long; nobody is held up by it.
func TestSlowSubscriber(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		frames           int
		wait             time.Duration
	}{
		{"too many frames", strings.Repeat("x", 1000), "its queue is full (256 frames", 400, 0},
		{"too many bytes", strings.Repeat("x", 1<<20), "its queue is full (15 frames", 20, 0},
		{"too long", strings.Repeat("x", 100_000), "writing to it", 1, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				deaf, fine := newPuppet(t, "deaf"), newPuppet(t, "fine")
				r := rigOf(t, extension.Options{}, deaf, fine)
				deaf.beginDeaf()
				deaf.say(`{"type":"hello","name":"deaf"}`, observesAll, `{"type":"ready"}`)
				fine.load(observesAll)
				start := time.Now()
				for range c.frames {
					r.Observe(event.AssistantMessage{Visible: c.text})
					if took := time.Since(start); took > 0 {
						t.Fatalf("telling took %s", took)
					}
					fine.hears("event")
				}
				time.Sleep(c.wait)
				synctest.Wait()
				r.wantState("fine", extension.StateReady)
				failed := emitted[event.ExtFailed](r)
				if len(failed) != 1 || failed[0].Extension != "deaf" {
					t.Fatalf("failures %+v", failed)
				}
				wantContains(t, failed[0].Message, "disconnected: ", c.want)
			})
		})
	}
}

// What a tool_result event shows of a result is bounded: text is cut at a
// rune, pictures that do not fit are left out.
func TestEventBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(observesAll)
		long := strings.Repeat("é", 200<<10)
		many := make([]message.Block, 200)
		for i := range many {
			many[i] = message.Text{Text: "x"}
		}
		for _, c := range []struct {
			content []message.Block
			blocks  int
			cut     bool
		}{
			{[]message.Block{message.Text{Text: "a"}, message.Image{MIMEType: "image/png", Data: []byte("x")}}, 2, false},
			{[]message.Block{message.Text{Text: "a" + long}, message.Image{MIMEType: "image/png", Data: []byte("x")}}, 1, true},
			{[]message.Block{message.Image{MIMEType: "image/png", Data: make([]byte, 256<<10)}, message.Text{Text: "b"}}, 1, true},
			{many, 128, true},
			{[]message.Block{}, 0, false},
		} {
			r.Observe(event.ToolResult{ID: "t", Name: "x", Args: json.RawMessage(`{"a":1}`), Status: "completed", Executed: true, Content: c.content})
			result := p.hears("event")["result"].(map[string]any)
			content := result["content"].([]any)
			if len(content) != c.blocks || (result["truncated"] == true) != c.cut {
				t.Errorf("%d blocks, truncated %v; want %d, %v", len(content), result["truncated"], c.blocks, c.cut)
			}
			if c.cut && c.blocks == 1 {
				if s, _ := content[0].(map[string]any)["text"].(string); strings.ContainsRune(s, '�') || len(s) > 256<<10 {
					t.Errorf("the text was cut badly: %d bytes", len(s))
				}
			}
		}
	})
}

// Arguments that a model wrote and that are no JSON are told as text.
func TestEventOfMalformedArguments(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(observesAll)
		r.Observe(event.ToolCall{ID: "t", Name: "x", Args: json.RawMessage(`{}`), ArgsRaw: `{"a":`})
		if e := p.hears("event"); e["tool_args_raw"] != `{"a":` || e["tool_args"] != nil {
			t.Errorf("%v", e)
		}
	})
}

// What nobody can subscribe to is named for doctor, the rest of the
// subscription counts.
func TestUnknownEvents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "ext")
		r := rigOf(t, extension.Options{}, p)
		p.load(`{"type":"subscribe","events":["turn_start","eclipse"],"intercept":["tool_call","turn_end"]}`)
		wantContains(t, strings.Join(r.status("ext").Messages, "\n"), `"eclipse" is no event`, `"turn_end" cannot be intercepted`)
		r.Observe(event.TurnStart{Step: 1})
		p.hears("event")
		if s := r.status("ext"); len(s.Intercepts) != 1 || s.Intercepts[0] != "tool_call" {
			t.Errorf("intercepts %v", s.Intercepts)
		}
	})
}

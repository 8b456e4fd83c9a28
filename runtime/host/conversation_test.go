package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// A journal notes what it is told to keep, and fails where the test says so.
type journal struct {
	mu    sync.Mutex
	lines []string
	fails string // what begins so is not kept
}

func (j *journal) row(format string, args ...any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if j.fails != "" && strings.HasPrefix(line, j.fails) {
		return errors.New("disk full")
	}
	j.lines = append(j.lines, line)
	return nil
}

func (j *journal) Append(m message.Message) error { return j.row("append %s", m.Role) }
func (j *journal) AppendUsage(turn, _ message.Usage) error {
	return j.row("usage %d", turn.Input)
}
func (j *journal) Compact(_ message.Message, keep int) error { return j.row("compact %d", keep) }
func (j *journal) Clear() error                              { return j.row("clear") }
func (j *journal) SetModel(p, m, r string) error             { return j.row("model %s %s %s", p, m, r) }
func (j *journal) SetActivated(names []string) error         { return j.row("activated %v", names) }
func (j *journal) Close() error                              { return j.row("close") }

func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func TestJournalKeepsWhatHappens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j, other := &journal{}, &journal{}
		r := newRig(t, setup{
			replies: []reply{calls(call("1", "bash", `{}`))},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}, Conversation: host.Conversation{Journal: j}},
		})
		r.run("hi")
		equal(t, "prompt", j.take(), "append user", "append assistant", "usage 10", "append tool", "append assistant", "usage 10")
		if err := errors.Join(r.SetModel("other", "m2"), r.SetReasoning("low"), r.Clear(), r.Switch(host.Conversation{Journal: other})); err != nil {
			t.Fatal(err)
		}
		equal(t, "after", j.take(), "model other m2 ", "model other m2 low", "clear", "close")
		r.Close(t.Context())
		equal(t, "the other", other.take(), "close")
	})
}

// What cannot be saved is said once for a conversation; the prompt goes on.
func TestJournalFailureIsSaidOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{Options: host.Options{Conversation: host.Conversation{Journal: &journal{fails: "append"}}}})
		r.run("hi")
		r.run("again")
		equal(t, "notices", r.notices(), "error: this conversation cannot be saved: disk full")
		if err := r.Switch(host.Conversation{Journal: &journal{fails: "append"}}); err != nil {
			t.Fatal(err)
		}
		r.forget()
		r.run("hi")
		equal(t, "notices of another conversation", r.notices(), "error: this conversation cannot be saved: disk full")
	})
}

// A yes that was given for longer than one call ends with its conversation.
func TestApprovalsEndWithTheConversation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{})
		for name, next := range map[string]func() error{
			"clear": r.Clear, "switch": func() error { return r.Switch(host.Conversation{}) },
		} {
			r.Guard().AllowAll(true)
			if err := next(); err != nil {
				t.Fatal(err)
			}
			if r.Guard().AllowsAll() {
				t.Errorf("%s: what was allowed before still is", name)
			}
		}
	})
}

// A conversation that could not be cleared on disk is not cleared at all.
func TestClearFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{Options: host.Options{Conversation: host.Conversation{
			Journal: &journal{fails: "clear"}, Messages: []message.Message{user("hi"), assistant("ho")},
		}}})
		if err := r.Clear(); err == nil || len(r.Transcript()) != 2 {
			t.Errorf("%v, %d messages", err, len(r.Transcript()))
		}
	})
}

// An aside is a part of nothing but the bill, and no tool can be called in it.
func TestAside(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		style := plays("style", "pause 1s\n"+askStart+onAsked+answers(`,"system_prompt":"mine"`))
		r := newRig(t, setup{
			actors:  []*actor{style},
			replies: []reply{{text: "an aside"}},
			Options: host.Options{Tools: []tool.Tool{echo("bash")}, Conversation: host.Conversation{
				Journal: j, Messages: []message.Message{user("hi"), assistant("ho")},
			}},
		})
		var got strings.Builder
		if err := r.Aside(t.Context(), "what?", func(s string) { got.WriteString(s) }); err != nil {
			t.Fatal(err)
		}
		req := r.model.asked()[0]
		if got.String() != "an aside" || len(req.Messages) != 3 || req.Messages[2].Text() != "what?" || len(req.Tools) != 0 {
			t.Errorf("answer %q to %+v", got.String(), req)
		}
		if req.System != "mine" {
			t.Errorf("the aside did not wait for the extension: %q", req.System)
		}
		if len(r.Transcript()) != 2 || len(emitted[event.UserMessage](r)) != 0 {
			t.Error("the aside left a trace")
		}
		equal(t, "journal", j.take(), "usage 0")
		if r.Usage().Input != 10 || r.ContextUsed() != 0 {
			t.Errorf("its tokens: %+v, and %d of the window", r.Usage(), r.ContextUsed())
		}
	})
}

// loader is an extension with a tool that switches another on.
func loader() *actor {
	return plays("loader", registers("load")+defers("weather")+onCalled+
		`send {"type":"tool_result","id":"$id","content":[{"type":"text","text":"on"}],"activate_tools":["weather","unknown"]}`)
}

// active lists the deferred tools of the last request.
func (r *rig) active() (names []string) {
	all := r.model.asked()
	for _, d := range all[len(all)-1].Deferred {
		names = append(names, d.Name)
	}
	return names
}

func TestDeferredTools(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r *rig) error
		want []string
	}{
		{"nothing", func(*rig) error { return nil }, []string{"weather"}},
		{"clear", func(r *rig) error { return r.Clear() }, nil},
		{"reload", func(r *rig) error { _, err := r.Reload(context.Background(), ""); return err }, nil},
		{"compaction", func(r *rig) error { return r.end(r.SubmitCompact("")) }, []string{"weather"}},
		{"another conversation", func(r *rig) error { return r.Switch(host.Conversation{}) }, nil},
		{"resume by the results", func(r *rig) error {
			return r.Switch(host.Conversation{Messages: r.Transcript()})
		}, []string{"weather"}},
		{"resume by the record", func(r *rig) error {
			return r.Switch(host.Conversation{Activated: []string{"weather"}})
		}, []string{"weather"}},
		{"resume after a reload", func(r *rig) error {
			return r.Switch(host.Conversation{Messages: r.Transcript(), Activated: []string{}})
		}, nil},
		{"another model", func(r *rig) error { return r.SetModel("test", "m2") }, []string{"weather"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				j := &journal{}
				r := newRig(t, setup{
					actors:  []*actor{loader()},
					replies: []reply{calls(call("1", "load", `{}`)), {text: strings.Repeat("long ", 2000)}},
					Options: host.Options{Conversation: host.Conversation{Journal: j}},
				})
				r.run("hi")
				first := r.model.asked()[0]
				if len(first.Deferred) != 0 || len(first.Tools) != 1 || first.Tools[0].Name != "load" {
					t.Errorf("the first request shows %v and %v", first.Tools, first.Deferred)
				}
				equal(t, "after the call", r.active(), "weather")
				r.run("more")
				if err := c.do(r); err != nil {
					t.Fatal(err)
				}
				r.run("again")
				equal(t, "after "+c.name, r.active(), c.want...)
				switch c.name {
				case "compaction":
					contains(t, j.take(), "activated [weather]")
				case "reload":
					contains(t, j.take(), "activated []")
				}
			})
		})
	}
}

// The first request waits for extensions up to the ready wait, and those that
// are late are named once.
func TestFirstRequestWaitsForExtensions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := plays("slow", "pause 2s\n"+registers("weather"))
		r := newRig(t, setup{actors: []*actor{slow}})
		began := time.Now()
		r.run("hi")
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the request waited %s, want 2s", took)
		}
		if tools := r.model.asked()[0].Tools; len(tools) != 1 {
			t.Errorf("it showed the tools %v", tools)
		}
		equal(t, "notices", r.notices())
	})
	t.Run("late", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			mute := &actor{name: "mute", script: "pause 1h"}
			r := newRig(t, setup{
				actors: []*actor{mute, plays("quick", ""), {name: "still", script: "pause 1h"}}, Options: host.Options{ReadyWait: 10 * time.Second},
			})
			began := time.Now()
			r.run("hi")
			if took := time.Since(began); took != 10*time.Second {
				t.Errorf("the request waited %s, want 10s", took)
			}
			r.run("again")
			equal(t, "notices", r.notices(), "warn: not ready within 10s, so this goes on without: mute: no hello came from it; still: no hello came from it")
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newRig(t, setup{actors: []*actor{{name: "mute", script: "pause 1h"}}})
			ticket := r.begin("hi")
			began := time.Now()
			r.Cancel()
			if err := r.end(ticket); !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
				t.Errorf("%v after %s", err, time.Since(began))
			}
			equal(t, "notices", r.notices())
		})
	})
}

// However many extensions start side by side, the model is told of all tools.
func TestNoToolIsLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var all []*actor
		for i := range 40 {
			all = append(all, plays(fmt.Sprintf("ext%d", i), registers(fmt.Sprintf("a%d", i))+registers(fmt.Sprintf("b%d", i))))
		}
		r := newRig(t, setup{actors: all})
		r.run("hi")
		if n := len(r.model.asked()[0].Tools); n != 80 {
			t.Errorf("%d tools, want 80", n)
		}
	})
}

// A call that is at work when its extension is reloaded fails in words, the
// prompt goes on, and the registry is the new one's.
func TestReloadDuringACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ext := plays("ext", registers("old")+onCalled+"pause 1h")
		r := newRig(t, setup{actors: []*actor{ext}, replies: []reply{calls(call("1", "old", `{}`))}})
		ticket := r.begin("hi")
		ext.rewrite(plays("ext", registers("new")+`send {"type":"register_command","name":"fresh"}`+"\n").script)
		report, err := r.Reload(t.Context(), "EXT")
		if got := fmt.Sprintln(report.Stopped, report.Loaded, report.Ready, report.Errors, err); got != fmt.Sprintln(1, 1, 1, "[]", nil) {
			t.Errorf("reload: %s", got)
		}
		if err := r.end(ticket); err != nil {
			t.Fatal(err)
		}
		contains(t, r.results(), "1: extension ext/old failed")
		if specs := r.Tools(); len(specs) != 1 || specs[0].Name != "new" {
			t.Errorf("tools %v", specs)
		}
		if cmds := r.Commands(); len(cmds) != 1 || cmds[0].Name != "fresh" {
			t.Errorf("commands %v", cmds)
		}
		r.run("again")
		all := r.model.asked()
		if tools := all[len(all)-1].Tools; len(tools) != 1 || tools[0].Name != "new" {
			t.Errorf("the model is told of %v", tools)
		}
	})
}

// A connection that is slow to make holds up nothing but who needs it, and
// gives way to a model that was chosen meanwhile.
func TestSlowConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, setup{Options: host.Options{Connect: func(_, id string) (host.Connection, error) {
			if id == "" {
				time.Sleep(10 * time.Second)
			}
			return r.connection("test", orWord(id, "slow")), nil
		}}})
		ticket := r.begin("hi")
		began := time.Now()
		if r.SessionID() == "" || r.ContextUsed() != 0 {
			t.Error("the session has no id, or a size")
		}
		if err := r.SetModel("test", "quick"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the session waited %s for the connection", took)
		}
		if err := r.end(ticket); err != nil {
			t.Fatal(err)
		}
		if got := r.model.asked()[0].Model; got != "quick" {
			t.Errorf("asked %s", got)
		}
	})
}

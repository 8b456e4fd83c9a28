package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/tool"
)

// An extension's system prompt reaches the model to the letter.
func TestSystemPromptIsExact(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`,"system_prompt":"another"`, "another"},
		{`,"system_prompt":""`, ""},
		{`,"system_prompt":"  \n\tblank first and last \n"`, "  \n\tblank first and last \n"},
		{`,"system_prompt":"ümläut \u0000 \ud83d\ude00"`, "ümläut \x00 😀"},
		{``, "base"},
		{`,"block":true,"reason":"no"`, "base"},
		{`,"system_prompt":null`, "base"},
		{`,"system_prompt":["another"]`, "base"},
		{`,"system_prompt":5`, "base"},
	} {
		t.Run(c.answer, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, setup{actors: []*actor{plays("style", askStart+onAsked+answers(c.answer))}})
				r.run("hi")
				equal(t, "system prompt", r.model.systems(), c.want)
			})
		})
	}
}

// The chain begins with the base prompt; each sees the result of the one
// before; the result stays for messages and tool steps.
func TestSystemPromptChainIsStable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := plays("first", askStart+onAsked+answers(`,"system_prompt":"one"`))
		second := plays("second", askStart+onAsked+answers(`,"system_prompt":"two"`))
		r := newRig(t, setup{
			actors:  []*actor{first, second},
			replies: []reply{calls(call("1", "echo", `{}`)), {text: "a"}, {text: "b"}},
			Options: host.Options{Tools: []tool.Tool{echo("echo")}},
		})
		r.run("hi")
		r.run("again")
		equal(t, "system prompts", r.model.systems(), "two", "two", "two")
		asked, after := first.frames("event=before_agent_start"), second.frames("event=before_agent_start")
		if len(asked) != 1 || len(after) != 1 {
			t.Fatalf("asked %d and %d times, want once each", len(asked), len(after))
		}
		if asked[0].str("system_prompt") != "base" || after[0].str("system_prompt") != "one" {
			t.Errorf("they were shown %q and %q", asked[0]["system_prompt"], after[0]["system_prompt"])
		}
		f := asked[0]
		if f.str("agent_run_id") == "" || f.str("agent_run_id") != after[0].str("agent_run_id") {
			t.Error("all extensions of one pass share one agent_run_id")
		}
		got := fmt.Sprintln(f["session_id"], f["cwd"], f["provider"], f["model"])
		if want := fmt.Sprintln(r.SessionID(), "/project test m1"); got != want {
			t.Errorf("the question says %s, want %s", got, want)
		}
	})
}

// Each reset has the chain run again from the base prompt, under a new id.
func TestSystemPromptIsPreparedAgain(t *testing.T) {
	resets := []struct {
		name string
		do   func(r *rig) error
	}{
		{"model", func(r *rig) error { return r.SetModel("other", "m2") }},
		{"clear", func(r *rig) error { return r.Clear() }},
		{"switch", func(r *rig) error { return r.Switch(host.Conversation{ID: "s2"}) }},
		{"reload", func(r *rig) error { _, err := r.Reload(context.Background(), ""); return err }},
		{"reload one", func(r *rig) error { _, err := r.Reload(context.Background(), "style"); return err }},
	}
	for _, c := range resets {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				style := plays("style", askStart+onAsked+answers(`,"system_prompt":"mine"`))
				r := newRig(t, setup{actors: []*actor{style}})
				r.run("hi")
				if err := c.do(r); err != nil {
					t.Fatal(err)
				}
				r.run("again")
				asked := style.frames("event=before_agent_start")
				if len(asked) != 2 {
					t.Fatalf("asked %d times, want twice", len(asked))
				}
				if asked[1].str("system_prompt") != "base" || asked[0].str("agent_run_id") == asked[1].str("agent_run_id") {
					t.Errorf("first asked %v\nthen %v\nwant the base prompt again under another id", asked[0], asked[1])
				}
				if c.name == "model" && (asked[1].str("model") != "m2" || asked[1].str("provider") != "other") {
					t.Errorf("the new pass tells of %v", asked[1])
				}
				if c.name == "switch" && asked[1].str("session_id") != "s2" {
					t.Errorf("the new pass tells of session %v", asked[1]["session_id"])
				}
			})
		})
	}
}

// What changes no prompt has none prepared again.
func TestSystemPromptStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		style := plays("style", askStart+onAsked+answers(``))
		r := newRig(t, setup{actors: []*actor{style}})
		r.run("hi")
		if err := r.SetReasoning("high"); err != nil {
			t.Fatal(err)
		}
		if err := r.SetModel("test", "none"); err == nil {
			t.Error("a model that does not exist was taken")
		}
		if _, err := r.Reload(t.Context(), "nobody"); !errors.Is(err, extension.ErrUnknownExtension) {
			t.Errorf("reload of nobody: %v", err)
		}
		if err := r.Aside(t.Context(), "what?", func(string) {}); err != nil {
			t.Fatal(err)
		}
		r.run("again")
		if n := len(style.frames("event=before_agent_start")); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
		if got := r.model.asked()[2].Reasoning; got != "high" {
			t.Errorf("reasoning %q", got)
		}
	})
}

// A reset while a hook thinks discards the pass, even where the base prompt is
// the same, and the next begins with the base.
func TestResetWhileAHookWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		style := plays("style", askStart+
			"on event_intercept contains m1\npause 2s\n"+answers(`,"system_prompt":"stale"`)+
			onAsked+answers(`,"system_prompt":"fresh"`))
		r := newRig(t, setup{actors: []*actor{style}})
		ticket := r.begin("hi")
		time.Sleep(time.Second)
		if err := r.SetModel("test", "m2"); err != nil {
			t.Fatal(err)
		}
		if err := r.end(ticket); err != nil {
			t.Fatal(err)
		}
		equal(t, "system prompts", r.model.systems(), "fresh")
		asked := style.frames("event=before_agent_start")
		if len(asked) != 2 || asked[1].str("system_prompt") != "base" ||
			asked[0].str("agent_run_id") == asked[1].str("agent_run_id") {
			t.Errorf("asked: %v, want a second pass of its own from the base prompt", asked)
		}
	})
}

// Cancelling while a hook thinks is immediate and commits nothing.
func TestCancelWhileAHookWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := plays("first", askStart+onAsked+answers(`,"system_prompt":"one"`))
		slow := plays("slow", askStart+onAsked+"pause 4s\n"+answers(`,"system_prompt":"late"`))
		r := newRig(t, setup{actors: []*actor{first, slow}})
		ticket := r.begin("hi")
		began := time.Now()
		r.Cancel()
		if err := r.end(ticket); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want context.Canceled", err)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the cancel took %s", waited)
		}
		if n := len(r.model.asked()); n != 0 {
			t.Fatalf("the model was asked %d times", n)
		}
		time.Sleep(5 * time.Second) // the late answer comes and counts for nothing
		r.run("again")
		equal(t, "system prompts", r.model.systems(), "late")
		asked := first.frames("event=before_agent_start")
		if len(asked) != 2 || asked[1].str("system_prompt") != "base" {
			t.Errorf("asked: %v, want a second pass from the base", asked)
		}
		if n := r.notices(); len(n) != 0 {
			t.Errorf("a cancel warns: %q", n)
		}
	})
}

// A hook that fails keeps the prompt as it stands, with a warning that names
// it, and the others are asked all the same.
func TestFailedHookKeepsThePrompt(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, does, warning string }{
		{"silent", "pause 1h", "no answer within 5s"},
		{"leaves", "exit 3", "disconnected"},
		{"no string", answers(`,"system_prompt":{}`), "not a string"},
		{"too large", answers(`,"system_prompt":"` + huge + `"`), "limit"},
		{"blocks", answers(`,"block":true`), "cannot block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				first := plays("first", askStart+onAsked+answers(`,"system_prompt":"one"`))
				broken := plays("broken", askStart+onAsked+c.does)
				last := plays("last", askStart+onAsked+answers(``))
				r := newRig(t, setup{actors: []*actor{first, broken, last}})
				r.run("hi")
				equal(t, "system prompt", r.model.systems(), "one")
				contains(t, r.notices(), "broken warn: before_agent_start:", c.warning, "keeping current system prompt")
				if asked := last.frames("event=before_agent_start"); len(asked) != 1 || asked[0].str("system_prompt") != "one" {
					t.Errorf("the last was asked %v", asked)
				}
			})
		})
	}
}

// Two that need the prompt at the same time get the same one.
func TestSystemPromptOfAsideAndPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		style := plays("style", askStart+
			onAsked+"pause 1s\n"+`send {"type":"event_intercept_response","id":"$id","system_prompt":"answer $id"}`)
		r := newRig(t, setup{actors: []*actor{style}})
		ticket := r.begin("hi")
		asideOver := make(chan error)
		go func() { asideOver <- r.Aside(context.Background(), "what?", func(string) {}) }()
		synctest.Wait()
		if err := errors.Join(r.end(ticket), <-asideOver); err != nil {
			t.Fatal(err)
		}
		r.run("again")
		got := r.model.systems()
		if len(got) != 3 || got[0] != got[1] || got[1] != got[2] {
			t.Errorf("system prompts %q, want the same three times", got)
		}
	})
}

// The base prompt is put together from what the model is told of.
func TestBasePromptKnowsTheTools(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, setup{
			actors: []*actor{plays("weather", registers("weather")+defers("later"))},
			Options: host.Options{
				Tools: []tool.Tool{echo("bash")},
				SystemPrompt: func(tools []tool.Spec) string {
					var names []string
					for _, s := range tools {
						names = append(names, s.Name)
					}
					return strings.Join(names, " ")
				},
			},
		})
		r.run("hi")
		equal(t, "system prompt", r.model.systems(), "bash weather")
	})
}

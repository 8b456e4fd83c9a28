package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/patriceckhart/zot/runtime/agent"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/guard"
	"github.com/patriceckhart/zot/runtime/tool"
)

// plain is a tool; what it is called with does not matter here.
type plain struct{ extension string }

func (p plain) Spec() tool.Spec { return tool.Spec{Name: "bash", Extension: p.extension} }
func (plain) Run(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{}, nil
}

// judges is a policy made of a function; intercepts and asks likewise.
type (
	judges     func(tool.Call) guard.Decision
	intercepts func(context.Context, tool.Call) (guard.Intercepted, error)
	asks       func(context.Context, guard.Question) (guard.Answer, error)
)

func (f judges) Decide(_ context.Context, c tool.Call, _ tool.Tool) guard.Decision { return f(c) }

func (f intercepts) Intercept(ctx context.Context, c tool.Call, _ tool.Tool) (guard.Intercepted, error) {
	return f(ctx, c)
}

func (f asks) Confirm(ctx context.Context, q guard.Question) (guard.Answer, error) { return f(ctx, q) }

func decides(d guard.Decision) judges { return func(tool.Call) guard.Decision { return d } }

func says(a guard.Answer) asks {
	return func(context.Context, guard.Question) (guard.Answer, error) { return a, nil }
}

// absent is an asker whose person is away.
type absent struct{ asks }

func (absent) CanAsk() bool { return false }

// A world is a guard with what it emitted.
type world struct {
	*guard.Guard
	mu  sync.Mutex
	log []string
}

func newWorld(o guard.Options) *world {
	w := &world{}
	o.Emit = func(e event.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch e := e.(type) {
		case event.ConfirmationRequested:
			w.log = append(w.log, "ask "+e.Preview)
		case event.PermissionDecision:
			w.log = append(w.log, strings.TrimSpace(e.Decision+" "+e.Source+" "+e.Reason))
			if e.Stage != "pre_execution" || e.ToolID == "" || e.ToolName == "" {
				w.log = append(w.log, fmt.Sprintf("incomplete: %+v", e))
			}
		}
	}
	w.Guard = guard.New(o)
	return w
}

func (w *world) judge(ctx context.Context, name, args string) (agent.Verdict, error) {
	return w.Judge(ctx, tool.Call{ID: "t1", Name: name, Args: json.RawMessage(args)}, plain{})
}

// wants judges one call of bash and compares what was emitted and the verdict.
func (w *world) wants(t *testing.T, allowed bool, reason string, log ...string) {
	t.Helper()
	w.log = nil
	v, err := w.judge(t.Context(), "bash", `{"command":"ls"}`)
	if err != nil {
		t.Fatal(err)
	}
	if v.Allowed != allowed || v.Reason != reason {
		t.Errorf("allowed %v, reason %q, want %v, %q", v.Allowed, v.Reason, allowed, reason)
	}
	if !slices.Equal(w.log, log) {
		t.Errorf("emitted %q, want %q", w.log, log)
	}
}

func TestVerdicts(t *testing.T) {
	yes, no := says(guard.Answer{Allow: true}), says(guard.Answer{})
	ask := decides(guard.Decision{Effect: guard.Ask, Reason: "rule 1 says so"})
	soft := decides(guard.Decision{Effect: guard.Ask, Soft: true})
	nobody := asks(func(context.Context, guard.Question) (guard.Answer, error) { return guard.Answer{}, guard.ErrNoAnswer })
	unheard := "this call needs a person's approval, and nobody is there to give it in this mode"
	blocks := intercepts(func(_ context.Context, c tool.Call) (guard.Intercepted, error) {
		return guard.Intercepted{Blocked: true, By: "ext", Reason: "no way", Args: c.Args}, nil
	})
	for _, c := range []struct {
		name    string
		opts    guard.Options
		allowed bool
		reason  string
		log     []string
	}{
		{"no policy at all", guard.Options{Asker: no}, true, "", []string{"approved yolo"}},
		{"allowed by a rule", guard.Options{Policy: decides(guard.Decision{Effect: guard.Allow, Source: "policy"}), Asker: no},
			true, "", []string{"approved policy"}},
		{"allowed by nothing in particular", guard.Options{Policy: decides(guard.Decision{Effect: guard.Allow})},
			true, "", []string{"approved yolo"}},
		{"denied", guard.Options{Policy: decides(guard.Decision{Effect: guard.Deny, Reason: "rule 2"}), Asker: yes},
			false, "rule 2", []string{"denied policy rule 2"}},
		{"a policy without an answer denies", guard.Options{Policy: decides(guard.Decision{}), Asker: yes},
			false, "", []string{"denied policy"}},
		{"asked, yes", guard.Options{Policy: ask, Asker: yes}, true, "", []string{"ask ls", "approved user"}},
		{"asked, no", guard.Options{Policy: ask, Asker: no}, false, "user declined", []string{"ask ls", "denied user user declined"}},
		{"asked, no for a reason", guard.Options{Policy: ask, Asker: says(guard.Answer{Reason: "not on Fridays"})},
			false, "not on Fridays", []string{"ask ls", "denied user not on Fridays"}},
		{"a no is not remembered, whatever it says", guard.Options{Policy: ask, Asker: says(guard.Answer{Always: true, Everything: true})},
			false, "user declined", []string{"ask ls", "denied user user declined"}},
		{"no asker", guard.Options{Policy: ask}, false, "rule 1 says so", []string{"denied policy rule 1 says so"}},
		{"no asker and no words", guard.Options{Policy: decides(guard.Decision{Effect: guard.Ask})},
			false, unheard, []string{"denied policy " + unheard}},
		{"no asker, softly", guard.Options{Policy: soft}, true, "", []string{"approved yolo"}},
		{"the person is away", guard.Options{Policy: ask, Asker: absent{yes}}, false, "rule 1 says so", []string{"denied policy rule 1 says so"}},
		{"the person is away, softly", guard.Options{Policy: soft, Asker: absent{no}}, true, "", []string{"approved yolo"}},
		{"no answer", guard.Options{Policy: ask, Asker: nobody}, false, "rule 1 says so", []string{"ask ls", "denied policy rule 1 says so"}},
		{"no answer, softly", guard.Options{Policy: soft, Asker: nobody}, true, "", []string{"ask ls", "approved yolo"}},
		{"blocked before", guard.Options{Interceptor: blocks, Policy: ask, Asker: yes}, false, "no way", []string{"denied policy no way"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(c.opts)
			w.wants(t, c.allowed, c.reason, c.log...)
			w.wants(t, c.allowed, c.reason, c.log...) // nothing of it is remembered
		})
	}
}

// Interceptors are asked first; policy and person see what they made of the
// arguments, and that is what runs.
func TestFinalArgumentsAreJudged(t *testing.T) {
	var judged, asked string
	var q guard.Question
	w := newWorld(guard.Options{
		Interceptor: intercepts(func(_ context.Context, c tool.Call) (guard.Intercepted, error) {
			if string(c.Args) != `{"command":"rm"}` {
				t.Errorf("the interceptor saw %s", c.Args)
			}
			return guard.Intercepted{Args: json.RawMessage(`{"command":"ls"}`), Changes: []string{"ext rewrote the arguments"}}, nil
		}),
		Policy: judges(func(c tool.Call) guard.Decision {
			judged = string(c.Args)
			return guard.Decision{Effect: guard.Ask, Reason: "because", Remember: "bash ls"}
		}),
		Asker: asks(func(_ context.Context, question guard.Question) (guard.Answer, error) {
			q, asked = question, string(question.Call.Args)
			return guard.Answer{Allow: true}, nil
		}),
	})
	v, err := w.Judge(t.Context(), tool.Call{ID: "t1", Name: "bash", Args: json.RawMessage(`{"command":"rm"}`)}, plain{extension: "owner"})
	if err != nil || !v.Allowed {
		t.Fatal(v, err)
	}
	const final = `{"command":"ls"}`
	if judged != final || asked != final || string(v.Args) != final {
		t.Errorf("judged %s, asked %s, runs %s", judged, asked, v.Args)
	}
	if q.Extension != "owner" || q.Preview != "ls" || q.Reason != "because" || q.Remember != "bash ls" || !slices.Equal(q.Changes, v.Changes) {
		t.Errorf("asked %+v", q)
	}
}

func TestRememberedAnswers(t *testing.T) {
	answer := guard.Answer{Allow: true, Always: true}
	key, soft := "bash ls", true
	w := newWorld(guard.Options{
		Policy: judges(func(tool.Call) guard.Decision { return guard.Decision{Effect: guard.Ask, Remember: key, Soft: soft} }),
		Asker:  asks(func(context.Context, guard.Question) (guard.Answer, error) { return answer, nil }),
	})
	w.wants(t, true, "", "ask ls", "approved user")
	w.wants(t, true, "", "approved remembered")
	key, answer = "bash rm", guard.Answer{Allow: true}
	w.wants(t, true, "", "ask ls", "approved user") // another key, a yes for once
	w.wants(t, true, "", "ask ls", "approved user")
	answer.Everything = true
	w.wants(t, true, "", "ask ls", "approved user")
	key = "anything"
	w.wants(t, true, "", "approved remembered")

	// What a policy wants asked needs a yes for its own rule.
	key, soft, answer = "rule a", false, guard.Answer{Allow: true, Everything: true}
	w.wants(t, true, "", "ask ls", "approved user")
	w.wants(t, true, "", "approved remembered")
	key, answer = "rule b", guard.Answer{Reason: "not that"}
	w.wants(t, false, "not that", "ask ls", "denied user not that")

	// Another conversation knows nothing of it.
	w.Forget()
	key, answer = "rule a", guard.Answer{Allow: true}
	w.wants(t, true, "", "ask ls", "approved user")
	key, soft = "bash ls", true
	w.wants(t, true, "", "ask ls", "approved user")
}

// Without a key the name of the tool is what is remembered.
func TestToolNameIsRemembered(t *testing.T) {
	w := newWorld(guard.Options{
		Policy: decides(guard.Decision{Effect: guard.Ask}), Asker: says(guard.Answer{Allow: true, Always: true}),
	})
	for _, c := range []struct{ tool, want string }{{"bash", "user"}, {"bash", "remembered"}, {"write", "user"}} {
		w.log = nil
		if _, err := w.judge(t.Context(), c.tool, `{}`); err != nil {
			t.Fatal(err)
		}
		if got := w.log[len(w.log)-1]; got != "approved "+c.want {
			t.Errorf("%s: %q, want it approved by %s", c.tool, got, c.want)
		}
	}
}

// AllowAll answers what the user wanted to be asked about; it raises no denial,
// and answers nothing that a policy asks.
func TestAllowAll(t *testing.T) {
	d := guard.Decision{Effect: guard.Ask, Soft: true}
	w := newWorld(guard.Options{Policy: judges(func(tool.Call) guard.Decision { return d }), Asker: says(guard.Answer{})})
	w.AllowAll(true)
	w.wants(t, true, "", "approved remembered")
	d = guard.Decision{Effect: guard.Deny, Reason: "never"}
	w.wants(t, false, "never", "denied policy never")
	d = guard.Decision{Effect: guard.Ask, Reason: "a rule"}
	w.wants(t, false, "user declined", "ask ls", "denied user user declined")
	d = guard.Decision{Effect: guard.Ask, Soft: true}
	w.AllowAll(false)
	w.wants(t, false, "user declined", "ask ls", "denied user user declined")
}

// Whoever gives up is told by ctx's error, wherever the call is.
func TestCancelledAnywhere(t *testing.T) {
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name string
		opts guard.Options
		log  []string
	}{
		{"an interceptor thinks", guard.Options{Interceptor: intercepts(func(ctx context.Context, _ tool.Call) (guard.Intercepted, error) {
			return guard.Intercepted{}, waits(ctx)
		})}, nil},
		{"a person thinks", guard.Options{Policy: decides(guard.Decision{Effect: guard.Ask}), Asker: asks(
			func(ctx context.Context, _ guard.Question) (guard.Answer, error) {
				return guard.Answer{Allow: true}, waits(ctx)
			},
		)}, []string{"ask ls", "cancelled user"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.opts)
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan error, 1)
				go func() {
					v, err := w.judge(ctx, "bash", `{"command":"ls"}`)
					if v.Allowed {
						t.Error("it was allowed")
					}
					over <- err
				}()
				synctest.Wait()
				cancel()
				if err := <-over; !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if !slices.Equal(w.log, c.log) {
					t.Errorf("emitted %q, want %q", w.log, c.log)
				}
			})
		})
	}
}

// Calls side by side ask one after the other: an answer for the session counts
// for those that waited, and one that is cancelled meanwhile is not asked.
func TestQuestionsOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan guard.Answer)
		open := 0
		w := newWorld(guard.Options{
			Policy: decides(guard.Decision{Effect: guard.Ask}),
			Asker: asks(func(context.Context, guard.Question) (guard.Answer, error) {
				open++
				return <-answers, nil
			}),
		})
		var wg sync.WaitGroup
		begin := func(ctx context.Context) {
			wg.Go(func() { _, _ = w.judge(ctx, "bash", `{"command":"ls"}`) })
			synctest.Wait()
		}
		begin(t.Context())
		begin(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		begin(ctx)
		if open != 1 {
			t.Errorf("%d questions are open, want 1", open)
		}
		cancel()
		synctest.Wait()
		answers <- guard.Answer{Allow: true, Always: true}
		wg.Wait()
		want := []string{"ask ls", "cancelled user", "approved user", "approved remembered"}
		if open != 1 || !slices.Equal(w.log, want) {
			t.Errorf("%d questions, emitted %q, want %q", open, w.log, want)
		}
	})
}

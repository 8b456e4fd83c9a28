package extension_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/transports"
)

// An extension that never says hello is given up after thirty seconds, and
// costs only itself.
func TestNoHelloInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mute, fine := newPuppet(t, "mute"), newPuppet(t, "fine")
		r := rigOf(t, extension.Options{}, mute, fine)
		fine.load(commandGo)
		mute.begin()
		r.wantState("fine", extension.StateReady)

		time.Sleep(30*time.Second - time.Millisecond)
		r.wantState("mute", extension.StateStarting)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if late := r.WaitReady(ctx); len(late) != 1 || late[0] != "mute" {
			t.Errorf("still on their way: %v, want mute", late)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		r.wantState("mute", extension.StateFailed)
		r.wantState("fine", extension.StateReady)
		if late := r.WaitReady(t.Context()); len(late) > 0 {
			t.Errorf("still on their way: %v", late)
		}
		failed := emitted[event.ExtFailed](r)
		if len(failed) != 1 || failed[0].Extension != "mute" {
			t.Fatalf("failures %+v, want one of mute", failed)
		}
		wantContains(t, failed[0].Message, "no hello within 30s", "log: "+extension.LogPath(r.logs, "mute"))
	})
}

// Hello counts when its line is whole.
func TestHalfAHello(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "half")
		r := rigOf(t, extension.Options{}, p)
		p.begin()
		_, _ = io.WriteString(p.stdio.Out, `{"type":"hello","na`)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		wantContains(t, r.status("half").Error, "no hello within 30s")
	})
}

// What is wrong in the handshake is found out at once, not at a deadline.
func TestHandshakeFaults(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"another frame first", `{"type":"ready"}`, "first frame must be hello (got ready)"},
		{"no name", `{"type":"hello"}`, "empty name"},
		{"a field of another type", `{"type":"hello","name":7}`, "parsing hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPuppet(t, "rude")
				r := rigOf(t, extension.Options{}, p)
				p.begin()
				start := time.Now()
				p.say(c.line)
				if late := r.WaitReady(t.Context()); late != nil || time.Since(start) > 0 {
					t.Errorf("it took %s", time.Since(start))
				}
				wantContains(t, r.status("rude").Error, c.want)
			})
		})
	}
}

// An extension that leaves before its hello is reported with its status and
// last words; one that cannot be started with the reason.
func TestDeathBeforeHello(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "gone")
		broken := extension.Entry{Name: "broken", Exec: "./nope", Launch: func(context.Context, io.Writer) (transports.Conn, error) {
			return nil, errors.New("no such file")
		}}
		r := newRig(t, extension.Options{}, p.entry(), broken)
		p.begin()
		p.dies(1, "first\ncannot find my keys")
		r.WaitReady(t.Context())
		wantContains(t, r.status("gone").Error, "before its hello: exit status 1", "cannot find my keys", "log: ")
		wantContains(t, r.status("broken").Error, "./nope: no such file\nlog: ", "ext-broken.log")
		if failed := emitted[event.ExtFailed](r); len(failed) != 2 {
			t.Errorf("failures %+v, want two", failed)
		}
	})
}

// What makes an extension ready, and when.
func TestReadyRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		play  func(p *puppet)
		after time.Duration
		state extension.State
		warns bool
	}{
		{"it says so", func(p *puppet) { p.say(commandGo, `{"type":"ready"}`) }, 0, extension.StateReady, false},
		{"silence after a command", func(p *puppet) { p.say(commandGo) }, 250 * time.Millisecond, extension.StateAutoReady, false},
		{"silence after a tool", func(p *puppet) { p.say(toolEcho) }, 250 * time.Millisecond, extension.StateAutoReady, false},
		{"frames move the silence", func(p *puppet) {
			p.say(commandGo)
			time.Sleep(200 * time.Millisecond)
			p.say(`{"type":"subscribe","events":["turn_end"]}`)
			time.Sleep(200 * time.Millisecond)
			p.say(toolEcho)
		}, 650 * time.Millisecond, extension.StateAutoReady, false},
		{"noise does not", func(p *puppet) {
			p.say(commandGo)
			time.Sleep(200 * time.Millisecond)
			p.say("loading...")
		}, 250 * time.Millisecond, extension.StateAutoReady, false},
		{"it registers nothing", func(p *puppet) { p.say(`{"type":"subscribe","events":["turn_end"]}`) }, 3 * time.Second, extension.StateLateReady, true},
		{"it never stops registering", func(p *puppet) {
			for range 20 {
				p.say(commandGo)
				time.Sleep(200 * time.Millisecond)
			}
		}, 3 * time.Second, extension.StateLateReady, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPuppet(t, "ext")
				r := rigOf(t, extension.Options{}, p)
				p.begin()
				p.greet()
				start := time.Now()
				ready := begin(t, func() (time.Duration, error) {
					r.WaitReady(t.Context())
					return time.Since(start), nil
				})
				c.play(p)
				time.Sleep(4 * time.Second)
				if took, _ := ready.result(); took != c.after {
					t.Errorf("ready after %s, want %s", took, c.after)
				}
				r.wantState("ext", c.state)
				warned := false
				for _, n := range emitted[event.ExtNotify](r) {
					warned = warned || strings.Contains(n.Message, "no ready frame")
				}
				if warned != c.warns {
					t.Errorf("the user was warned: %v, want %v", warned, c.warns)
				}
				if got := r.status("ext").StartTime; got != c.after {
					t.Errorf("start time %s, want %s", got, c.after)
				}
			})
		})
	}
}

// Below zero nothing is waited for.
func TestReadyWithoutWaiting(t *testing.T) {
	for _, c := range []struct {
		name  string
		times extension.Timeouts
		play  string
		state extension.State
	}{
		{"for ready", extension.Timeouts{Ready: -1}, "", extension.StateLateReady},
		{"for silence", extension.Timeouts{AutoReady: -1}, commandGo, extension.StateAutoReady},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPuppet(t, "ext")
				r := rigOf(t, extension.Options{Timeouts: c.times}, p)
				p.begin()
				p.greet()
				start := time.Now()
				if c.play != "" {
					p.say(c.play)
				}
				r.WaitReady(t.Context())
				if took := time.Since(start); took != 0 {
					t.Errorf("ready after %s", took)
				}
				r.wantState("ext", c.state)
			})
		})
	}
}

// What is registered after ready counts, and the change is told.
func TestLateRegistrations(t *testing.T) {
	bubble(t, func(t *testing.T) {
		changes := 0
		p := newPuppet(t, "late")
		r := rigOf(t, extension.Options{ToolsChanged: func() { changes++ }}, p)
		p.load()
		before := changes
		p.say(toolEcho, commandGo)
		if r.toolNames() != "late/echo" || r.commandNames() != "late/go" || changes != before+1 {
			t.Errorf("tools %q, commands %q, %d changes told", r.toolNames(), r.commandNames(), changes-before)
		}
	})
}

// The face is told how many are still on their way, at last none.
func TestLoadingIsCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newPuppet(t, "a"), newPuppet(t, "b")
		r := newRig(t, extension.Options{}, a.entry(), b.entry(), extension.Entry{Name: "looks"})
		synctest.Wait()
		r.wantState("looks", extension.StateBundle)
		b.load()
		a.begin()
		a.dies(1, "")
		var loading []int
		for _, s := range emitted[event.ExtState](r) {
			if loading = append(loading, s.Loading); s.Total != 3 {
				t.Errorf("total %d, want 3", s.Total)
			}
		}
		for i := range loading {
			if i > 0 && loading[i] > loading[i-1] {
				t.Errorf("loading went up: %v", loading)
			}
		}
		if len(loading) == 0 || loading[len(loading)-1] != 0 {
			t.Errorf("loading %v, want 0 at last", loading)
		}
	})
}

// The manifest's name is the one that counts; another in hello is reported
// with both.
func TestHelloWithAnotherName(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "manifest")
		r := rigOf(t, extension.Options{}, p)
		p.begin()
		p.say(`{"type":"hello","name":"other"}`, commandGo, `{"type":"ready"}`)
		s := r.status("manifest")
		if s.State != extension.StateReady || s.HelloName != "other" || r.commandNames() != "manifest/go" {
			t.Errorf("%+v, commands %s", s, r.commandNames())
		}
		wantContains(t, r.log("manifest"), `its hello says "other" but its manifest says "manifest"`)
	})
}

// Where the policy pins extensions, one that is not who it says it is does not
// run: it is stopped before it is told anything.
func TestHelloWithAnotherNamePinned(t *testing.T) {
	for _, mode := range []string{"pinned", "locked"} {
		bubble2(t, mode, func(t *testing.T) {
			p := newPuppet(t, "manifest")
			e := p.entry()
			e.Rights = rightsOf(t, `{"commands":["*"]}`, `{"mode":"`+mode+`"}`)
			r := newRig(t, extension.Options{}, e)
			p.begin()
			p.say(`{"type":"hello","name":"other"}`)
			p.hearsNothing()
			r.wantState("manifest", extension.StateFailed)
			failed := emitted[event.ExtFailed](r)
			if len(failed) != 1 {
				t.Fatalf("failures %+v, want one", failed)
			}
			wantContains(t, failed[0].Message, "stopped: ZP034", `"other"`, `"manifest"`, "user.json:1")
		})
	}
}

// Lines that are no frames are noise: skipped, logged once a kind with a
// sample, and harmless; a second hello and slash commands change nothing.
func TestNoise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "noisy")
		r := rigOf(t, extension.Options{}, p)
		p.begin()
		p.say("Welcome to noisy 1.0")
		p.greet()
		p.say("loading 10%", "loading 20%", `{"type":"dance"}`, `{"type":"dance"}`, commandGo,
			`{"type":"hello","name":"again"}`, `{"type":"submit_slash","text":"/quit"}`,
			`{"type":"register_tool","name":7}`, `{"type":"ready"}`)
		r.wantState("noisy", extension.StateReady)
		log := r.log("noisy")
		if n := strings.Count(log, "skipped a line that is no frame"); n != 1 {
			t.Errorf("noise was logged %d times, want once:\n%s", n, log)
		}
		if n := strings.Count(log, "ignored a frame of unknown type"); n != 1 {
			t.Errorf("the unknown type was logged %d times, want once:\n%s", n, log)
		}
		wantContains(t, log, "Welcome to noisy 1.0", `"dance"`, "malformed json frame", "ignored submit_slash", "ignored a second hello")
		if got := emitted[event.ExtSubmit](r); len(got) > 0 {
			t.Errorf("something was submitted: %+v", got)
		}
		wantContains(t, strings.Join(r.status("noisy").Messages, "\n"), "malformed json frame")
	})
}

// Of an extension that never stops doing wrong, the diagnostics kept are
// bounded.
func TestDiagnosticsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPuppet(t, "wrong")
		r := rigOf(t, extension.Options{}, p)
		p.load()
		for range 1000 {
			p.say(`{"type":"submit_slash","text":"/quit"}`)
		}
		if n := len(r.status("wrong").Messages); n != 200 {
			t.Errorf("%d diagnostics are kept, want 200", n)
		}
	})
}

package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/tuitest"
)

// on runs a story on a screen of 80 by 24.
func on(t *testing.T, rt *tuitest.Runtime, story func(d *tuitest.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(tuitest.Start(t, rt, 80, 24, nil)) })
}

func lastCall(rt *tuitest.Runtime) string {
	if calls := rt.Calls(); len(calls) > 0 {
		return calls[len(calls)-1]
	}
	return ""
}

func called(rt *tuitest.Runtime, want string) int {
	n := 0
	for _, c := range rt.Calls() {
		if strings.HasPrefix(c, want) {
			n++
		}
	}
	return n
}

func TestFirstScreen(t *testing.T) {
	on(t, tuitest.New(), func(d *tuitest.Driver) {
		d.Has("test-model", "/work/project", "›", "context 0%")
		if x, y := d.Caret(); x != 2 || y != 22 {
			t.Errorf("caret at %d,%d, want 2,22", x, y)
		}
	})
}

func TestWithoutAModelTheScreenSaysHowToGetOne(t *testing.T) {
	rt := tuitest.New()
	rt.St.Ready, rt.St.Model = false, ""
	on(t, rt, func(d *tuitest.Driver) {
		d.Has("no model", "/login", "demo")
		d.Enter("hello")
		d.Has("› hello")
		if len(rt.Sent()) != 0 {
			t.Error("a prompt was sent without a model")
		}
	})
}

func TestPromptAndStreamedAnswer(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("hello world")
		d.Has("› hello world")
		d.Keys("enter")
		if got := rt.Sent(); len(got) != 1 || got[0].Text != "hello world" {
			t.Fatalf("sent %v", got)
		}
		d.Lacks("/ for commands") // notes are of the prompt before
		rt.Begin("hello world")
		d.Emit(event.TextDelta{Delta: "# Head\n\nsome **bo"}, event.TextDelta{Delta: "ld** text\n"})
		d.Has("› hello world", "Head", "some bold text", "working", "esc to stop")
		d.Type("typed meanwhile")
		d.Has("› typed meanwhile")
		rt.End("# Head\n\nsome **bold** text\n")
		d.Sleep(time.Second)
		d.Has("Head", "some bold text")
		d.Lacks("working")
	})
}

func TestNewlines(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		for i, how := range [][]string{{"ctrl+j"}, {"alt+enter"}, {"shift+enter"}, {"\\", "enter"}} {
			d.Type("one")
			d.Keys(how...)
			d.Enter("two")
			if sent := rt.Sent(); len(sent) != i+1 || sent[i].Text != "one\ntwo" {
				t.Errorf("%v: sent %q", how, sent)
			}
			rt.End("")
			d.Sleep(time.Second)
		}
	})
}

func TestPasteIsNeverSubmitted(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		var text strings.Builder
		for i := range 200 {
			fmt.Fprintf(&text, "line %d\tx\r\n", i)
		}
		d.Paste(text.String() + "\x1b[31m\x00end")
		d.Has("[paste #1 +201 lines]")
		if len(rt.Sent()) != 0 {
			t.Fatal("a paste was sent")
		}
		d.Keys("enter")
		want := strings.ReplaceAll(text.String(), "\r\n", "\n") + "end"
		if got := rt.Sent()[0].Text; got != want {
			t.Errorf("sent %d bytes, want %d", len(got), len(want))
		}
	})
}

func TestQueue(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("first")
		rt.Begin("first")
		d.Sleep(time.Second)
		d.Enter("second")
		d.Enter("third")
		d.Has("queued: second", "queued: third", "queue 2")
		d.Keys("alt+up")
		d.Has("› second", "  third")
		d.Lacks("queued:")
		d.Keys("enter") // queue it again, in one piece
		d.Type("draft")
		d.Keys("esc")
		d.Sleep(100 * time.Millisecond)
		d.Has("interrupted", "› second", "draft")
		if called(rt, "cancel") != 1 || len(rt.Sent()) != 1 {
			t.Errorf("calls %v, sent %d", rt.Calls(), len(rt.Sent()))
		}
	})
}

func TestEscAndCtrlCAreOneRule(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		for i, stop := range []string{"esc", "ctrl+c"} {
			d.Enter("go")
			rt.Begin("go")
			d.Emit(event.TextDelta{Delta: "partial answer"})
			d.Type("kept")
			d.Keys(stop)
			d.Sleep(200 * time.Millisecond)
			d.Has("partial answer", "interrupted", "› kept")
			d.Lacks("stopping")
			if called(rt, "cancel") != i+1 {
				t.Errorf("%s: %d cancels", stop, called(rt, "cancel"))
			}
			d.Keys("ctrl+c")
			d.Lacks("› kept")
			d.Keys("up")
			d.Has("› kept") // nothing typed is lost
			d.Keys("ctrl+u")
		}
		d.Keys("esc", "esc", "esc")
		if d.Left() {
			t.Error("esc left")
		}
		d.Keys("ctrl+c")
		d.Has("press ctrl+c again")
		d.Sleep(3 * time.Second)
		d.Lacks("press ctrl+c again")
		d.Keys("ctrl+c")
		if d.Left() {
			t.Error("two presses seconds apart left")
		}
		d.Keys("ctrl+c")
		if !d.Left() {
			t.Error("two presses in a row did not leave")
		}
	})
}

// The runtime may know that a prompt is over before its last events are here.
func TestLateEventsOfAStoppedTurn(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("go")
		rt.Begin("go")
		d.Emit(event.TextDelta{Delta: "partial"})
		rt.Set(func(s *tui.State) { s.Busy = false })
		d.Sleep(time.Second)
		d.Type("x")
		d.Has("working")
		d.Emit(event.TextDelta{Delta: " and its end"}, event.AssistantMessage{Visible: "partial and its end"}, event.Done{})
		d.Sleep(time.Second)
		d.Has("partial and its end")
		d.Lacks("working", "partial\n")
		// And one that never says so does not work for ever.
		d.Keys("enter")
		rt.Set(func(s *tui.State) { s.Busy = false })
		d.Sleep(5 * time.Second)
		d.Lacks("working")
	})
}

func TestCtrlDLeavesAnEmptyPromptOnly(t *testing.T) {
	on(t, tuitest.New(), func(d *tuitest.Driver) {
		d.Type("x")
		d.Keys("ctrl+d")
		if d.Left() {
			t.Fatal("left with text in the prompt")
		}
		d.Keys("backspace", "ctrl+d")
		if !d.Left() {
			t.Error("did not leave")
		}
	})
}

func TestHistory(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		for _, text := range []string{"older", "old"} {
			d.Enter(text)
			rt.End("")
			d.Sleep(time.Second)
		}
		d.Type("draft")
		d.Keys("up")
		d.Has("› old")
		d.Keys("up")
		d.Has("› older")
		d.Keys("down", "down")
		d.Has("› draft")
		d.Keys("ctrl+r")
		d.Has("sent before", "2 of 2")
		d.Enter("er")
		d.Has("› older")
	})
}

// A command that is run before its arguments were found does not mind their
// coming afterwards.
func TestLateArguments(t *testing.T) {
	rt := tuitest.New()
	rt.ExtRows = []tui.ExtensionRow{{Name: "todo"}}
	on(t, rt, func(d *tuitest.Driver) {
		found := make(chan struct{})
		rt.OnExtensions = func() { <-found }
		d.Enter("/reload-ext todo")
		if called(rt, "reload todo") != 1 {
			t.Errorf("calls %v", rt.Calls())
		}
		close(found)
		d.Settle()
		d.Type("/reload-ext to")
		d.Settle()
		d.Has("todo")
	})
}

func TestSlashCompletion(t *testing.T) {
	rt := tuitest.New()
	rt.Cmds = []command.Command{{Name: "todo", Description: "manage todos", Extension: "todo-ext"}, {Name: "help", Extension: "evil"}}
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("/")
		d.Has("/btw", "ask aside")
		d.Type("to")
		d.Has("▸ /todo", "manage todos", "[extensions]")
		d.Keys("tab")
		d.Has("› /todo")
		d.Enter("add milk")
		d.Settle()
		if lastCall(rt) != `command todo "add milk"` {
			t.Errorf("calls %v", rt.Calls())
		}
		d.Type("/mod")
		d.Has("/model")
		d.Keys("esc")
		d.Has("› /mod")
		d.Lacks("pick a model")
		d.Type("e")
		d.Lacks("pick a model") // it stays closed …
		d.Keys("ctrl+u")
		d.Type("/mod")
		d.Has("pick a model") // … until the prompt was empty
		d.Keys("ctrl+u")
		d.Enter("/HELP")
		d.Settle()
		if called(rt, "command help") != 0 {
			t.Error("an extension took a built-in name")
		}
	})
}

func TestArgumentsAreCompleted(t *testing.T) {
	rt := tuitest.New()
	rt.SkillRows = []tui.SkillRow{{Name: "release", Description: "cut a release"}, {Name: "review", Description: "look at a change"}}
	rt.ExtRows = []tui.ExtensionRow{{Name: "todo", State: "running"}}
	rt.SetRows = []tui.SettingRow{{Key: "ui.notifications", Value: "off", Options: []string{"off", "always"}}}
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("/skill:re")
		d.Has("/skill:release", "cut a release", "/skill:review")
		d.Type("v")
		d.Keys("tab")
		d.Has("› /skill:review")
		d.Keys("ctrl+u")
		d.Type("/policy ")
		d.Has("explain", "why an extension may load")
		d.Lacks("explain todo")
		d.Type("explain t")
		d.Has("explain todo", "running")
		d.Keys("tab")
		d.Has("› /policy explain todo")
		d.Keys("ctrl+u")
		d.Type("/config notif")
		d.Has("ui.notifications")
		d.Keys("tab")
		d.Type("al")
		d.Has("ui.notifications always")
		d.Keys("tab", "enter")
		d.Sleep(100 * time.Millisecond)
		d.Has("ui.notifications saved")
	})
}

func TestUnknownCommandIsSaidAndNotSent(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("/modle x")
		d.Has("no command is named /modle", "did you mean /model?")
		d.Enter("/usr/bin is a path")
		if got := rt.Sent(); len(got) != 1 || got[0].Text != "/usr/bin is a path" {
			t.Errorf("sent %v", got)
		}
	})
}

// A command that nobody has yet may be that of an extension which is still
// loading, so it is put to the runtime.
func TestCommandWhileExtensionsLoad(t *testing.T) {
	rt := tuitest.New()
	rt.OnCommand = func(context.Context, string, string) (tui.Outcome, error) {
		return tui.Outcome{}, errors.New("unknown command /late")
	}
	on(t, rt, func(d *tuitest.Driver) {
		late := func(want int) {
			t.Helper()
			d.Enter("/late x")
			d.Settle()
			if n := called(rt, `command late "x"`); n != want {
				t.Errorf("the runtime was asked %d times, want %d", n, want)
			}
		}
		d.Emit(event.ExtState{Loading: 1, Total: 2})
		late(1)
		d.Has("error: unknown command /late")
		d.Emit(event.ExtState{Loading: 0, Total: 2})
		late(1)
		d.Has("no command is named /late")
	})
}

func TestExtensionCommandOutcomes(t *testing.T) {
	rt := tuitest.New()
	rt.Cmds = []command.Command{{Name: "x", Extension: "ext"}}
	var next tui.Outcome
	var fail error
	rt.OnCommand = commandFunc(&next, &fail)
	on(t, rt, func(d *tuitest.Driver) {
		run := func() {
			d.Type("/x")
			d.Keys("esc", "enter")
			d.Sleep(10 * time.Millisecond)
		}
		next = tui.Outcome{Action: "display", Text: "shown\x1b[2J once"}
		run()
		d.Has("[ext] shown once")
		next = tui.Outcome{Action: "insert", Text: "/put here"}
		run()
		d.Has("› /put here")
		d.Keys("ctrl+u")
		fail = errors.New("extension /x: it broke")
		run()
		d.Has("error: extension /x: it broke")
		fail = nil
		next = tui.Outcome{Action: "prompt", Text: "/exit now"}
		run()
		if got := rt.Sent(); len(got) != 1 || got[0].Text != "/exit now" {
			t.Errorf("sent %v", got)
		}
		if d.Left() {
			t.Error("text of an extension ran a command")
		}
	})
}

func TestEscStopsAWaitingCommand(t *testing.T) {
	rt := tuitest.New()
	rt.Cmds = []command.Command{{Name: "slow", Extension: "ext"}}
	rt.OnCommand = waitFunc()
	on(t, rt, func(d *tuitest.Driver) {
		for _, stop := range []string{"esc", "ctrl+c"} {
			d.Type("/slow")
			d.Keys("esc", "enter")
			d.Sleep(3 * time.Second)
			d.Has("working 3s")
			d.Type("kept")
			d.Keys(stop)
			d.Settle()
			d.Has("/slow stopped", "› kept")
			d.Lacks("working")
			d.Keys("ctrl+u", "esc")
		}
	})
}

func TestShellEscape(t *testing.T) {
	rt := tuitest.New()
	rt.OnShell = shellFunc()
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("!echo hi")
		d.Sleep(time.Second)
		d.Has("! echo hi", "out of echo hi")
		d.Enter("!hang")
		d.Sleep(time.Second)
		d.Has("working 1s")
		d.Keys("esc")
		d.Sleep(time.Second)
		d.Has("! hang (stopped)")
		if len(rt.Sent()) != 0 {
			t.Error("sent to the model")
		}
	})
}

func TestEmojiBackspaceAndCaret(t *testing.T) {
	on(t, tuitest.New(), func(d *tuitest.Driver) {
		d.Type("ab宽é")
		if x, _ := d.Caret(); x != 7 {
			t.Errorf("caret at %d, want 7", x)
		}
		d.Keys("left", "left")
		if x, _ := d.Caret(); x != 4 {
			t.Errorf("caret at %d, want 4", x)
		}
		d.Keys("home")
		if x, _ := d.Caret(); x != 2 {
			t.Errorf("caret at %d, want 2", x)
		}
		d.Keys("end")
		d.Type("👨‍👩‍👧")
		d.Keys("backspace")
		d.Has("› ab宽é")
		d.Lacks("👨")
	})
}

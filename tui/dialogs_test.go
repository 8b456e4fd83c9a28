package tui_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/tuitest"
)

func confirm(title string, got *[]string) tui.Ask {
	return tui.Ask{Kind: dialog.Confirm, Title: title, Command: "rm -rf build\x1b[2K", Cwd: "/work/project",
		Options: []dialog.Option{{Label: "allow"}, {Label: "allow for session", Detail: "bash rm *"}, {Label: "deny"}}, Cancel: 2,
		Answer: func(n int) { *got = append(*got, fmt.Sprintf("%s %d", title, n)) }}
}

func TestConfirmation(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		var got []string
		d.Type("typing ")
		rt.Asks <- confirm("run it?", &got)
		rt.Asks <- confirm("and this?", &got)
		synctest.Wait()
		d.Type("1")
		d.Keys("enter", "esc")
		d.Has("run it?", "rm -rf build^[[2K", "1 of 2", "1. allow", "3. deny", "› typing")
		if len(got) != 0 {
			t.Fatalf("keys of the first quarter second answered: %v", got)
		}
		d.Sleep(dialog.Guard)
		d.Keys("down")
		d.Has("bash rm *")
		d.Keys("enter")
		d.Has("and this?")
		d.Keys("1") // the next one is guarded like the first
		d.Sleep(dialog.Guard)
		d.Keys("esc")
		d.Lacks("and this?")
		if strings.Join(got, ", ") != "run it? 1, and this? 2" {
			t.Errorf("answers %v", got)
		}
		d.Has("› typing")
	})
}

func TestWithdrawnQuestionIsRefusedAndGoes(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		var got []string
		a := confirm("run it?", &got)
		gone := make(chan struct{})
		a.Withdrawn = gone
		d.Emit(a)
		d.Has("run it?")
		close(gone)
		d.Sleep(time.Second)
		d.Lacks("run it?")
		if strings.Join(got, ", ") != "run it? 2" {
			t.Errorf("answers %v", got)
		}
	})
}

func TestLeavingRefusesOpenQuestions(t *testing.T) {
	var got []string
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Emit(confirm("a", &got), confirm("b", &got))
	})
	if strings.Join(got, ", ") != "a 2, b 2" {
		t.Errorf("answers %v", got)
	}
}

func TestTrustFitsASmallScreen(t *testing.T) {
	rt := tuitest.New()
	synctest.Test(t, func(t *testing.T) {
		d := tuitest.Start(t, rt, 80, 10, nil)
		var got []int
		a := tui.Ask{Kind: dialog.Trust, Title: "trust this project?", Default: 0, Cancel: 0,
			Options: []dialog.Option{{Label: "load none"}, {Label: "this time"}, {Label: "remember"}},
			Answer:  func(n int) { got = append(got, n) }}
		for i := range 40 {
			a.Body = append(a.Body, fmt.Sprintf("ext-%d: may read files, changed since you trusted it", i))
		}
		d.Emit(a)
		d.Has("trust this project?", "▸ 1. load none", "2. this time", "3. remember")
		d.Sleep(time.Second)
		d.Keys("esc")
		if fmt.Sprint(got) != "[0]" {
			t.Errorf("answers %v", got)
		}
	})
}

func TestPanelsGetFourteenKeys(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("draft")
		d.Emit(event.ExtPanelOpen{Extension: "todo", ID: "1", Title: "todos", Lines: []string{"▸ one", "two"}, Footer: "a add", Asked: true})
		d.Has("─ todo: todos", "▸ one", "a add", "esc closes")
		if called(rt, "panel size todo/1 78x") != 1 {
			t.Errorf("calls %v", rt.Calls())
		}
		for _, k := range []string{"up", "down", "left", "right", "enter", "tab", "home", "end", "pgup", "pgdown", "backspace", "delete", "x", " ", "ctrl+x", "f"} {
			d.Keys(k)
		}
		d.Paste("two\nwords")
		var got []string
		for _, c := range rt.Calls() {
			if k, ok := strings.CutPrefix(c, "panel key todo/1 "); ok {
				got = append(got, k)
			}
		}
		want := "up down left right enter tab home end pageup pagedown backspace delete rune x rune   rune f rune two words"
		if strings.Join(got, " ") != want {
			t.Errorf("got  %q\nwant %q", strings.Join(got, " "), want)
		}
		d.Emit(event.ExtPanelRender{Extension: "todo", ID: "1", Lines: []string{"changed"}}, event.ExtPanelRender{Extension: "evil", ID: "1", Lines: []string{"spoofed"}})
		d.Has("changed")
		d.Lacks("spoofed")
		d.Keys("esc")
		d.Lacks("changed")
		d.Has("› draft")
		if lastCall(rt) != "panel closed todo/1" {
			t.Errorf("calls %v", rt.Calls())
		}
	})
}

func TestPanelThatWantsEscGetsTheFirst(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Emit(event.ExtPanelOpen{Extension: "game", ID: "1", Lines: []string{"playing"}, Keys: []string{"esc"}, Asked: true})
		d.Keys("esc")
		d.Has("playing")
		if lastCall(rt) != "panel key game/1 esc" {
			t.Errorf("calls %v", rt.Calls())
		}
		d.Keys("esc")
		d.Lacks("playing")
		d.Emit(event.ExtPanelOpen{Extension: "game", ID: "2", Lines: []string{"again"}, Keys: []string{"esc"}, Asked: true},
			event.ExtPanelOpen{Extension: "todo", ID: "3", Lines: []string{"other"}, Asked: true})
		d.Has("other")
		d.Lacks("again")
		if called(rt, "panel closed game/2") != 1 {
			t.Errorf("the owner of the replaced panel was not told: %v", rt.Calls())
		}
		d.Emit(event.ExtPanelClose{Extension: "todo"})
		d.Lacks("other")
	})
}

func TestUnaskedPanelTakesNoKeys(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("wri")
		d.Emit(event.ExtPanelOpen{Extension: "pop", ID: "1", Lines: []string{"look at me"}})
		d.Type("ting")
		d.Has("look at me", "› writing", "alt+p to use it")
		if called(rt, "panel key") != 0 {
			t.Errorf("keys were taken: %v", rt.Calls())
		}
		d.Keys("alt+p", "x")
		if lastCall(rt) != "panel key pop/1 rune x" {
			t.Errorf("calls %v", rt.Calls())
		}
	})
}

func TestBurstOfRendersShowsTheLast(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Emit(event.ExtPanelOpen{Extension: "p", ID: "1", Lines: []string{"start"}, Asked: true})
		d.Keys("alt+p")
		go func() { // ends after its renders
			for i := range 20000 {
				rt.Events <- event.ExtPanelRender{Extension: "p", ID: "1", Lines: []string{fmt.Sprintf("frame %d", i)}}
			}
		}()
		d.Type("typing works")
		d.Has("› typing works")
		d.Sleep(time.Second)
		d.Has("frame 19999")
	})
}

func TestNotesOfExtensions(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Emit(event.ExtNotify{Extension: "a", Level: "warn", Message: "from a"}, event.ExtNotify{Extension: "b", Level: "info", Message: "from b"})
		d.Has("[a] warning: from a", "[b] from b")
		d.Emit(event.ExtClearNotes{Extension: "a"})
		d.Lacks("from a")
		d.Has("from b")
		d.Keys("esc")
		d.Lacks("from b")
		for range 100 {
			rt.Emit(event.ExtNotify{Extension: "spam", Level: "info", Message: "spam"})
		}
		d.Sleep(2 * time.Second)
		d.Emit(event.ExtNotify{Extension: "spam", Level: "info", Message: "last"})
		d.Has("80 more notes were left out")
	})
}

func TestModelPicker(t *testing.T) {
	rt := tuitest.New()
	rt.ModelRows = []tui.ModelRow{{Provider: "a", ID: "big"}, {Provider: "a", ID: "small"}, {Provider: "b", ID: "other", Note: "no key"}}
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("/model")
		d.Settle()
		d.Has("models", "3 of 3", "other")
		d.Keys("esc")
		if called(rt, "model ") != 0 {
			t.Error("esc changed the model")
		}
		d.Keys("alt+m")
		d.Settle()
		d.Enter("oth")
		d.Has("(no key)") // it cannot be picked
		d.Keys("ctrl+u")
		d.Enter("sma")
		d.Sleep(time.Second)
		if lastCall(rt) != "model a/small" {
			t.Errorf("calls %v", rt.Calls())
		}
		d.Has("small │ context")
		d.Enter("/model b/other")
		d.Settle()
		d.Has("other │ context")
	})
}

func TestSessionPicker(t *testing.T) {
	rt := tuitest.New()
	for i := range 40 {
		rt.SessRows = append(rt.SessRows, tui.SessionRow{Path: fmt.Sprintf("/s/%d", i), Title: fmt.Sprintf("session %d", i), Messages: i})
	}
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("/sessions")
		d.Settle()
		d.Keys("end")
		d.Has("▸ session 39")
		d.Enter("37")
		d.Settle()
		if lastCall(rt) != "resume /s/37" {
			t.Errorf("calls %v", rt.Calls())
		}
	})
}

func TestThemePreviewAndChoice(t *testing.T) {
	red := theme.Palette{"fg": {FG: theme.RGB(255, 0, 0)}}
	blue := theme.Palette{"fg": {FG: theme.RGB(0, 0, 255)}}
	rt := tuitest.New()
	rt.ThemeList = map[string]*theme.Theme{"red": {Name: "red", Dark: red, Light: red}, "blue": {Name: "blue", Dark: blue, Light: blue}}
	on(t, rt, func(d *tuitest.Driver) {
		colour := func(sgr string) bool { return strings.Contains(strings.Join(d.Rows(), ""), sgr) }
		d.Enter("/theme")
		d.Settle()
		d.Keys("down")
		d.Settle()
		if !colour("38;2;255;0;0") {
			t.Error("no preview while moving")
		}
		d.Keys("esc")
		d.Settle()
		if colour("38;2;255;0;0") {
			t.Error("esc did not go back")
		}
		d.Enter("/theme blue")
		d.Settle()
		if !colour("38;2;0;0;255") || lastCall(rt) != "theme blue" {
			t.Errorf("not chosen: %v", rt.Calls())
		}
		d.Enter("/theme nope")
		d.Settle()
		d.Has(`no theme is named "nope"`)
		if !colour("38;2;0;0;255") {
			t.Error("a theme that cannot be read changed the colours")
		}
	})
}

// The outcome of a reload is in the status line for five seconds; what failed
// stays in the conversation until it loads or the conversation is cleared.
func TestReload(t *testing.T) {
	rt := tuitest.New()
	rt.ReloadWith = tui.ReloadReport{Stopped: 2, Loaded: 3, Ready: 2, Errors: []string{"bad: exec: no such file"}}
	reload := func(d *tuitest.Driver, name string) {
		d.Enter("/reload-ext " + name)
		d.Settle()
	}
	on(t, rt, func(d *tuitest.Driver) {
		d.Emit(event.ExtFailed{Extension: "worse", Message: "it ended: exit status 3\nlog: /logs/ext-worse.log"})
		d.Has("error: extension worse: it ended: exit status 3", "log: /logs/ext-worse.log")
		d.Keys("esc")
		reload(d, "")
		d.Has("reloaded: 2 stopped, 3 loaded (2 ready), 1 failed: bad: exec: no such file", "error: extension bad: exec: no such file")
		d.Lacks("worse")
		d.Emit(event.ExtFailed{Extension: "bad", Message: "exec: no such file"}) // says the same
		if n := strings.Count(d.Screen(), "error: extension bad"); n != 1 {
			t.Errorf("the failure is shown %d times:\n%s", n, d.Screen())
		}
		d.Sleep(4 * time.Second)
		d.Has("reloaded:")
		d.Sleep(1100 * time.Millisecond)
		d.Lacks("reloaded:")
		d.Emit(event.ExtFailed{Extension: "worse", Message: "killed"})
		d.Keys("esc")
		d.Has("error: extension bad: exec: no such file", "error: extension worse: killed") // they stay
		rt.ReloadWith = tui.ReloadReport{}
		reload(d, "bad") // loads now
		d.Lacks("no such file")
		d.Has("error: extension worse: killed")
		d.Enter("/clear")
		d.Settle()
		d.Lacks("killed")
	})
}

func TestLoginHidesTheKey(t *testing.T) {
	rt := tuitest.New()
	rt.AccRows = []tui.AccountRow{{Provider: "acme", Env: "ACME_API_KEY"}, {Provider: "other"}}
	on(t, rt, func(d *tuitest.Driver) {
		d.Enter("/login acme")
		d.Settle()
		d.Has("key for acme", "ACME_API_KEY")
		d.Paste("sk-secret")
		d.Has("*********")
		d.Lacks("sk-secret")
		d.Keys("enter")
		d.Settle()
		if lastCall(rt) != "login acme sk-secret" {
			t.Errorf("calls %v", rt.Calls())
		}
		d.Has("key kept for acme")
		d.Enter("/login acme sk-typed")
		d.Settle()
		d.Keys("esc", "esc", "up")
		d.Lacks("sk-typed")
	})
}

func TestEveryCommandSaysSomething(t *testing.T) {
	for _, c := range tui.BuiltinCommands() {
		if c.Name == "exit" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			rt := tuitest.New()
			rt.OnShell = shellFunc()
			on(t, rt, func(d *tuitest.Driver) {
				before := d.Screen()
				d.Type("/" + c.Name)
				d.Keys("esc", "enter")
				d.Settle()
				if d.Screen() == before && len(rt.Calls()) == 0 {
					t.Errorf("nothing happened:\n%s", before)
				}
				d.Sleep(2 * time.Second)
			})
		})
	}
}

func TestSettingsDialog(t *testing.T) {
	rt := tuitest.New()
	rt.SetRows = []tui.SettingRow{
		{Key: "theme", Value: "auto", From: "built-in", Doc: "The look."},
		{Key: "ui.notifications", Value: "unfocused", From: "built-in", Options: []string{"off", "unfocused", "always"}},
		{Key: "ui.showThinking", Value: "false", From: "built-in", Options: []string{"true", "false"}, Doc: "Show what a model thinks."},
		{Key: "maxSteps", Value: "500", From: "built-in"},
	}
	on(t, rt, func(d *tuitest.Driver) {
		rt.Begin("think")
		d.Emit(event.ReasoningDelta{Delta: "deep in thought"})
		rt.End("done")
		d.Sleep(200 * time.Millisecond)
		d.Lacks("deep in thought")
		d.Command("/settings think")
		d.Has("settings", "1 of 4", "ui.showThinking", "false  built-in", "Show what a model thinks.")
		d.Keys("enter")
		d.Has("true  user", "ui.showThinking saved", "thought: deep in thought")
		d.Keys("ctrl+x")
		d.Has("not set  built-in")
		d.Lacks("deep in thought")
		d.Keys("ctrl+u")
		d.Enter("notif")
		d.Has("ui.notifications", "▸ unfocused")
		d.Keys("down", "enter")
		d.Has("always  user")
		d.Keys("ctrl+u")
		d.Enter("maxst")
		d.Has("maxSteps", "› 500")
		d.Keys("ctrl+u")
		d.Enter("7")
		d.Has("maxSteps  7  user")
		d.Keys("enter", "esc")
		d.Has("1 of 4") // back in the list
		d.Keys("esc")
		d.Lacks("1 of 4")
		d.Command("/config maxSteps 9")
		d.Has("maxSteps saved")
		d.Command("/config nothing 9")
		d.Has(`there is no setting "nothing"`)
		if rt.SetRows[3].Value != "9" {
			t.Errorf("maxSteps is %q", rt.SetRows[3].Value)
		}
	})
}

func TestReportsAreReadInADialog(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("draft")
		d.Keys("ctrl+u")
		d.Command("/help")
		d.Has("help", "esc closes", "/btw QUESTION")
		d.Lacks("/unjail")
		d.Keys("pgdown", "pgdown")
		d.Lacks("/btw QUESTION")
		d.Type("unjail")
		d.Has("/unjail", `1 with "unjail"`)
		d.Keys("esc")
		d.Has("/btw QUESTION")
		d.Keys("esc")
		d.Lacks("/btw QUESTION", "esc closes")
	})
}

func TestAsideGrowsAndGoesWithTheNotes(t *testing.T) {
	rt := tuitest.New()
	more := make(chan string)
	rt.OnAside = func(_ context.Context, _ string, onText func(string)) error {
		for text := range more {
			onText(text)
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		more = make(chan string)
		d := tuitest.Start(t, rt, 80, 24, nil)
		d.Command("/btw why?")
		more <- "because of **this"
		d.Sleep(time.Second)
		d.Has("btw: why?", "because of **this", "working")
		more <- "** and that\n\n- and more"
		d.Sleep(time.Second)
		d.Has("because of this and that", "• and more")
		rt.Begin("go on")
		d.Emit(event.TextDelta{Delta: "the answer"})
		rt.End("the answer")
		d.Sleep(time.Second)
		d.Keys("esc") // stops it, and clears it away
		d.Lacks("because")
		close(more)
		d.Sleep(time.Second)
		d.Lacks("because", "working")
		d.Has("the answer")
		d.Command("/copy")
		if got := d.Copied(); len(got) != 1 || got[0] != "the answer" {
			t.Errorf("copied %q", got)
		}
	})
}

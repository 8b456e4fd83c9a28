package plain

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

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/tuitest"
)

// talk is a conversation with the surface, in a synctest bubble.
type talk struct {
	t   *testing.T
	rt  *tuitest.Runtime
	in  *io.PipeWriter
	mu  sync.Mutex
	out strings.Builder
	at  int
	end chan error
}

func (k *talk) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.out.Write(p)
}

func begin(t *testing.T, rt *tuitest.Runtime, story func(k *talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rt.Events, rt.Asks = make(chan event.Event, 256), make(chan tui.Ask, 16)
		r, w := io.Pipe()
		k := &talk{t: t, rt: rt, in: w, end: make(chan error, 1)}
		go func() {
			k.end <- run(context.Background(), tui.Options{Runtime: rt, Events: rt.Events, Asks: rt.Asks, Input: r, Output: k}, nil)
		}()
		synctest.Wait()
		story(k)
		_ = w.Close() // a pipe in memory
		synctest.Wait()
	})
}

func (k *talk) say(line string) {
	_, _ = io.WriteString(k.in, line+"\n") // a pipe in memory
	time.Sleep(time.Second)
	synctest.Wait()
}

// reads returns what was printed since the last call.
func (k *talk) reads() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.out.String()[k.at:]
	k.at = k.out.Len()
	return s
}

func (k *talk) hears(want ...string) {
	k.t.Helper()
	got := k.reads()
	for _, w := range want {
		if !strings.Contains(got, w) {
			k.t.Errorf("lacks %q:\n%s", w, got)
		}
	}
}

func TestConversationInLines(t *testing.T) {
	rt := tuitest.New()
	begin(t, rt, func(k *talk) {
		k.hears("zot, line by line", "model: test-model")
		k.say("hello")
		if got := rt.Sent(); len(got) != 1 || got[0].Text != "hello" {
			t.Fatalf("sent %v", got)
		}
		rt.Begin("hello")
		rt.Emit(event.TextDelta{Delta: "one\x1b[2J line\nand a"}, event.TextDelta{Delta: "nother"})
		rt.Emit(event.ToolCall{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"ls\u001b[H"}`)},
			event.ToolResult{ID: "1", Name: "bash", Content: []message.Block{message.Text{Text: "a\r\nb"}}, IsError: true},
			event.ExtNotify{Extension: "todo", Level: "warn", Message: "careful"})
		time.Sleep(time.Second)
		k.hears("you: hello\nzot: one line\nand another\ntool: bash ls^[[H\ntool: bash failed\na\nb\n[todo] warning: careful\n")
		k.say("next")
		k.hears("queued.")
		rt.End("one line\nanother")
		time.Sleep(time.Second)
		k.hears("ready.")
		k.say("/exit")
		if err := <-k.end; err != nil {
			t.Error(err)
		}
		if all := k.out.String(); strings.ContainsAny(all, "\x1b\a\r") {
			t.Errorf("control characters were written: %q", all)
		}
	})
}

func TestQuestionsAreNumbered(t *testing.T) {
	rt := tuitest.New()
	begin(t, rt, func(k *talk) {
		var got []int
		ask := tui.Ask{Title: "run it?", Command: "make \x1b[2K", Options: []dialog.Option{{Label: "allow"}, {Label: "deny"}}, Cancel: 1,
			Answer: func(n int) { got = append(got, n) }}
		rt.Asks <- ask
		rt.Asks <- ask
		synctest.Wait()
		k.hears("question: run it?", "make ^[[2K", "1. allow", "2. deny")
		k.say("yes")
		k.hears("none of the numbers")
		k.say("1")
		k.hears("question: run it?")
		_ = k.in.Close()
		if err := <-k.end; err != nil {
			t.Error(err)
		}
		if fmt.Sprint(got) != "[0 1]" {
			t.Errorf("answers %v, want the second refused as the input ended", got)
		}
	})
}

// Whether to trust a project is not answered by what was typed before that was
// asked.
func TestTrustTakesNothingTypedAhead(t *testing.T) {
	rt := tuitest.New()
	begin(t, rt, func(k *talk) {
		var got []int
		rt.Asks <- tui.Ask{Kind: dialog.Trust, Title: "may it act?", Options: []dialog.Option{{Label: "no"}, {Label: "yes"}},
			Answer: func(n int) { got = append(got, n) }}
		synctest.Wait()
		k.hears("question: may it act?", "1. no", "2. yes")
		k.say("2")
		k.hears("not taken, as it was typed before the question: 2")
		time.Sleep(dialog.Guard)
		k.say("2")
		k.say("/exit")
		if err := <-k.end; err != nil {
			t.Error(err)
		}
		if fmt.Sprint(got) != "[1]" {
			t.Errorf("answers %v", got)
		}
	})
}

// An answer that takes a line takes it behind its number.
func TestAnAnswerWithALine(t *testing.T) {
	rt := tuitest.New()
	begin(t, rt, func(k *talk) {
		var got []string
		text := ""
		rt.Asks <- tui.Ask{Title: "run it?", Options: []dialog.Option{{Label: "yes"}, {Label: "no, and say why", Takes: "reason"}},
			Text: func(s string) { text = s }, Answer: func(n int) { got = append(got, fmt.Sprint(n, " ", text)) }}
		synctest.Wait()
		k.say("1 because")
		k.hears("none of the numbers")
		k.say("2")
		k.hears("type the number again, and behind it the reason")
		k.say("2 it is too early")
		_ = k.in.Close()
		if err := <-k.end; err != nil {
			t.Error(err)
		}
		if fmt.Sprint(got) != "[1 it is too early]" {
			t.Errorf("answers %v", got)
		}
	})
}

func TestListsAndCommands(t *testing.T) {
	rt := tuitest.New()
	rt.ModelRows = []tui.ModelRow{{Provider: "a", ID: "big"}, {Provider: "a", ID: "small"}}
	rt.Cmds = []command.Command{{Name: "todo", Extension: "todo-ext"}}
	rt.OnCommand = func(_ context.Context, name, _ string) (tui.Outcome, error) {
		if name != "todo" {
			return tui.Outcome{}, fmt.Errorf("unknown command /%s", name)
		}
		return tui.Outcome{Action: "display", Text: "two todos"}, nil
	}
	begin(t, rt, func(k *talk) {
		k.say("/model")
		k.hears("1. big, a", "2. small, a")
		k.say("7")
		k.say("2")
		k.hears("model: small")
		k.say("/todo list")
		k.hears("[todo-ext]: two todos")
		k.say("/nope")
		k.hears("error: unknown command /nope")
		k.say("/help")
		k.hears("/model [name]: pick a model", "/todo:")
		if calls := strings.Join(rt.Calls(), "; "); calls != `model a/small; command todo "list"; command nope ""` {
			t.Errorf("calls %s", calls)
		}
	})
}

func TestPanelInLines(t *testing.T) {
	rt := tuitest.New()
	begin(t, rt, func(k *talk) {
		rt.Emit(event.ExtPanelOpen{Extension: "todo", ID: "1", Title: "todos", Lines: []string{"\x1b[7m▸ milk\x1b[m"}, Footer: "a add", Asked: true})
		time.Sleep(time.Second)
		k.hears("panel of todo: todos", "▸ milk", "a add")
		k.say("ab")
		k.say(".down")
		rt.Emit(event.ExtPanelRender{Extension: "todo", ID: "1", Lines: []string{"eggs"}})
		time.Sleep(time.Second)
		k.hears("eggs")
		k.say(".close")
		want := "panel size todo/1 80x24; panel key todo/1 rune a; panel key todo/1 rune b; panel key todo/1 down; panel closed todo/1"
		if calls := strings.Join(rt.Calls(), "; "); calls != want {
			t.Errorf("calls %s", calls)
		}
	})
}

func TestPipedInputIsAnsweredBeforeLeaving(t *testing.T) {
	rt := tuitest.New()
	rt.OnSubmit = func(p tui.Prompt) {
		rt.Begin(p.Text)
		time.Sleep(time.Minute)
		rt.Emit(event.TextDelta{Delta: "done"})
		rt.End("done")
	}
	begin(t, rt, func(k *talk) {
		k.say("work")
		_ = k.in.Close()
		if err := <-k.end; err != nil {
			t.Error(err)
		}
		k.hears("zot: done")
	})
}

func TestAnswersOfInterceptors(t *testing.T) {
	rt := tuitest.New()
	begin(t, rt, func(k *talk) {
		rt.Emit(event.AssistantMessage{Visible: "whole at once", By: "guard"}, event.AssistantMessage{Suppressed: true, By: "guard", Reason: "no"})
		time.Sleep(time.Second)
		k.hears("zot: whole at once", "zot: answer withheld by guard: no")
	})
}

// An extension that fails is named, once, whether a reload was the cause or not.
func TestFailuresInLines(t *testing.T) {
	rt := tuitest.New()
	rt.ReloadWith = tui.ReloadReport{Stopped: 2, Loaded: 1, Ready: 1, Errors: []string{"bad: no such file"}}
	begin(t, rt, func(k *talk) {
		rt.Emit(event.ExtFailed{Extension: "bad", Message: "no such file"})
		time.Sleep(time.Second)
		k.hears("error: extension bad: no such file")
		k.say("/reload-ext")
		time.Sleep(time.Second)
		k.hears("reloaded: 2 stopped, 1 loaded (1 ready), 1 failed")
	})
}

func TestCommandsAboutAScreenSaySo(t *testing.T) {
	begin(t, tuitest.New(), func(k *talk) {
		k.say("/theme")
		if out := k.out.String(); !strings.Contains(out, "/theme is about the screen") {
			t.Errorf("said %q", out)
		}
		k.say("/exit")
	})
}

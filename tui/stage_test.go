package tui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/tuitest"
)

// The test binary is also the program that runs in the terminals of the tests.
const stageVar = "ZOT_TUI_TEST_STAGE"

func TestMain(m *testing.M) {
	if os.Getenv(stageVar) != "" {
		os.Exit(stage())
	}
	tuitest.KeepClock()
	os.Exit(m.Run())
}

// stage runs the interface over a runtime that does what the prompts say:
// "stream N" sends N paragraphs, "fence N" an open code block of N lines,
// "wait" works until it is stopped, "ask" asks, "picture" shows one.
func stage() int {
	rt := tuitest.New()
	rt.OnSubmit = func(p tui.Prompt) { act(rt, p.Text) }
	rt.OnShell = func(_ context.Context, line string) (string, int, error) {
		if line == "panic" {
			panic("on purpose")
		}
		return line, 0, nil
	}
	opt := tui.Options{Runtime: rt, Events: rt.Events, Asks: rt.Asks, Theme: "dark",
		Farewell: func() string { return "resume with: zot --continue" }}
	err := tui.Run(context.Background(), opt)
	var sig tui.SignalError
	switch {
	case errors.As(err, &sig):
		fmt.Println(err)
		return 143
	case err != nil:
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

func act(rt *tuitest.Runtime, prompt string) {
	rt.Begin(prompt)
	verb, _, _ := strings.Cut(prompt, " ")
	n := 0
	_, _ = fmt.Sscanf(prompt, verb+" %d", &n) // no number is none
	var text strings.Builder
	say := func(s string) {
		text.WriteString(s)
		rt.Emit(event.TextDelta{Delta: s})
	}
	switch verb {
	case "stream":
		for i := range n {
			say(fmt.Sprintf("paragraph %d with **bold** words\n\n", i))
			time.Sleep(time.Millisecond)
		}
	case "fence":
		say("```go\n")
		for i := range n {
			say(fmt.Sprintf("x := %d // line\n", i))
		}
		say("```\n\nafter the code")
	case "wait":
		return
	case "picture":
		rt.Emit(event.ToolCall{ID: "1", Name: "read"}, event.ToolResult{ID: "1", Name: "read", Executed: true,
			Content: []message.Block{message.Image{MIMEType: "image/png", Data: aPNG()}}})
		say("there it is")
	case "ask":
		answered := make(chan int, 1)
		rt.Asks <- tui.Ask{Title: "run it?", Command: "make all", Options: []dialog.Option{{Label: "allow"}, {Label: "deny"}}, Cancel: 1,
			Answer: func(n int) { answered <- n }}
		say(fmt.Sprintf("answer %d", <-answered))
	default:
		say("you said " + fmt.Sprintf("%q", prompt))
	}
	rt.End(text.String())
}

// aPNG is a picture that gets 20 columns and 5 rows.
func aPNG() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

//go:build !windows

package main

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/tuitest"
)

// terminalCmd runs zot in a terminal, with a person at the keyboard who does
// what the steps in a file say, one a line:
//
//	size WIDTH HEIGHT
//	             is that of the terminal, as the first step of all
//	wait TEXT    waits until the screen shows the text
//	gone TEXT    waits until it does not
//	enter TEXT   types the text and the enter key
//	type TEXT    types the text, with Go's escapes: \x1b is Esc
//	until KEYS TEXT
//	             types the keys until the text is gone: a question takes none
//	             that come while it appears
//	file FILE TEXT
//	             waits until the file holds the text
//	picture FILE waits until the screen is that of a picture in docs/images
//	leave        leaves an empty prompt, and waits until zot has ended well
func terminalCmd(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: terminal STEPS [ARGUMENT]...")
		}
		steps := ts.ReadFile(args[0])
		w, h := screenSize(steps)
		x := tuitest.Exec(person{t, ts}, zotOf(ts, args[1:]), w, h)
		for n, line := range strings.Split(steps, "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			ts.Logf("%s:%d: %s", args[0], n+1, line)
			if name, ok := strings.CutPrefix(line, "picture "); ok {
				picture(ts, x, name, w)
				continue
			}
			step(ts, x, line)
		}
	}
}

func step(ts *testscript.TestScript, x *tuitest.Terminal, line string) {
	verb, text, _ := strings.Cut(line, " ")
	switch verb {
	case "size": // it has that already
	case "wait":
		x.Wait(text)
	case "gone":
		x.Gone(text)
	case "enter":
		// The enter key comes on its own: a burst of keys counts as a paste.
		before := strings.Count(x.Screen(), text)
		x.Send(text)
		x.WaitFor("what is typed", func() bool { return strings.Count(x.Screen(), text) > before })
		x.Send("\r")
	case "type":
		keys, err := strconv.Unquote(`"` + text + `"`)
		ts.Check(err)
		x.Send(keys)
	case "until":
		typed, gone, _ := strings.Cut(text, " ")
		keys, err := strconv.Unquote(`"` + typed + `"`)
		ts.Check(err)
		time.Sleep(dialog.Guard) // a question on screen takes no answer sooner
		// One key too many would answer what comes next, so a second one has to be
		// needed.
		for range 5 {
			x.Send(keys)
			if x.Within(waitTime/10, func() bool { return !strings.Contains(x.Screen(), gone) }) {
				return
			}
		}
		ts.Fatalf("%q is still there:\n%s", gone, x.Screen())
	case "file":
		name, want, _ := strings.Cut(text, " ")
		waitforCmd(ts, false, []string{name, want})
	case "leave":
		x.Send("\x15\x04") // a key of "until" may have come after the question had gone
		ts.Check(x.Exit())
	default:
		ts.Fatalf("unknown step %q", verb)
	}
}

// zotOf is the program of a scenario, in its folder and with its environment.
func zotOf(ts *testscript.TestScript, args []string) *exec.Cmd {
	ts.Check(ts.Exec("env"))
	cmd := &exec.Cmd{Args: append([]string{"zot"}, args...), Dir: ts.MkAbs(".")}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		cmd.Env = append(cmd.Env, strings.TrimSuffix(line, "\n"))
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8")
	dir, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator)) // where testscript keeps it
	cmd.Path = filepath.Join(dir, "zot")
	return cmd
}

// person makes what goes wrong at a terminal the scenario's own fault.
type person struct {
	testing.TB
	ts *testscript.TestScript
}

func (p person) Fatalf(format string, args ...any) { p.ts.Fatalf(format, args...) }
func (p person) Errorf(format string, args ...any) { p.ts.Fatalf(format, args...) }
func (p person) Skipf(format string, args ...any)  { p.ts.Fatalf(format, args...) }
func (p person) Cleanup(f func())                  { p.ts.Defer(f) }

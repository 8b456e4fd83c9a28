package exttest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// The test binary is also the extension of the process tests, where this
// variable names which.
const roleVar = "EXTTEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "good":
		if err := greeter().Run(); err != nil {
			os.Exit(1)
		}
	case "noisy":
		fmt.Println("Starting up...")
		greeter().Run()
	case "rude":
		fmt.Println(`{"type":"ready"}`)
		io.Copy(io.Discard, os.Stdin)
	case "dying":
		fmt.Fprintln(os.Stderr, "I have no config")
		os.Exit(3)
	}
}

func greeter() *ext.Extension {
	e := ext.New("greeter", "1.0.0")
	e.Command("hello", "say hi", func(args string) ext.Response { return ext.Prompt("Greet " + args + ".") })
	e.Tool("shout", "Shouts.", json.RawMessage(`{"type":"object"}`), func(args json.RawMessage) ext.ToolResult {
		return ext.TextResult(strings.ToUpper(string(args)))
	})
	e.OnPanelKey("p", func(key, text string) { e.RenderPanel("p", "", []string{"typed " + text}, "") }, nil)
	e.Command("panel", "", func(string) ext.Response { return ext.OpenPanel("p", "Title", []string{"-"}, "foot") })
	e.On("turn_end", func(ev ext.Event) { e.Notify("info", "turn ended: "+ev.Stop); e.Submit("go on") })
	e.InterceptBeforeAgentStart(func(ev ext.BeforeAgentStartEvent) *string { return new(ev.SystemPrompt + "!") })
	e.InterceptAssistantMessage(func(text string) ext.AssistantMessageDecision {
		return ext.AssistantMessageDecision{ReplaceText: "…"}
	})
	return e
}

// One test by which an author would check the extension; it is run on an
// extension in this process and on one in its own.
func TestHost(t *testing.T) {
	start := map[string]func(t *testing.T) *exttest.Host{
		"in process": func(t *testing.T) *exttest.Host { return exttest.Start(t, greeter()) },
		"as process": func(t *testing.T) *exttest.Host { return exttest.StartProcess(t, role("good"), exttest.Options{}) },
	}
	for name, start := range start {
		t.Run(name, func(t *testing.T) {
			zot := start(t)
			if got := zot.Command("hello", " Ada "); got.Action != "prompt" || got.Prompt != "Greet Ada." {
				t.Errorf("hello gave %+v", got)
			}
			if got := exttest.Text(zot.CallTool("shout", map[string]int{"a": 1})); got != `{"A":1}` {
				t.Errorf("shout gave %q", got)
			}
			if got := zot.BeforeAgentStart("Be kind"); got != "Be kind!" {
				t.Errorf("the prompt became %q", got)
			}
			if got := zot.InterceptAssistantMessage("hm"); got.ReplaceText != "…" {
				t.Errorf("the message became %+v", got)
			}
			zot.Event(extproto.Event{Event: "turn_end", Stop: "end_turn"})
			zot.WaitNote("turn ended: end_turn")
			zot.Command("panel", "")
			zot.Type("p", "x")
			if p := zot.WaitLine("p", "typed x"); p.Title != "Title" || p.Footer != "" {
				t.Errorf("the panel is %v", p)
			}
			zot.ClosePanel("p")
			if zot.Panel("p").Open {
				t.Error("the panel is still open")
			}
			zot.WaitSubmitted("go")
			if got := zot.Submitted(); len(got) != 1 || got[0] != "go on" {
				t.Errorf("submitted %q", got)
			}
			if len(zot.Tools()) != 1 || len(zot.Commands()) != 2 || zot.Observes("turn_start") || zot.Intercepts("tool_call") {
				t.Errorf("registered: %+v %+v", zot.Tools(), zot.Commands())
			}
		})
	}
}

func role(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// A mistake of the extension fails the author's test, and says enough.
func TestHostFailures(t *testing.T) {
	short := exttest.Options{Timeout: 3 * time.Second}
	for name, tt := range map[string]struct {
		test func(t testing.TB)
		want string
	}{
		"banner": {func(t testing.TB) { exttest.StartProcess(t, role("noisy"), exttest.Options{}) },
			`the extension wrote "Starting up..."`},
		"no hello": {func(t testing.TB) { exttest.StartProcess(t, role("rude"), short) },
			"the first frame of the extension is ready and not hello"},
		"early death": {func(t testing.TB) { exttest.StartProcess(t, role("dying"), exttest.Options{}) },
			"I have no config"},
		"no answer": {func(t testing.TB) {
			e := ext.New("x", "1")
			stop := make(chan struct{})
			t.Cleanup(func() { close(stop) })
			e.Command("hang", "", func(string) ext.Response { <-stop; return ext.Noop() })
			exttest.StartWith(t, e, short).Command("hang", "")
		}, "an answer to the command /hang: nothing in 3s"},
		"not subscribed": {func(t testing.TB) { exttest.Start(t, ext.New("x", "1")).InterceptTurnStart(1) },
			"does not intercept turn_start"},
		"unsent note": {func(t testing.TB) { exttest.StartWith(t, ext.New("x", "1"), short).WaitNote("never") },
			`a note with "never"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failures(t, tt.test); !strings.Contains(got, tt.want) {
				t.Errorf("the test failed with %q, want %q", got, tt.want)
			}
		})
	}
}

// recorder is a test whose failures are looked at.
type recorder struct {
	testing.TB
	said     chan string
	cleanups []func()
}

func (r *recorder) Helper()                           {}
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) { r.said <- fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }

// failures runs a test that is to fail, and returns what it said.
func failures(t *testing.T, test func(testing.TB)) string {
	r := &recorder{TB: t, said: make(chan string, 100)}
	done := make(chan struct{})
	go func() { // ends with the test that it runs
		defer close(done)
		test(r)
	}()
	<-done
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	close(r.said)
	var all []string
	for s := range r.said {
		all = append(all, s)
	}
	return strings.Join(all, "\n")
}

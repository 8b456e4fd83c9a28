package ext_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

const ack = `{"type":"hello_ack","protocol_version":1,"zot_version":"0","provider":"p","model":"m","cwd":"/c","extension_dir":"/e","data_dir":"/d"}`

// script runs e on the given lines and returns what it wrote.
func script(t *testing.T, e *ext.Extension, lines ...string) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	err = e.RunIO(context.Background(), strings.NewReader(strings.Join(lines, "\n")), &b)
	return b.String(), err
}

func quiet(name string) *ext.Extension {
	e := ext.New(name, "1.0.0")
	e.LogTo(io.Discard)
	return e
}

func TestHandshake(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lines   []string
		wantErr string
	}{
		{"ends before hello_ack", nil, "closed the connection before hello_ack"},
		{"another frame first", []string{`{"type":"tool_call","id":"1","name":"x","args":{}}`}, "the first frame from zot is tool_call"},
		{"noise and news before it", []string{"hm", `{"type":"aurora"}`, ack}, ""},
		{"shutdown before it", []string{`{"type":"shutdown"}`}, ""},
		{"marked and with carriage returns", []string{"\xef\xbb\xbf" + ack + "\r"}, ""},
		{"a line too long", []string{ack, strings.Repeat("x", extproto.MaxFrame+1)}, "frame too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := script(t, quiet("x"), tt.lines...)
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("Run returned %v, want %q", err, tt.wantErr)
			}
			if !strings.HasPrefix(out, `{"type":"hello","name":"x","version":"1.0.0"`) {
				t.Errorf("it began with %q", out)
			}
		})
	}
}

// Nothing goes out before hello_ack but hello, and what the author said early
// is not lost.
func TestEarlyFrames(t *testing.T) {
	e := quiet("x")
	e.Notify("info", "early")
	e.OnHello(func(host ext.HostInfo) {
		if host.CWD != "/c" || e.Host().CWD != "/c" {
			t.Errorf("OnHello got %+v, Host is %+v", host, e.Host())
		}
		e.Command("in-"+host.Model, "", func(string) ext.Response { return ext.Noop() })
		e.Notify("info", "hello")
	})
	out, err := script(t, e, ack)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"hello", "early", "hello", "in-m", "ready"}
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if i >= len(want) || !strings.Contains(line, want[i]) {
			t.Errorf("line %d is %s, want one with %v", i, line, want)
		}
	}
}

func TestRunsOnce(t *testing.T) {
	e := quiet("x")
	if _, err := script(t, e, ack); err != nil {
		t.Fatal(err)
	}
	if _, err := script(t, e, ack); err == nil {
		t.Error("a second run was allowed")
	}
	if _, err := e.CallTool(t.Context(), "read", nil); err == nil {
		t.Error("CallTool worked after the end")
	}
	if _, err := quiet("y").CallTool(t.Context(), "read", nil); err == nil {
		t.Error("CallTool worked before the run")
	}
}

func TestContextEndsRun(t *testing.T) {
	in, _ := io.Pipe() // says nothing, ever
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	e := quiet("x")
	cancel()
	if err := e.RunIO(ctx, in, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if e.Context().Err() == nil {
		t.Error("the extension's context goes on")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("pipe is broken") }

func TestWriteFailureEndsRun(t *testing.T) {
	err := quiet("x").RunIO(t.Context(), strings.NewReader(ack), brokenPipe{})
	if err == nil || !strings.Contains(err.Error(), "pipe is broken") {
		t.Errorf("Run returned %v", err)
	}
}

// A handler that waits does not hold up another, and neither do slow events.
func TestHandlersRunSideBySide(t *testing.T) {
	e := quiet("x")
	release := make(chan struct{})
	e.Tool("wait", "", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult {
		<-release
		return ext.TextResult("released")
	})
	e.Command("release", "", func(string) ext.Response {
		close(release)
		return ext.Noop()
	})
	e.On("turn_start", func(ext.Event) { <-release })
	zot := exttest.Start(t, e)
	call := zot.StartTool("wait", nil)
	zot.Event(extproto.Event{Event: "turn_start", Step: 1})
	zot.Command("RELEASE", "")
	if got := exttest.Text(call.Result()); got != "released" {
		t.Errorf("wait gave %q", got)
	}
}

// Keys that are typed fast arrive in order, though the handler is slow to draw.
func TestPanelKeysInOrder(t *testing.T) {
	e := quiet("x")
	var typed strings.Builder
	e.OnPanelKey("p", func(key, text string) { typed.WriteString(text) }, func() { e.Notify("info", typed.String()) })
	zot := exttest.Start(t, e)
	want := strings.Repeat("the quick brown fox ", 50)
	zot.Type("p", want)
	zot.ClosePanel("p")
	if got := zot.WaitNote("fox").Message; got != want {
		t.Errorf("typed %q", got)
	}
}

func TestEventsInOrder(t *testing.T) {
	e := quiet("x")
	var steps []int
	e.On("turn_start", func(ev ext.Event) { steps = append(steps, ev.Step) })
	e.On("turn_end", func(ext.Event) { e.Notify("info", fmt.Sprint("seen ", len(steps))) })
	zot := exttest.Start(t, e)
	for i := range 500 {
		zot.Event(extproto.Event{Event: "turn_start", Step: i + 1})
	}
	zot.Event(extproto.Event{Event: "turn_end"})
	zot.WaitNote("seen 500")
	for i, step := range steps {
		if step != i+1 {
			t.Fatalf("event %d was step %d", i, step)
		}
	}
}

// A handler that never catches up costs events and not memory.
func TestEventsFarBehindAreDropped(t *testing.T) {
	e := quiet("x")
	release := make(chan struct{})
	var mu sync.Mutex
	seen := 0
	e.On("turn_start", func(ext.Event) {
		<-release
		mu.Lock()
		seen++
		mu.Unlock()
	})
	e.Command("sync", "", func(string) ext.Response { return ext.Noop() })
	zot := exttest.Start(t, e)
	for range 5000 {
		zot.Event(extproto.Event{Event: "turn_start"})
	}
	zot.Command("sync", "")
	close(release)
	if err := zot.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(zot.Log(), "events behind"); n != 1 {
		t.Errorf("the loss was logged %d times", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if seen < 4096 || seen >= 5000 {
		t.Errorf("%d of 5000 events were handled", seen)
	}
}

// Frames written at the same time stay whole.
func TestWritesAreWhole(t *testing.T) {
	e := quiet("x")
	e.Command("shout", "", func(args string) ext.Response {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() { e.Notify("info", strings.Repeat(fmt.Sprint(i%10), 20000)) })
		}
		wg.Wait()
		return ext.Noop()
	})
	zot := exttest.Start(t, e)
	zot.Command("shout", "")
	notes := zot.Notes()
	for _, n := range notes {
		if len(n.Message) != 20000 || strings.Trim(n.Message, n.Message[:1]) != "" {
			t.Errorf("a note came mixed: %.30q", n.Message)
		}
	}
	if len(notes) != 40 {
		t.Errorf("%d notes came", len(notes))
	}
}

// Ten thousand calls, a hundred at a time, each get their own answer.
func TestManyCalls(t *testing.T) {
	e := quiet("x")
	e.Tool("echo", "", json.RawMessage(anyObject), func(args json.RawMessage) ext.ToolResult { return ext.TextResult(string(args)) })
	zot := exttest.Start(t, e)
	for batch := range 100 {
		var calls []*exttest.Call
		for i := range 100 {
			calls = append(calls, zot.StartTool("echo", fmt.Sprintf(`{"n":%d}`, batch*100+i)))
		}
		for i, call := range slices.Backward(calls) {
			want := fmt.Sprintf(`{"n":%d}`, batch*100+i)
			if got := exttest.Text(call.Result()); got != want {
				t.Fatalf("asked %s, got %s", want, got)
			}
		}
	}
}

// Calls and questions are answered side by side, too: one that waits for
// another, and one whose goroutine is ended, hold up nobody.
func TestCallsRunSideBySide(t *testing.T) {
	e := quiet("x")
	release := make(chan struct{})
	e.Tool("wait", "", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult {
		<-release
		return ext.TextResult("released")
	})
	e.Tool("leave", "", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult {
		runtime.Goexit()
		return ext.ToolResult{}
	})
	e.Tool("release", "", json.RawMessage(anyObject), func(json.RawMessage) ext.ToolResult {
		close(release)
		return ext.TextResult("done")
	})
	zot := exttest.Start(t, e)
	calls := []*exttest.Call{zot.StartTool("wait", nil), zot.StartTool("wait", nil)}
	zot.StartTool("leave", nil)
	if got := exttest.Text(zot.StartTool("release", nil).Result()); got != "done" {
		t.Errorf("release gave %q", got)
	}
	for _, call := range calls {
		if got := exttest.Text(call.Result()); got != "released" {
			t.Errorf("wait gave %q", got)
		}
	}
}

package extension_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/tool"
)

// patience bounds a wait in real time that is expected to be short.
const patience = 3 * time.Minute

// started starts processes and waits until they are ready.
func started(t *testing.T, opts extension.Options, entries ...extension.Entry) *rig {
	t.Helper()
	for _, bound := range []*time.Duration{
		&opts.Timeouts.Hello, &opts.Timeouts.Ready, &opts.Timeouts.AutoReady, &opts.Timeouts.Tool, &opts.Timeouts.Command,
		&opts.Timeouts.Intercept, &opts.Timeouts.Write,
	} {
		*bound = cmp.Or(*bound, patience) // on a busy machine a process is slow
	}
	r := newRig(t, opts, entries...)
	r.settle()
	for _, s := range r.Status() {
		if s.State != extension.StateReady {
			t.Fatalf("%s is %s: %s", s.Name, s.State, s.Error)
		}
	}
	return r
}

func (r *rig) settle() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if late := r.WaitReady(ctx); late != nil {
		r.t.Fatalf("not ready: %v", late)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("it did not come to this: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// quick fails where something took long that has to come at once.
func quick(t testing.TB, what string, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > time.Minute {
		t.Errorf("%s took %s", what, took)
	}
}

// Ten thousand calls, a hundred at a time, answered in random order: each gets
// its own answer.
func TestTenThousandCalls(t *testing.T) {
	r := started(t, extension.Options{}, process(t, "shuffle", "shuffle"))
	echo := r.tool("echo")
	var answered atomic.Int64
	var wg sync.WaitGroup
	for worker := range 100 {
		wg.Go(func() {
			for n := range 100 {
				args := fmt.Sprintf(`{"worker":%d,"n":%d}`, worker, n)
				res, err := echo.Run(t.Context(), tool.Call{Args: json.RawMessage(args)})
				if err != nil || res.IsError || text(res) != args {
					t.Errorf("%s got %q, %v", args, text(res), err)
					return
				}
				answered.Add(1)
			}
		})
	}
	wg.Wait()
	if n := answered.Load(); n != 10_000 {
		t.Errorf("%d calls were answered, want 10000", n)
	}
	if log := r.log("shuffle"); strings.Contains(log, "ignored") {
		t.Errorf("something was lost:\n%.500s", log)
	}
}

// A flood of a hundred thousand notes while a call is in flight: all of them
// come, the call is answered after them, and another extension works meanwhile.
func TestFlood(t *testing.T) {
	const notes = 100_000
	r := started(t, extension.Options{},
		scripted(t, "flood", fmt.Sprintf(`
			send {"type":"hello","name":"flood"}
			send {"type":"register_tool","name":"pour","schema":{"type":"object"}}
			send {"type":"ready"}
			on tool_call
			  repeat %d {"type":"notify","message":"drop"}
			  send {"type":"tool_result","id":"$id","content":[{"type":"text","text":"poured"}]}`, notes)),
		process(t, "shuffle", "shuffle"))
	pour, echo := r.tool("pour"), r.tool("echo")
	over := make(chan string, 1)
	go func() { // ends with the flood
		res, err := pour.Run(t.Context(), tool.Call{})
		over <- fmt.Sprint(text(res), " ", err)
	}()
	eventually(t, "the flood has begun", func() bool { return len(emitted[event.ExtNotify](r)) > 0 })
	beside := 0
	for got := ""; got == ""; {
		res, err := echo.Run(t.Context(), tool.Call{Args: json.RawMessage(`{}`)})
		if err != nil || res.IsError {
			t.Fatalf("beside the flood: %+v, %v", res, err)
		}
		beside++
		select {
		case got = <-over:
			if got != "poured <nil>" {
				t.Errorf("the call came to %s", got)
			}
		default:
		}
	}
	if n := len(emitted[event.ExtNotify](r)); n != notes {
		t.Errorf("%d notes came, want %d", n, notes)
	}
	if beside < 2 {
		t.Errorf("%d calls were answered beside the flood", beside)
	}
}

// A line of five mebibytes fails the call that it answers at once, naming size
// and limit, and ends that extension.
func TestFiveMebibyteLine(t *testing.T) {
	r := started(t, extension.Options{}, scripted(t, "big", `
		send {"type":"hello","name":"big"}
		send {"type":"register_tool","name":"fill","schema":{"type":"object"}}
		send {"type":"ready"}
		on tool_call
		  fill 5242880
		  deaf`), process(t, "shuffle", "shuffle"))
	start := time.Now()
	res, err := r.tool("fill").Run(t.Context(), tool.Call{})
	if err != nil || !res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	quick(t, "the call", start)
	wantContains(t, text(res), "is over the limit of 4194304 bytes", "disconnected")
	r.wantState("big", extension.StateFailed)
	if res, err := r.tool("echo").Run(t.Context(), tool.Call{}); err != nil || res.IsError {
		t.Errorf("the other extension: %+v, %v", res, err)
	}
}

// Half a line and no more runs into the deadline of the call, which harms
// nobody else; the end takes no longer than its grace.
func TestHalfALineAndAStall(t *testing.T) {
	r := started(t, extension.Options{Timeouts: extension.Timeouts{Tool: 3 * time.Second, Exit: 200 * time.Millisecond, Term: 200 * time.Millisecond}},
		scripted(t, "stall", `
		send {"type":"hello","name":"stall"}
		send {"type":"register_tool","name":"half","schema":{"type":"object"}}
		send {"type":"ready"}
		on tool_call
		  part {"type":"tool_result","id":"
		  deaf`), process(t, "shuffle", "shuffle"))
	for range 2 {
		res, err := r.tool("half").Run(t.Context(), tool.Call{})
		if err != nil || res.Status != tool.TimedOut {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if res, err := r.tool("echo").Run(t.Context(), tool.Call{}); err != nil || res.IsError {
		t.Errorf("the other extension: %+v, %v", res, err)
	}
	start := time.Now()
	r.Stop(context.Background())
	quick(t, "the end", start)
}

// One that never reads while twenty mebibytes of events are due is
// disconnected visibly; telling never waits, and who reads gets all.
func TestTwentyMebibytesUnread(t *testing.T) {
	const size, n = 1 << 20, 20
	// A write that is late would have it disconnected too, on a slow machine.
	opts := extension.Options{Timeouts: extension.Timeouts{Write: patience}}
	r := started(t, opts, scripted(t, "deaf", `
		send {"type":"hello","name":"deaf"}
		send {"type":"subscribe","events":["assistant_message"]}
		send {"type":"ready"}
		await hello_ack
		deaf`), process(t, "count", "count"))
	big := strings.Repeat("x", size)
	var telling time.Duration
	for i := range n {
		start := time.Now()
		r.Observe(event.AssistantMessage{Visible: big})
		telling += time.Since(start)
		res, err := r.tool("echo").Run(t.Context(), tool.Call{})
		if want := fmt.Sprint((i + 1) * size); err != nil || text(res) != want {
			t.Fatalf("event %d: the reader has %q bytes, want %s; %v", i, text(res), want, err)
		}
	}
	if telling > patience/2 {
		t.Errorf("telling took %s", telling)
	}
	eventually(t, "the deaf one is disconnected", func() bool { return len(emitted[event.ExtFailed](r)) > 0 })
	failed := emitted[event.ExtFailed](r)
	if len(failed) != 1 || failed[0].Extension != "deaf" || !strings.Contains(failed[0].Message, "its queue is full") {
		t.Errorf("failures %+v", failed)
	}
	r.wantState("count", extension.StateReady)
}

// An extension may be killed at any point of the handshake: the start is over
// at once, and the reason is the signal.
func TestKilledInTheHandshake(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no signal to tell")
	}
	script := []string{
		`part {"type":"hello",`, `raw "name":"ext"}`, `await hello_ack`,
		`part {"type":"register_tool",`, `raw "name":"echo","schema":{"type":"object"}}`,
		`send {"type":"subscribe","events":["turn_end"],"intercept":["tool_call"]}`, `part {"type":"read`, `raw y"}`,
	}
	for at := range len(script) + 1 {
		t.Run(fmt.Sprint("after step ", at), func(t *testing.T) {
			start := time.Now()
			r := newRig(t, extension.Options{}, scripted(t, "ext", strings.Join(script[:at], "\n")+"\nexit 137"))
			r.settle()
			eventually(t, "it is down", func() bool { return r.status("ext").State == extension.StateFailed })
			quick(t, "finding out", start)
			wantContains(t, r.status("ext").Error, "signal: killed")
			if n := len(emitted[event.ExtFailed](r)); n != 1 {
				t.Errorf("%d failures were told, want 1", n)
			}
			if r.toolNames() != "" {
				t.Errorf("it still has tools: %s", r.toolNames())
			}
		})
	}
}

// An extension may be killed at any point of a request, too: who waits is told
// at once, and what was answered before counts.
func TestKilledInARequest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no signal to tell")
	}
	requests := map[string]struct {
		answer string
		ask    func(r *rig) (outcome string)
	}{
		"tool_call": {`{"type":"tool_result","id":"$id","content":[{"type":"text","text":"ok"}]}`, func(r *rig) string {
			res, err := r.tool("echo").Run(r.t.Context(), tool.Call{})
			return fmt.Sprint(text(res), err)
		}},
		"command_invoked": {`{"type":"command_response","id":"$id","action":"display","display":"ok"}`, func(r *rig) string {
			_, resp, err := r.RunCommand(r.t.Context(), "go", "")
			return fmt.Sprint(resp.Display, err)
		}},
		"event_intercept": {`{"type":"event_intercept_response","id":"$id","block":true,"reason":"ok"}`, func(r *rig) string {
			v, err := r.InterceptToolCall(r.t.Context(), extension.ToolQuestion{})
			return fmt.Sprint(v.Reason, err, r.notes("ext"))
		}},
	}
	for typ, request := range requests {
		half := len(request.answer) / 2
		for at, steps := range []string{
			"",
			`send {"type":"notify","message":"working"}`,
			"part " + strings.ReplaceAll(request.answer[:half], `"`, `\"`),
			"send " + request.answer,
		} {
			t.Run(fmt.Sprint(typ, " at point ", at), func(t *testing.T) {
				r := started(t, extension.Options{}, scripted(t, "ext", strings.Join([]string{
					`send {"type":"hello","name":"ext"}`, "send " + toolEcho, "send " + commandGo, "send " + askedTool,
					`send {"type":"ready"}`, "on " + typ, steps, "exit 137"}, "\n")))
				start := time.Now()
				got := request.ask(r)
				quick(t, "the request", start)
				if want := "signal: killed"; at < 3 {
					wantContains(t, got, want)
				} else if !strings.HasPrefix(got, "ok<nil>") {
					t.Errorf("got %q, want the answer that came before the end", got)
				}
				eventually(t, "it is down", func() bool { return r.status("ext").State == extension.StateFailed })
			})
		}
	}
}

// Two hundred reloads leave nothing behind: no process, no descriptor, no
// goroutine.
func TestTwoHundredReloads(t *testing.T) {
	r := started(t, extension.Options{}, process(t, "shuffle", "shuffle"))
	reload := func() {
		got, err := r.Reload(t.Context(), "")
		if err != nil || got.Stopped != 1 || got.Ready != 1 || len(got.Errors) > 0 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	reload() // what is made once and kept is no leak
	goroutines, files, processes := runtime.NumGoroutine(), openFiles(), children(t)
	for range 200 {
		reload()
	}
	if res, err := r.tool("echo").Run(t.Context(), tool.Call{Args: json.RawMessage(`{"a":1}`)}); err != nil || text(res) != `{"a":1}` {
		t.Errorf("%+v, %v", res, err)
	}
	eventually(t, fmt.Sprintf("%d goroutines as before", goroutines), func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, fmt.Sprintf("%d open files as before", files), func() bool { return openFiles() <= files })
	eventually(t, fmt.Sprintf("%d processes as before", processes), func() bool { return children(t) <= processes })
}

// openFiles counts the descriptors of this process, where that can be done.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

// children counts the processes that this one started, where that can be done.
func children(t *testing.T) int {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	n := 0
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err == nil {
			n += len(strings.Fields(string(data)))
		}
	}
	return n
}

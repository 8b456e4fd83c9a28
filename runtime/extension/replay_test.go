package extension_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/packages/agent/extproto/extprototest"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
	"github.com/patriceckhart/zot/transports"
	"github.com/patriceckhart/zot/transports/memory"
)

// TestGoldenConversations plays the extension's part of every golden
// conversation: the manager must say what its file has zot say, to the letter,
// and make of the answers what the file says.
func TestGoldenConversations(t *testing.T) {
	for _, c := range extprototest.Load(t, "../../packages/agent/extproto/testdata/frames") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newReplay(t, c).run() })
		})
	}
}

// A replay is a conversation with a manager.
type replay struct {
	t     *testing.T
	steps []extprototest.Step
	step  extprototest.Step // the one at work
	name  string
	m     *extension.Manager

	launched chan memory.Stdio // one for each start of the extension
	stdio    memory.Stdio
	leave    chan struct{} // closed when the extension is to end
	fromHost chan []byte   // its lines, as they come

	ids      map[string]string // of requests: the file's to the host's
	done     map[string]*outcome
	cancels  map[string]context.CancelFunc
	results  chan tool.Result       // what call_tool will give
	answers  chan extproto.Response // what request will give
	opened   bool                   // a session is open
	sequence uint64                 // of the last event
	excused  bool                   // since the last request something was wrong or late

	mu     sync.Mutex
	events []event.Event
}

// An outcome is what a request came to, in the words of the files.
type outcome struct {
	over   bool
	result string
	value  any
}

func newReplay(t *testing.T, c extprototest.Conversation) *replay {
	r := &replay{
		t: t, steps: c.Steps, name: "ext",
		launched: make(chan memory.Stdio, 1),
		ids:      map[string]string{}, done: map[string]*outcome{}, cancels: map[string]context.CancelFunc{},
		results: make(chan tool.Result, 1), answers: make(chan extproto.Response, 1),
	}
	ack, hasAck := find[extproto.HelloAck](c.Steps, "hello_ack", extproto.DecodeFromHost)
	if hello, ok := find[extproto.Hello](c.Steps, "hello", extproto.DecodeFromExtension); ok && hello.Name != "" {
		r.name = hello.Name
	}
	entry := extension.Entry{Name: r.name, Exec: "./ext", Dir: ack.ExtensionDir, DataDir: ack.DataDir, Launch: r.launch}
	opts := extension.Options{
		Plan:        func() extension.Plan { return extension.Plan{Entries: []extension.Entry{entry}} },
		Emit:        r.emitted,
		Interactive: true,
		Host: func() extension.HostInfo {
			return extension.HostInfo{ZotVersion: ack.ZotVersion, Provider: ack.Provider, Model: ack.Model, CWD: ack.CWD}
		},
	}
	if slices.Contains(ack.Capabilities, extproto.CapCallTool) {
		opts.CallTool = r.callTool
	}
	if slices.Contains(ack.Capabilities, extproto.CapRequest) {
		opts.Request = r.request
	}
	if !hasAck && len(c.Steps) > 2 {
		t.Fatal("the conversation has no hello_ack")
	}
	r.m = extension.New(opts)
	return r
}

// find decodes the first frame of a type.
func find[F extproto.Frame](steps []extprototest.Step, typ string, decode func([]byte) (extproto.Frame, error)) (F, bool) {
	var zero F
	for _, s := range steps {
		if s.Frame == nil || s.Type() != typ {
			continue
		}
		if f, err := decode(s.Frame); err == nil {
			return f.(F), true
		}
	}
	return zero, false
}

func (r *replay) emitted(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// warnings counts the notes that the host made on the extension's account.
func (r *replay) warnings() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if note, ok := e.(event.ExtNotify); ok && note.Level == "warn" {
			n++
		}
	}
	return n
}

// launch starts the extension: a function that hands its streams to the test
// and leaves when it is told to.
func (r *replay) launch(_ context.Context, stderr io.Writer) (transports.Conn, error) {
	leave := make(chan struct{})
	r.leave = leave
	return memory.New(func(ctx context.Context, s memory.Stdio) error {
		r.launched <- s
		select {
		case <-leave:
		case <-ctx.Done():
		}
		return nil
	}, memory.Options{Stderr: stderr}), nil
}

func (r *replay) callTool(ctx context.Context, _ tool.Call) (tool.Result, error) {
	select {
	case result := <-r.results:
		return result, nil
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
}

func (r *replay) request(ctx context.Context, _, _ string, _ json.RawMessage) (json.RawMessage, error) {
	select {
	case a := <-r.answers:
		if a.Error != nil {
			return nil, &extension.RequestError{Code: a.Error.Code, Message: a.Error.Message}
		}
		return a.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *replay) run() {
	defer r.m.Stop(r.t.Context())
	r.m.Start()
	r.connect()
	for _, r.step = range r.steps {
		switch s := r.step; {
		case s.NewConnection:
			r.end()
			r.connect()
		case s.Pause > 0:
			r.excused = true
			time.Sleep(s.Pause)
		case s.Outcome != nil:
			r.checkOutcome(*s.Outcome)
		case s.FromHost():
			r.hear(s)
		default:
			r.say(s)
		}
		synctest.Wait()
	}
	r.end()
	select {
	case line := <-r.fromHost:
		r.t.Errorf("after the end of the conversation zot said %s", line)
	default:
	}
}

// connect takes over the streams of an extension that was started, and
// collects what it is told.
func (r *replay) connect() {
	r.stdio = <-r.launched
	lines := make(chan []byte, 1000)
	r.fromHost = lines
	in := extproto.NewReader(r.stdio.In)
	go func() { // ends with the connection
		for {
			line, err := in.Next()
			if err != nil {
				return
			}
			lines <- bytes.Clone(line)
		}
	}()
	synctest.Wait()
}

// end has the extension leave; what ended it goes on then.
func (r *replay) end() {
	close(r.leave)
	synctest.Wait()
}

func (r *replay) fatalf(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("line %d: %s", r.step.Line, fmt.Sprintf(format, args...))
}

var requestID = regexp.MustCompile(`"((?:parent_)?id)":"([^"]*)"`)

// say writes what the extension says, under the ids that the host gave.
func (r *replay) say(s extprototest.Step) {
	var line string
	switch {
	case s.Raw != nil:
		line = *s.Raw
		r.excused = r.excused || s.Frame == nil
	default:
		line = compact(r.t, s.Frame)
		r.excused = r.excused || s.Invalid != ""
	}
	line = requestID.ReplaceAllStringFunc(line, func(field string) string {
		m := requestID.FindStringSubmatch(field)
		switch id := r.ids[m[2]]; {
		case id != "":
			return fmt.Sprintf("%q:%q", m[1], id)
		case s.Type() == "tool_result": // the host's ids are numbers, too
			return `"id":"stray"`
		}
		return field // the extension's own, or a panel's
	})
	if _, err := io.WriteString(r.stdio.Out, line+"\n"); err != nil {
		r.fatalf("the extension could not write %s: %v", line, err)
	}
}

// hear brings the host to send a frame, and compares.
func (r *replay) hear(s extprototest.Step) {
	frame, err := extproto.DecodeFromHost(s.Frame)
	if err != nil {
		return // of an unknown type: a newer host's
	}
	if e, ok := frame.(extproto.Event); ok && !slices.Contains(extproto.ObservableEvents, e.Event) {
		return // likewise
	}
	if s.Extra {
		if s.Frame, err = extproto.Encode(frame); err != nil {
			r.fatalf("%v", err)
		}
	}
	r.bring(frame)
	synctest.Wait()
	select {
	case line := <-r.fromHost:
		r.compare(s.Frame, line)
	default:
		r.fatalf("zot said nothing where it had to say %s\nstatus: %+v", s.Frame, r.m.Status())
	}
}

// compare compares a frame with the file's. Ids and the number of an event are
// the host's own.
func (r *replay) compare(want json.RawMessage, got []byte) {
	w, g := object(r.t, want), object(r.t, got)
	if id, ok := w["id"].(string); ok {
		switch {
		case r.ids[id] != "":
			w["id"] = r.ids[id] // it speaks of an earlier request
		case w["type"] == "tool_result" || w["type"] == "response":
		default:
			r.ids[id], _ = g["id"].(string)
			w["id"] = g["id"]
			if r.ids[id] == "" {
				r.fatalf("the request has no id: %s", got)
			}
		}
	}
	if w["type"] == "event" {
		n := uint64(g["sequence"].(float64))
		if n <= r.sequence {
			r.fatalf("event number %d came after %d", n, r.sequence)
		}
		r.sequence = n
		for _, key := range []string{"sequence", "session_id", "cwd"} {
			if _, has := w[key]; !has || key == "sequence" {
				delete(w, key)
				delete(g, key)
			}
		}
	}
	if diff := cmp.Diff(w, g); diff != "" {
		r.fatalf("zot said something else (-file +zot):\n%s", diff)
	}
}

// bring has the host do what makes it send a frame.
func (r *replay) bring(frame extproto.Frame) {
	switch f := frame.(type) {
	case extproto.HelloAck: // its own doing
	case extproto.CommandInvoked:
		r.ask(f.ID, func(ctx context.Context) (string, any) {
			_, resp, err := r.m.RunCommand(ctx, f.Name, f.Args)
			return commandOutcome(resp, err)
		})
	case extproto.ToolCall:
		t := r.tool(f.Name)
		r.ask(f.ID, func(ctx context.Context) (string, any) {
			return toolOutcome(t.Run(ctx, tool.Call{ID: "t", Name: f.Name, Args: f.Args}))
		})
	case extproto.ToolCancel:
		if !r.excused { // else the deadline does it
			r.cancels[f.ID]()
		}
	case extproto.ToolResult:
		r.results <- resultOf(f)
	case extproto.Response:
		r.answers <- f
	case extproto.Event:
		r.tell(f)
	case extproto.EventIntercept:
		r.intercept(f)
	case extproto.PanelKey:
		r.m.PanelKey(r.name, f.PanelID, f.Key, f.Text)
	case extproto.PanelResize:
		r.m.PanelResize(r.name, f.PanelID, f.Width, f.Height)
	case extproto.PanelClose:
		r.m.PanelClosed(r.name, f.PanelID)
	case extproto.Shutdown:
		r.shutdown()
	default:
		r.fatalf("no way to bring the host to send %T", frame)
	}
}

// shutdown stops the extension: by a reload where the file goes on after it.
func (r *replay) shutdown() {
	again := slices.ContainsFunc(r.steps, func(s extprototest.Step) bool {
		return s.NewConnection && s.Line > r.step.Line
	})
	go func() { // ends when the extension has left, and is ready again on reload
		if again {
			_, _ = r.m.Reload(r.t.Context(), "")
		} else {
			r.m.Stop(r.t.Context())
		}
	}()
}

func (r *replay) tool(name string) tool.Tool {
	for _, t := range r.m.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	r.fatalf("zot knows no tool %q", name)
	return nil
}

// ask runs a request beside the conversation.
func (r *replay) ask(id string, f func(ctx context.Context) (string, any)) {
	ctx, cancel := context.WithCancel(r.t.Context())
	o := &outcome{}
	r.cancels[id], r.done[id], r.excused = cancel, o, false
	go func() {
		result, value := f(ctx)
		o.over, o.result, o.value = true, result, value
	}()
}

func (r *replay) intercept(f extproto.EventIntercept) {
	r.ask(f.ID, func(ctx context.Context) (string, any) {
		switch f.Event {
		case extproto.EventToolCall:
			v, err := r.m.InterceptToolCall(ctx, extension.ToolQuestion{
				ToolID: f.ToolID, ToolName: f.ToolName, Args: f.ToolArgs, Origin: f.OriginExtension,
			})
			return verdictOutcome(v, err, len(v.Changes) > 0, jsonValue(v.Args))
		case extproto.EventTurnStart:
			v, err := r.m.InterceptTurnStart(ctx, f.Step)
			return verdictOutcome(v, err, false, nil)
		case extproto.EventAssistantMessage:
			v, err := r.m.InterceptAssistantMessage(ctx, f.Text)
			return verdictOutcome(v, err, len(v.Changes) > 0, v.Text)
		}
		before := r.warnings()
		prompt, err := r.m.BeforeAgentStart(ctx, extension.AgentStart{
			SessionID: f.SessionID, RunID: f.AgentRunID, CWD: f.CWD, Provider: f.Provider, Model: f.Model,
		}, *f.SystemPrompt)
		switch {
		case err != nil:
			return "cancelled", nil
		case r.warnings() > before && prompt == *f.SystemPrompt:
			return "failed", nil
		case prompt == *f.SystemPrompt:
			return "allowed", prompt // replaced by the same, perhaps
		}
		return "rewritten", prompt
	})
}

// tell emits an event, within a session.
func (r *replay) tell(f extproto.Event) {
	if !r.opened {
		r.opened = true
		r.m.OpenSession("session-123", "/proj")
	}
	switch f.Event {
	case extproto.EventSessionStart:
	case extproto.EventSessionEnd:
		r.m.CloseSession(f.Reason)
	case extproto.EventUserPromptSubmit:
		r.m.UserPromptSubmitted(f.Text, *f.Queued, f.ImageCount)
	default:
		r.m.Observe(reported(r.t, f))
	}
}

// reported is what a run reports when it makes zot send an event.
func reported(t *testing.T, f extproto.Event) event.Event {
	args := f.ToolArgs
	if f.ToolArgsRaw != "" {
		args = json.RawMessage(f.ToolArgsRaw)
	}
	switch f.Event {
	case extproto.EventTurnStart:
		return event.TurnStart{Step: f.Step}
	case extproto.EventTurnEnd:
		return event.TurnEnd{Stop: f.Stop, Error: f.Error}
	case extproto.EventAssistantMessage:
		return event.AssistantMessage{Visible: f.Text}
	case extproto.EventToolCall:
		return event.ToolCall{ID: f.ToolID, Name: f.ToolName, Args: args, Origin: f.OriginExtension}
	case extproto.EventToolConfirmation:
		return event.ConfirmationRequested{ToolID: f.ToolID, ToolName: f.ToolName, Preview: f.ToolPreview}
	case extproto.EventPermissionDecision:
		return event.PermissionDecision{ToolID: f.ToolID, ToolName: f.ToolName, Decision: f.Decision,
			Source: f.Source, Stage: f.Stage, Reason: f.Reason}
	case extproto.EventToolResult:
		e := event.ToolResult{ID: f.ToolID, Name: f.ToolName, Args: args, Status: f.Status,
			Executed: *f.Executed, Origin: f.OriginExtension}
		if f.Result != nil {
			e.Content, e.IsError = blocks(f.Result.Content), f.Result.IsError
		}
		return e
	case extproto.EventPreCompact:
		return event.CompactStart{ID: f.CompactionID, MessageCount: f.MessageCount, Tokens: f.TokenEstimate}
	case extproto.EventPostCompact:
		return event.CompactDone{ID: f.CompactionID, MessageCount: f.MessageCount, Tokens: f.TokenEstimate, Error: f.Error}
	case extproto.EventModelChanged:
		return event.ModelChanged{Provider: f.Provider, Model: f.Model}
	}
	t.Fatalf("nothing reports %s", f.Event)
	return nil
}

// resultOf is a tool's result that zot sends as f. What f says was cut is a
// picture too large for it.
func resultOf(f extproto.ToolResult) tool.Result {
	r := tool.Result{Content: blocks(f.Content), IsError: f.IsError, Structured: f.StructuredContent}
	if f.Truncated {
		r.Content = append(r.Content, message.Image{MIMEType: "image/png", Data: make([]byte, extproto.MaxCallToolResult)})
	}
	return r
}

func blocks(wire []extproto.Block) (all []message.Block) {
	for _, b := range wire {
		all = append(all, message.Text{Text: b.Text, Format: b.Format})
	}
	return all
}

func commandOutcome(resp extproto.CommandResponse, err error) (string, any) {
	switch {
	case err != nil:
		return "error", err.Error()
	case resp.Error != "":
		return "error", resp.Error
	}
	switch resp.Action {
	case extproto.ActionPrompt:
		return "prompt", resp.Prompt
	case extproto.ActionInsert:
		return "insert", resp.Insert
	case extproto.ActionDisplay:
		return "display", resp.Display
	case extproto.ActionOpenPanel:
		return "open_panel", resp.OpenPanel.ID
	case extproto.ActionToolPrompt:
		return "tool_prompt", resp.Prompt
	}
	return "none", nil
}

func toolOutcome(r tool.Result, err error) (string, any) {
	var text []string
	for _, b := range r.Content {
		if b, ok := b.(message.Text); ok {
			text = append(text, b.Text)
		}
	}
	value := strings.Join(text, "\n")
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled", nil
	case err != nil:
		return "broken", err.Error()
	case r.IsError:
		return "error", value
	}
	return "result", value
}

func verdictOutcome(v extension.Verdict, err error, changed bool, value any) (string, any) {
	switch {
	case err != nil:
		return "cancelled", nil
	case v.Blocked:
		return "blocked", v.Reason
	case changed:
		return "rewritten", value
	}
	return "allowed", nil
}

// checkOutcome compares what a request came to. Where something was wrong or
// late there is a warning, and only there.
func (r *replay) checkOutcome(want extprototest.Outcome) {
	synctest.Wait()
	if want.ID == "" {
		if s := r.m.Status()[0]; s.State != extension.StateFailed || s.Error == "" {
			r.fatalf("the extension is %q (%s), want it to have failed", s.State, s.Error)
		}
		return
	}
	got := r.done[want.ID]
	if got != nil && want.Result == "rewritten" && got.result == "allowed" && cmp.Equal(jsonValue(want.Value), got.value) {
		return
	}
	switch {
	case got == nil:
		r.fatalf("there was no request %s", want.ID)
	case !got.over:
		r.fatalf("the request is still waiting; want %s", want.Result)
	case got.result != want.Result:
		r.fatalf("it came to %s (%v), want %s", got.result, got.value, want.Result)
	case want.Value != nil && !cmp.Equal(jsonValue(want.Value), got.value):
		r.fatalf("it came to %q, want %s", got.value, want.Value)
	}
	if warned := r.warnings() > 0; want.Result == "allowed" && warned != r.excused {
		r.fatalf("warned: %v; something was wrong: %v", warned, r.excused)
	}
}

func jsonValue(data json.RawMessage) (v any) {
	_ = json.Unmarshal(data, &v)
	return v
}

func object(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return v
}

func compact(t *testing.T, frame json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, frame); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

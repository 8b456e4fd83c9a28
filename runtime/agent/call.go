package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// announce reports that a call begins, with the arguments as they were made.
func (a *Agent) announce(c tool.Call, raw string) {
	e := event.ToolCall{ID: c.ID, Name: c.Name, Args: c.Args, ArgsRaw: raw, Parent: c.Parent, Origin: c.Origin}
	if t, ok := a.opts.Tools.Lookup(c.Name); ok {
		e.Extension = t.Spec().Extension
	}
	a.opts.Emit(e)
}

// runCalls runs the calls of one reply and adds their results, in the order of
// the calls. Calls that touch the same thing run one after the other; all
// others side by side. When ctx ends, calls that did not finish get a result
// that says so, and ctx's error is returned.
func (a *Agent) runCalls(ctx context.Context, calls []message.ToolCall) error {
	results := make([]message.ToolResult, len(calls))
	finished := make([]chan struct{}, len(calls))
	touches := make([][]tool.Access, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		finished[i] = make(chan struct{})
		touches[i] = a.accesses(c)
		var before []chan struct{}
		for j := range i {
			if conflict(touches[j], touches[i]) {
				before = append(before, finished[j])
			}
		}
		wg.Go(func() { // ends with the call: every tool obeys ctx
			defer close(finished[i])
			for _, done := range before {
				<-done
			}
			results[i] = a.runCall(ctx, c)
		})
	}
	wg.Wait()
	a.finishCalls(results)
	return ctx.Err()
}

// accesses asks the tool what a call touches.
func (a *Agent) accesses(c message.ToolCall) []tool.Access {
	if t, ok := a.opts.Tools.Lookup(c.Name); ok {
		if acc, ok := t.(tool.Accessor); ok {
			return acc.Accesses(c.Args)
		}
	}
	return nil
}

// conflict reports whether two calls must keep their order.
func conflict(a, b []tool.Access) bool {
	for _, x := range a {
		for _, y := range b {
			if (x.Write || y.Write) && (x.Key == y.Key || x.Key == "*" || y.Key == "*") {
				return true
			}
		}
	}
	return false
}

// finishCalls adds the results of a reply as one message.
func (a *Agent) finishCalls(results []message.ToolResult) {
	m := message.Message{Role: message.Tool, Time: time.Now()}
	a.mu.Lock()
	for _, r := range results {
		m.Content = append(m.Content, r)
		a.activate(r.Activated)
	}
	a.mu.Unlock()
	a.add(m)
}

// cancelCalls gives each call the result that it was cancelled.
func (a *Agent) cancelCalls(calls []message.ToolCall) {
	if len(calls) == 0 {
		return
	}
	results := make([]message.ToolResult, len(calls))
	for i, c := range calls {
		results[i] = message.ToolResult{CallID: c.ID, IsError: true, Content: cancelled().Content}
	}
	a.finishCalls(results)
}

func cancelled() tool.Result {
	r := tool.ErrorResult("cancelled by the user before it finished")
	r.Status = tool.Cancelled
	return r
}

// runCall judges and runs one call of the model.
func (a *Agent) runCall(ctx context.Context, c message.ToolCall) message.ToolResult {
	if c.ArgsRaw != "" {
		return a.refuseArgs(c)
	}
	o := a.perform(ctx, tool.Call{ID: c.ID, Name: c.Name, Args: c.Args})
	return message.ToolResult{
		CallID: c.ID, Content: o.result.Content, IsError: o.result.IsError,
		Extension: o.extension, Changes: o.changes, Activated: a.known(o.result.Activate),
	}
}

// refuseArgs answers a call whose arguments are not JSON, with the place of
// the fault, so that the model can do better.
func (a *Agent) refuseArgs(c message.ToolCall) message.ToolResult {
	r := tool.ErrorResult("the arguments of this call are not a JSON object: " + jsonFault(c.ArgsRaw))
	a.opts.Emit(event.ToolResult{
		ID: c.ID, Name: c.Name, Args: c.Args, ArgsRaw: c.ArgsRaw, Content: r.Content, IsError: true,
		Status: string(tool.Failed),
	})
	return message.ToolResult{CallID: c.ID, Content: r.Content, IsError: true}
}

func jsonFault(raw string) string {
	var v map[string]any
	err := json.Unmarshal([]byte(raw), &v)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("%v at byte %d of %d", syntax, syntax.Offset, len(raw))
	case err != nil:
		return err.Error()
	}
	return "they could not be read"
}

// An outcome is all there is to tell of a call.
type outcome struct {
	result    tool.Result
	args      json.RawMessage
	extension string
	changes   []string
	executed  bool
}

// Call runs a tool outside of a reply, under the same guard, and reports it
// like any other. The call is not part of the transcript.
func (a *Agent) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	a.announce(c, "")
	o := a.perform(ctx, c)
	return o.result, ctx.Err()
}

// perform reads as the walk of a call: find the tool, have it judged, run it,
// report.
func (a *Agent) perform(ctx context.Context, c tool.Call) outcome {
	start := time.Now()
	o := a.decideAndRun(ctx, c)
	if ctx.Err() != nil && !o.executed {
		o.result = cancelled()
	}
	if o.result.Status == "" {
		o.result.Status = tool.Completed
		if o.result.IsError {
			o.result.Status = tool.Failed
		}
	}
	a.opts.Emit(event.ToolResult{
		ID: c.ID, Name: c.Name, Args: o.args, Content: o.result.Content, IsError: o.result.IsError,
		Status: string(o.result.Status), Executed: o.executed, Extension: o.extension,
		Changes: o.changes, Diff: o.result.Diff, Structured: o.result.Structured,
		Duration: time.Since(start), Parent: c.Parent, Origin: c.Origin,
	})
	return o
}

func (a *Agent) decideAndRun(ctx context.Context, c tool.Call) outcome {
	o := outcome{args: c.Args}
	t, ok := a.opts.Tools.Lookup(c.Name)
	if !ok {
		o.result = tool.ErrorResult(fmt.Sprintf("there is no tool named %q; there are: %s", c.Name, a.toolNames()))
		return o
	}
	o.extension = t.Spec().Extension
	v, err := a.opts.Guard.Judge(ctx, c, t)
	o.changes = v.Changes
	switch {
	case err != nil:
		o.result = cancelled()
		return o
	case !v.Allowed:
		o.result = tool.ErrorResult(v.Reason)
		o.result.Status = tool.Blocked
		return o
	}
	c.Args, o.args, o.executed = v.Args, v.Args, true
	c.Progress = func(text string) { a.opts.Emit(event.ToolProgress{ID: c.ID, Text: text}) }
	o.result = a.runTool(ctx, t, c)
	return o
}

func (a *Agent) toolNames() string {
	var names []string
	for _, t := range a.opts.Tools.All() {
		if !t.Spec().Deferred {
			names = append(names, t.Spec().Name)
		}
	}
	return strings.Join(names, ", ")
}

// runTool runs the tool; a panic in it is its failure and not the program's.
func (a *Agent) runTool(ctx context.Context, t tool.Tool, c tool.Call) (r tool.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = tool.ErrorResult(fmt.Sprintf("panic: %v", p))
		}
	}()
	r, err := t.Run(ctx, c)
	if err != nil {
		partial := r.Content
		r = cancelled()
		r.Content = append(r.Content, partial...)
	}
	return r
}

// known leaves of the names of tools to activate those that there are.
func (a *Agent) known(names []string) (all []string) {
	for _, n := range names {
		if _, ok := a.opts.Tools.Lookup(n); ok {
			all = append(all, n)
		}
	}
	return all
}

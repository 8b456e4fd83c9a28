package ext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// dispatch starts what a line asks for and returns at once, so that the host's
// frames are always taken. What answers a tool call or an interception is
// returned, for the caller to run. Shutdown says that the line was one.
func (r *run) dispatch(line []byte) (answer func(), shutdown bool) {
	frame, err := extproto.DecodeFromHost(line)
	if err != nil {
		r.undecodable(line, err)
		return nil, false
	}
	switch f := frame.(type) {
	case extproto.CommandInvoked:
		r.handlers.Go(func() { r.answerCommand(f) })
	case extproto.ToolCall:
		ctx := r.startCall(f.ID)
		return func() { r.answerTool(ctx, f) }, false
	case extproto.ToolCancel:
		r.cancelCall(f.ID)
	case extproto.EventIntercept:
		return func() { r.reply(r.e.verdict(f)) }, false
	case extproto.Event:
		r.event(f)
	case extproto.PanelKey:
		r.onPanel(f.PanelID, func(p panelHandlers) { p.key(f.Key, f.Text) })
	case extproto.PanelResize:
		r.onPanel(f.PanelID, func(p panelHandlers) { p.resize(f.Width, f.Height) })
	case extproto.PanelClose:
		r.onPanel(f.PanelID, func(p panelHandlers) { p.close() })
	case extproto.ToolResult:
		r.settle(f.ID, f)
	case extproto.Response:
		r.settle(f.ID, f)
	case extproto.Shutdown:
		return nil, true
	}
	return nil, false
}

// undecodable answers a request whose fields make no sense, so that the host
// need not wait for its deadline. Anything else is only logged: a newer host
// may say things that this SDK does not know.
func (r *run) undecodable(line []byte, err error) {
	r.e.Logf("ignoring a frame: %v", err)
	head, headErr := extproto.Peek(line)
	if headErr != nil || head.ID == "" {
		return
	}
	switch head.Type {
	case "command_invoked":
		r.reply(Errorf("%v", err).frame(head.ID))
	case "tool_call":
		r.reply(TextErrorResult(err.Error()).frame(head.ID))
	case "event_intercept":
		r.reply(extproto.EventInterceptResponse{ID: head.ID})
	}
}

// reply sends an answer. It returns an error only for an answer that cannot be
// put into a frame.
func (r *run) reply(f extproto.Frame) error {
	if err := r.out.write(f); err != nil && !errors.Is(err, ErrEnded) {
		r.e.Logf("%v", err)
		return err
	}
	return nil
}

func (r *run) answerCommand(f extproto.CommandInvoked) {
	e := r.e
	e.mu.Lock()
	c := e.commands.byKey[strings.ToLower(f.Name)]
	e.mu.Unlock()
	if c == nil {
		r.reply(Errorf("unknown command %q", f.Name).frame(f.ID))
		return
	}
	res := func() (res Response) {
		defer e.caught("command "+f.Name, func(v any) { res = Errorf("panic: %v", v) })
		return c.handler(r.ctx, f.Args)
	}()
	if err := r.reply(res.frame(f.ID)); err != nil {
		r.reply(Errorf("%v", err).frame(f.ID))
	}
}

// startCall notes a call before its goroutine starts, so that a cancel that
// follows at once finds it.
func (r *run) startCall(id string) context.Context {
	ctx, cancel := context.WithCancel(context.WithValue(r.ctx, callKey{}, id))
	r.mu.Lock()
	r.calls[id] = cancel
	r.mu.Unlock()
	return ctx
}

// cancelCall takes the call out of the list, by which endCall will see that
// nobody waits for its answer.
func (r *run) cancelCall(id string) {
	r.mu.Lock()
	cancel := r.calls[id]
	delete(r.calls, id)
	r.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// endCall reports whether the call is still waited for.
func (r *run) endCall(id string) (wanted bool) {
	r.mu.Lock()
	cancel := r.calls[id]
	delete(r.calls, id)
	r.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel()
	return true
}

func (r *run) answerTool(ctx context.Context, f extproto.ToolCall) {
	res := r.runTool(ctx, f.Name, f.Args)
	if !r.endCall(f.ID) {
		return
	}
	if err := r.reply(res.frame(f.ID)); err != nil {
		r.reply(TextErrorResult(fmt.Sprintf("the result cannot be sent: %v", err)).frame(f.ID))
	}
}

func (r *run) runTool(ctx context.Context, name string, args json.RawMessage) (res ToolResult) {
	e := r.e
	e.mu.Lock()
	t := e.tools.byKey[name]
	e.mu.Unlock()
	if t == nil {
		return TextErrorResult(fmt.Sprintf("unknown tool %q", name))
	}
	defer e.caught("tool "+name, func(v any) { res = TextErrorResult(fmt.Sprintf("panic: %v", v)) })
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage(`{}`)
	}
	return t.handler(ctx, args)
}

func (r *run) event(f extproto.Event) {
	e := r.e
	dropped := r.events.do(&r.handlers, func() {
		e.mu.Lock()
		handler := e.events.byKey[f.Event]
		e.mu.Unlock()
		if handler == nil {
			return
		}
		defer e.caught("event "+f.Event, nil)
		handler(eventOf(f))
	})
	if dropped {
		e.Logf("event handlers are %d events behind: dropping events until they catch up", maxBehind)
	}
}

// onPanel runs fn in its turn among the calls of the panel.
func (r *run) onPanel(id string, fn func(panelHandlers)) {
	e := r.e
	e.mu.Lock()
	p := e.panels[id]
	e.mu.Unlock()
	if p == nil {
		return
	}
	dropped := p.queue.do(&r.handlers, func() {
		e.mu.Lock()
		handlers := p.panelHandlers
		e.mu.Unlock()
		defer e.caught("panel "+id, nil)
		fn(handlers)
	})
	if dropped {
		e.Logf("panel %s is %d keys behind: dropping keys until it catches up", id, maxBehind)
	}
}

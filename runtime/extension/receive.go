package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/event"
)

// receive handles one line. An error ends the connection.
func (p *peer) receive(line []byte) error {
	if err := p.count(); err != nil {
		return err
	}
	head, err := extproto.Peek(line)
	if err != nil {
		p.oddLine("malformed json frame", "skipped a line that is no frame", line, err)
		return nil
	}
	if !p.greeted {
		return p.greet(head, line)
	}
	frame, err := extproto.DecodeFromExtension(line)
	var unknown *extproto.UnknownTypeError
	switch {
	case errors.As(err, &unknown):
		p.oddLine("type "+unknown.Type, "ignored a frame of unknown type", line, err)
	case err != nil:
		p.oddLine("decode "+head.Type, "malformed json frame", line, err)
		// The request it meant to answer need not run into its deadline.
		if w := p.pend.take(head.ID, head.Type); w != nil {
			w.ch <- answer{err: fmt.Errorf("malformed answer: %w", err)}
		}
	default:
		p.dispatch(frame)
	}
	p.touch()
	return p.fault
}

// oddLine logs a line that could not be used, with its first bytes, once a kind.
func (p *peer) oddLine(kind, what string, line []byte, err error) {
	if p.noise[kind] {
		return
	}
	p.noise[kind] = true
	sample := line
	if len(sample) > 120 {
		sample = sample[:120]
	}
	if !p.greeted {
		p.m.mu.Lock()
		p.stray = fmt.Sprintf("%q", sample)
		p.m.mu.Unlock()
	}
	p.diagnose(false, "%s (further ones of this kind are not logged): %v: %q", what, err, sample)
}

// greet handles the first frame, which must be hello, and answers it.
func (p *peer) greet(head extproto.Head, line []byte) error {
	if head.Type != "hello" {
		return &protocolError{fmt.Sprintf("first frame must be hello (got %s)", head.Type)}
	}
	var hello extproto.Hello
	if err := json.Unmarshal(line, &hello); err != nil {
		return &protocolError{fmt.Sprintf("parsing hello: %v", err)}
	}
	if hello.Name == "" {
		return &protocolError{"first frame must be hello with a name (got an empty name)"}
	}
	if err := p.misnamed(hello.Name); err != nil {
		return err
	}
	p.greeted = true
	ack := p.m.helloAck(p.entry)
	p.m.update(func(*effects) {
		p.hello, p.state = hello, StateGreeted
		for _, c := range hello.Capabilities {
			p.caps[c] = true
		}
	})
	p.post(ack)
	time.AfterFunc(p.m.opts.Timeouts.Ready, func() { p.becomeReady(StateLateReady) })
	return nil
}

// touch moves the moment at which silence counts as ready.
func (p *peer) touch() {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if p.state != StateGreeted || len(p.commands)+len(p.tools) == 0 {
		return
	}
	if p.autoReady == nil {
		p.autoReady = time.AfterFunc(p.m.opts.Timeouts.AutoReady, func() { p.becomeReady(StateAutoReady) })
		return
	}
	p.autoReady.Reset(p.m.opts.Timeouts.AutoReady)
}

// dispatch acts on a frame after the handshake.
func (p *peer) dispatch(frame extproto.Frame) {
	m, name := p.m, p.entry.Name
	switch f := frame.(type) {
	case extproto.RegisterCommand:
		m.registerCommand(p, f)
	case extproto.RegisterTool:
		m.registerTool(p, f)
	case extproto.Subscribe:
		m.subscribe(p, f)
	case extproto.Ready:
		p.becomeReady(StateReady)
	case extproto.ToolResult:
		p.answered(f.ID, f, nil)
	case extproto.CommandResponse:
		p.answered(f.ID, f, func() { m.panelAsked(p, f) })
	case extproto.EventInterceptResponse:
		p.answered(f.ID, f, nil)
	case extproto.Notify:
		if f.Message != "" && p.allowed(policies.Notify, "", "a note") {
			m.emit(event.ExtNotify{Extension: name, Level: noteLevel(f.Level), Message: f.Message})
		}
	case extproto.ClearNotes:
		m.emit(event.ExtClearNotes{Extension: name})
	case extproto.Submit:
		m.submit(p, f.Text)
	case extproto.OpenPanel:
		m.openPanel(p, f.Panel, false)
	case extproto.PanelRender:
		m.renderPanel(p, f)
	case extproto.PanelClose:
		m.panelClosedByOwner(p, f.PanelID)
	case extproto.CallTool:
		m.callTool(p, f)
	case extproto.CallToolCancel:
		m.cancelCallTool(p, f.ID)
	case extproto.Request:
		m.request(p, f)
	case extproto.SubmitSlash:
		p.diagnose(false, "ignored submit_slash: text from an extension runs no command")
	case extproto.ShutdownAck:
		// A courtesy: what counts is that the extension leaves.
	case extproto.Hello:
		p.diagnose(false, "ignored a second hello")
	}
}

// answered hands an answer to whoever waits for it. What the answer itself
// causes comes before that, and before the frames that follow it.
func (p *peer) answered(id string, f extproto.Frame, before func()) {
	w := p.pend.take(id, f.FrameType())
	if w == nil {
		p.log.printf("ignored a %s for id %q: nothing waits for it (late, doubled or unknown)", f.FrameType(), id)
		return
	}
	p.rate.giveBack()
	p.outbox().read(w.offset)
	if before != nil {
		before()
	}
	w.ch <- answer{frame: f}
	p.stream.calm = p.pend.idle()
}

func noteLevel(level string) string {
	switch level {
	case extproto.LevelSuccess, extproto.LevelWarn, extproto.LevelError:
		return level
	}
	return extproto.LevelInfo
}

package extension

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

// Tools lists the tools that extensions own now, in rank order.
func (m *Manager) Tools() []tool.Tool {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []tool.Tool
	for _, p := range m.peers {
		for _, reg := range p.tools {
			if m.dir.activeTool(reg) {
				all = append(all, &proxy{peer: p, reg: reg})
			}
		}
	}
	return all
}

// A proxy is a tool whose work is done by an extension.
type proxy struct {
	peer *peer
	reg  *toolReg
}

func (t *proxy) Spec() tool.Spec {
	return tool.Spec{
		Name: t.reg.Name, Description: t.reg.Description, Schema: t.reg.Schema,
		Deferred: t.reg.deferred, Interactive: t.reg.Interactive,
		Extension: t.peer.entry.Name, OutputSchema: t.reg.OutputSchema, Namespace: t.reg.Namespace,
	}
}

// A liveCall is a tool call that an extension works on; what it calls itself
// meanwhile is accounted to it.
type liveCall struct {
	modelID string   // id of the call in the transcript
	chain   []string // names of the tools from the model's call to this one
	ctx     context.Context
}

type chainKey struct{}

// Run carries the call to the extension and its answer back.
func (t *proxy) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	p, m := t.peer, t.peer.m
	name := p.entry.Name + "/" + t.reg.Name
	if t.reg.Interactive && !m.opts.Interactive {
		return tool.ErrorResult(fmt.Sprintf("extension %s failed: it waits for a person, and nobody is there in this mode", name)), nil
	}
	timeout := m.opts.Timeouts.Tool
	if t.reg.Interactive {
		timeout = 0
	}
	timeout = p.scope.Load().callTime(timeout)
	leave, err := p.enter(ctx, timeout)
	if err != nil {
		return t.noRoom(ctx, err)
	}
	defer leave()
	id := newID()
	done, err := p.begin(ctx, id, call, t.reg)
	if err != nil {
		return tool.ErrorResult(fmt.Sprintf("extension %s failed: %v", name, err)), nil
	}
	defer done()
	frame, err := p.ask(ctx, ask{
		id: id, frame: extproto.ToolCall{ID: id, Name: t.reg.Name, Args: objectOrEmpty(call.Args)},
		answer: "tool_result", timeout: timeout, what: name,
	})
	if err != nil {
		t.cancel(id, err)
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		r := tool.ErrorResult(fmt.Sprintf("extension %s failed: %v", name, err))
		if errors.As(err, new(*TimeoutError)) {
			r.Status = tool.TimedOut
		}
		return r, nil
	}
	return convertResult(p.fit(frame.(extproto.ToolResult), t.reg.Name)), nil
}

// noRoom is the result of a call that was never sent.
func (t *proxy) noRoom(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	r := tool.ErrorResult(fmt.Sprintf("extension %s/%s failed: %v", t.peer.entry.Name, t.reg.Name, err))
	if errors.As(err, new(*limitError)) {
		r.Status = tool.TimedOut
	}
	return r, nil
}

// begin enters a call among those the extension works on. The error says that
// the tool was withdrawn.
func (p *peer) begin(ctx context.Context, id string, call tool.Call, reg *toolReg) (done func(), err error) {
	chain, _ := ctx.Value(chainKey{}).([]string)
	p.m.update(func(*effects) {
		if reg.withdrawn {
			err = errWithdrawn
			return
		}
		p.live[id] = &liveCall{modelID: call.ID, chain: append(slices.Clone(chain), reg.Name), ctx: ctx}
	})
	return func() { p.m.update(func(*effects) { delete(p.live, id) }) }, err
}

// errWithdrawn says that the policy does not let the extension have a tool any
// more.
var errWithdrawn = errors.New("its right to the tool was withdrawn")

// cancel tells an extension that asked for it that a call is abandoned.
func (t *proxy) cancel(id string, err error) {
	var late *TimeoutError
	if !errors.As(err, &late) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	t.peer.m.mu.Lock()
	wants := t.peer.caps[extproto.CapToolCancel]
	t.peer.m.mu.Unlock()
	if wants {
		t.peer.post(extproto.ToolCancel{ID: id})
	}
}

// convertResult turns an extension's answer into a result: what cannot be used
// becomes words for the model rather than nothing.
func convertResult(f extproto.ToolResult) tool.Result {
	r := tool.Result{
		IsError: f.IsError, Status: tool.Completed,
		Activate: f.ActivateTools, Structured: f.StructuredContent,
	}
	for _, b := range f.Content {
		switch b.Type {
		case extproto.BlockText:
			if b.Text != "" {
				r.Content = append(r.Content, message.Text{Text: b.Text, Format: b.Format})
			}
		case extproto.BlockImage:
			data, err := base64.StdEncoding.DecodeString(b.Data)
			if err != nil {
				r.IsError = true
				r.Content = append(r.Content, message.Text{Text: fmt.Sprintf("(an image could not be decoded: %v)", err)})
				continue
			}
			r.Content = append(r.Content, message.Image{MIMEType: b.MIMEType, Data: data})
		default:
			r.Content = append(r.Content, message.Text{Text: fmt.Sprintf("(a block of unknown type %q)", b.Type)})
		}
	}
	if len(r.Content) == 0 {
		r.Content = structuredText(f.StructuredContent)
	}
	if r.IsError {
		r.Status = tool.Failed
	}
	return r
}

// structuredText is what the model reads of a result without content.
func structuredText(structured json.RawMessage) []message.Block {
	text := "(extension returned no content)"
	if len(structured) > 0 && string(structured) != "null" {
		text = string(structured)
	}
	return []message.Block{message.Text{Text: text}}
}

package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/tool"
)

// Why a call_tool was abandoned.
var (
	errNotWanted  = errors.New("cancelled by the extension")
	errParentOver = errors.New("the tool call that it was made for is over")
)

// callTool runs a tool for an extension, under the same guards as the model's
// own calls, and sends the result back. A doubled id is ignored.
func (m *Manager) callTool(p *peer, f extproto.CallTool) {
	ctx, cancel := context.WithCancelCause(p.life)
	var parent *liveCall
	var refusal error
	doubled := false
	m.update(func(fx *effects) {
		if _, doubled = p.ownCalls[f.ID]; doubled {
			return
		}
		if parent, refusal = m.admitCall(fx, p, f); refusal == nil {
			p.ownCalls[f.ID] = cancel
		}
	})
	switch {
	case doubled:
		cancel(nil)
		p.log.printf("ignored a call_tool with the id %q, which is still at work", f.ID)
	case refusal != nil:
		cancel(nil)
		p.answerCallTool(f, tool.ErrorResult(refusal.Error()))
	default:
		// Ends with the tool, its deadline, the parent call or the extension.
		go func() {
			defer cancel(nil)
			if parent != nil {
				defer context.AfterFunc(parent.ctx, func() { cancel(errParentOver) })()
			}
			r := m.runForExtension(ctx, p, f, parent)
			told := false
			m.update(func(*effects) {
				delete(p.ownCalls, f.ID)
				told = p.knowsOfEnd(context.Cause(ctx))
			})
			if !told {
				p.answerCallTool(f, r)
			}
		}()
	}
}

// knowsOfEnd reports whether the extension needs no answer to a call_tool that
// was abandoned: it gave up itself, or a tool_cancel says so. m.mu is held.
func (p *peer) knowsOfEnd(cause error) bool {
	return errors.Is(cause, errNotWanted) ||
		errors.Is(cause, errParentOver) && p.caps[extproto.CapToolCancel]
}

// admitCall checks a call_tool against the rules of the capability. m.mu is
// held.
func (m *Manager) admitCall(fx *effects, p *peer, f extproto.CallTool) (*liveCall, error) {
	switch {
	case m.opts.CallTool == nil || !p.caps[extproto.CapCallTool]:
		return nil, errors.New("call_tool was not agreed on: announce the capability call_tool in hello")
	case f.ID == "":
		return nil, errors.New("call_tool needs an id")
	case !isObject(f.Args):
		return nil, errors.New("args must be a JSON object")
	}
	if err := p.mayCall(fx, f.Name); err != nil {
		return nil, err
	}
	parent := p.live[f.ParentID]
	switch {
	case f.ParentID != "" && parent == nil:
		return nil, errors.New("unknown or expired parent tool call")
	case f.ParentID == "" && len(p.live) > 0:
		return nil, errors.New("a tool call is in progress: name it in parent_id")
	case parent == nil:
		return nil, nil
	case slices.Contains(parent.chain, f.Name):
		return nil, fmt.Errorf("cycle: %s -> %s", strings.Join(parent.chain, " -> "), f.Name)
	case len(parent.chain) >= extproto.MaxCallToolDepth:
		return nil, fmt.Errorf("tool calls are nested deeper than %d", extproto.MaxCallToolDepth)
	}
	return parent, nil
}

func isObject(args json.RawMessage) bool {
	args = objectOrEmpty(args)
	var m map[string]json.RawMessage
	return json.Unmarshal(args, &m) == nil
}

func (m *Manager) runForExtension(ctx context.Context, p *peer, f extproto.CallTool, parent *liveCall) tool.Result {
	ctx, stop := context.WithTimeoutCause(ctx, m.opts.Timeouts.CallTool,
		fmt.Errorf("no result within %s", m.opts.Timeouts.CallTool))
	defer stop()
	call := tool.Call{ID: "ext-" + newID(), Name: f.Name, Args: objectOrEmpty(f.Args), Origin: p.entry.Name}
	if parent != nil {
		call.Parent = parent.modelID
		ctx = context.WithValue(ctx, chainKey{}, parent.chain)
	}
	r, err := m.opts.CallTool(ctx, call)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return tool.ErrorResult(err.Error())
	}
	return r
}

// answerCallTool sends a result within its budget.
func (p *peer) answerCallTool(f extproto.CallTool, r tool.Result) {
	content, cut := wireBlocks(r.Content, extproto.MaxCallToolResult, maxEventBlocks)
	p.post(extproto.ToolResult{
		ID: f.ID, Name: f.Name, Content: content, IsError: r.IsError,
		StructuredContent: r.Structured, Truncated: cut,
	})
}

// cancelCallTool abandons a call; unknown ids are ignored.
func (m *Manager) cancelCallTool(p *peer, id string) {
	m.update(func(*effects) {
		if cancel := p.ownCalls[id]; cancel != nil {
			cancel(errNotWanted)
		}
	})
}

// maxRequests is how many host services an extension may wait for at a time.
const maxRequests = 32

// request serves a host service to an extension.
func (m *Manager) request(p *peer, f extproto.Request) {
	refuse := func(code, text string) {
		p.post(extproto.Response{ID: f.ID, Error: &extproto.ResponseError{Code: code, Message: text}})
	}
	if m.opts.Request == nil {
		refuse("unknown_method", "this host serves no requests")
		return
	}
	full := false
	m.update(func(*effects) {
		if full = p.requests >= maxRequests; !full {
			p.requests++
		}
	})
	if full {
		refuse("busy", fmt.Sprintf("%d requests are open already", maxRequests))
		return
	}
	go func() { // ends with the service, which bounds itself, or with the extension
		result, err := m.opts.Request(p.life, p.entry.Name, f.Method, f.Args)
		m.update(func(*effects) { p.requests-- })
		var re *RequestError
		switch {
		case errors.As(err, &re):
			if re.Code == extproto.CodeDenied {
				m.update(func(fx *effects) { p.requestDenied(fx, f.Method, re.Message) })
			}
			refuse(re.Code, re.Message)
		case err != nil:
			refuse("failed", err.Error())
		default:
			p.post(extproto.Response{ID: f.ID, Result: result})
		}
	}()
}

// A RequestError refuses a request with one of the codes of the protocol.
type RequestError struct{ Code, Message string }

func (e *RequestError) Error() string { return e.Code + ": " + e.Message }

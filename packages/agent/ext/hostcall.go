package ext

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// ErrUnsupported is wrapped by the error for a service that this host does not
// offer.
var ErrUnsupported = errors.New("not offered by this host")

// callKey finds the id of the tool call in a handler's context.
type callKey struct{}

// CallTool has zot run a tool, a built-in or another extension's, under the
// same rules and questions as if the model had called it. Args must encode as
// a JSON object; nil stands for {}. In a tool's handler ctx must be, or come
// from, the handler's: it tells which call this one is for, and its end
// abandons the call.
//
// A tool that fails gives a result with IsError; the error is for calls that
// came to no result.
func (e *Extension) CallTool(ctx context.Context, name string, args any) (ToolResult, error) {
	raw, err := object(args)
	if err != nil {
		return ToolResult{}, fmt.Errorf("calling tool %q: %w", name, err)
	}
	parent, _ := ctx.Value(callKey{}).(string)
	frame, err := e.ask(ctx, extproto.CapCallTool, func(id string) extproto.Frame {
		return extproto.CallTool{ID: id, Name: name, Args: raw, ParentID: parent}
	}, func(id string) extproto.Frame { return extproto.CallToolCancel{ID: id} })
	if err != nil {
		return ToolResult{}, fmt.Errorf("calling tool %q: %w", name, err)
	}
	f, ok := frame.(extproto.ToolResult)
	if !ok {
		return ToolResult{}, fmt.Errorf("calling tool %q: zot answered with %s", name, frame.FrameType())
	}
	return ToolResult{Content: contentOf(f.Content), IsError: f.IsError, ActivateTools: f.ActivateTools,
		StructuredContent: f.StructuredContent, Truncated: f.Truncated}, nil
}

// A RequestError is the host's refusal of a [Extension.Request].
type RequestError struct {
	Code    string // "denied", "invalid", "unknown_method", "busy", "timeout", "too_large", "failed"
	Message string
}

func (e *RequestError) Error() string { return e.Message + " (" + e.Code + ")" }

// Request asks the host for a service by its method's name, within what policy
// grants this extension. A refusal is a *RequestError.
func (e *Extension) Request(ctx context.Context, method string, args any) (json.RawMessage, error) {
	raw, err := object(args)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", method, err)
	}
	frame, err := e.ask(ctx, extproto.CapRequest, func(id string) extproto.Frame {
		return extproto.Request{ID: id, Method: method, Args: raw}
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", method, err)
	}
	f, ok := frame.(extproto.Response)
	switch {
	case !ok:
		return nil, fmt.Errorf("request %s: zot answered with %s", method, frame.FrameType())
	case f.Error != nil:
		return nil, fmt.Errorf("request %s: %w", method, &RequestError{Code: f.Error.Code, Message: f.Error.Message})
	}
	return f.Result, nil
}

// A FetchRequest is an HTTP request for [Extension.Fetch].
type FetchRequest struct {
	URL     string
	Method  string // GET where empty
	Headers map[string]string
	Body    []byte
}

// A FetchResponse is a server's answer, whatever its status.
type FetchResponse struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

// Fetch has zot make an HTTP request, to the hosts that policy grants. It is
// how an extension without network access of its own, like a WebAssembly
// module, reaches a server.
func (e *Extension) Fetch(ctx context.Context, req FetchRequest) (FetchResponse, error) {
	args := extproto.FetchArgs{URL: req.URL, Method: req.Method, Headers: req.Headers}
	if utf8.Valid(req.Body) {
		args.Body = string(req.Body)
	} else {
		args.BodyBase64 = base64.StdEncoding.EncodeToString(req.Body)
	}
	raw, err := e.Request(ctx, extproto.MethodFetch, args)
	if err != nil {
		return FetchResponse{}, err
	}
	var res extproto.FetchResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return FetchResponse{}, fmt.Errorf("request %s: reading the result: %w", extproto.MethodFetch, err)
	}
	out := FetchResponse{Status: res.Status, Headers: res.Headers, Body: []byte(res.Body)}
	if res.BodyBase64 != "" {
		if out.Body, err = base64.StdEncoding.DecodeString(res.BodyBase64); err != nil {
			return FetchResponse{}, fmt.Errorf("request %s: reading the body: %w", extproto.MethodFetch, err)
		}
	}
	return out, nil
}

// ask sends a request to the host and waits for the answer, the end of ctx
// (then abandon, if not nil, is sent) or the end of the run.
func (e *Extension) ask(ctx context.Context, capability string, request, abandon func(id string) extproto.Frame) (extproto.Frame, error) {
	e.mu.Lock()
	r, host := e.run, e.host
	ready := r != nil && r.greeted
	e.mu.Unlock()
	switch {
	case !ready:
		return nil, errors.New("there is no connection to zot yet")
	case !slices.Contains(host.Capabilities, capability):
		return nil, fmt.Errorf("%w (its capabilities do not name %q)", ErrUnsupported, capability)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	id, answer := r.expect(capability)
	defer r.forget(id)
	if err := r.out.write(request(id)); err != nil {
		return nil, err
	}
	r.waits()
	select {
	case f := <-answer:
		return f, nil
	case <-r.ctx.Done():
		return nil, ErrEnded
	case <-ctx.Done():
		if r.ctx.Err() != nil { // a handler's context ends with the run, too
			return nil, ErrEnded
		}
		if abandon != nil {
			e.push(abandon(id))
		}
		return nil, ctx.Err()
	}
}

// expect makes an id, and the channel on which its answer will come.
func (r *run) expect(prefix string) (string, <-chan extproto.Frame) {
	answer := make(chan extproto.Frame, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	id := prefix + "-" + strconv.Itoa(r.lastID)
	r.waiting[id] = answer
	return id, answer
}

func (r *run) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, id)
}

// settle hands an answer to who waits for it. The first one counts; one that
// nobody waits for came too late.
func (r *run) settle(id string, f extproto.Frame) {
	r.mu.Lock()
	answer := r.waiting[id]
	delete(r.waiting, id)
	r.mu.Unlock()
	if answer != nil {
		answer <- f
	}
}

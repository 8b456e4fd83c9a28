package exttest

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// read takes the extension's frames until its output ends. What breaks the
// protocol fails the test, where zot would make the best of it: here an author
// wants to know.
func (h *Host) read(in io.Reader) {
	lines := extproto.NewReader(in)
	for first := true; ; first = false {
		line, err := lines.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				h.fault("reading from the extension: %v", err)
			}
			return
		}
		frame, err := extproto.DecodeFromExtension(line)
		switch {
		case err != nil:
			h.fault("the extension wrote %.200q: %v", line, err)
		case first && frame.FrameType() != "hello":
			h.fault("the first frame of the extension is %s and not hello", frame.FrameType())
		default:
			h.receive(frame)
		}
	}
}

func (h *Host) fault(format string, args ...any) {
	h.t.Errorf("%s%s", fmt.Sprintf(format, args...), h.excerpt())
}

func (h *Host) receive(frame extproto.Frame) {
	h.mu.Lock()
	h.frames = append(h.frames, frame)
	stray := h.record(frame)
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
	if stray != "" {
		h.fault("the extension answered %s, which was not asked or is answered already, with %+v", stray, frame)
	}
	switch f := frame.(type) {
	case extproto.Hello:
		h.send(h.opts.Ack)
	case extproto.CallTool:
		go func() { h.send(h.callTool(f)) }() // ends with the test's function
	case extproto.Request:
		go func() { h.send(h.request(f)) }() // the same
	}
}

// record keeps a frame where the test will look for it. It returns the id of
// an answer that nobody waits for. h.mu is held.
func (h *Host) record(frame extproto.Frame) (stray string) {
	switch f := frame.(type) {
	case extproto.CommandResponse:
		stray = h.answer(f.ID, f)
		if f.OpenPanel != nil && f.Action == extproto.ActionOpenPanel && f.Error == "" {
			h.panels[f.OpenPanel.ID] = Panel{*f.OpenPanel, true}
		}
		if f.Action == extproto.ActionDisplay && f.Error == "" {
			h.notes = append(h.notes, extproto.Notify{Message: f.Display})
		}
	case extproto.ToolResult:
		stray = h.answer(f.ID, f)
	case extproto.EventInterceptResponse:
		stray = h.answer(f.ID, f)
	case extproto.Notify:
		h.notes = append(h.notes, f)
	case extproto.ClearNotes:
		h.notes = nil
	case extproto.OpenPanel:
		h.panels[f.Panel.ID] = Panel{f.Panel, true}
	case extproto.PanelRender:
		h.render(f)
	case extproto.PanelClose:
		h.setOpen(f.PanelID, false)
	}
	return stray
}

func (h *Host) answer(id string, f extproto.Frame) (stray string) {
	if !h.asked[id] {
		if h.leaving {
			return ""
		}
		return fmt.Sprintf("request %q", id)
	}
	delete(h.asked, id)
	h.answers[id] = f
	return ""
}

func (h *Host) render(f extproto.PanelRender) {
	p, ok := h.panels[f.PanelID]
	if !ok || !p.Open {
		return
	}
	if f.Title != "" {
		p.Title = f.Title
	}
	p.Lines, p.Footer = slices.Clone(f.Lines), f.Footer
	h.panels[f.PanelID] = p
}

func (h *Host) setOpen(id string, open bool) {
	if p, ok := h.panels[id]; ok {
		p.Open = open
		h.panels[id] = p
	}
}

func (h *Host) callTool(f extproto.CallTool) extproto.ToolResult {
	res := extproto.ToolResult{IsError: true,
		Content: []extproto.Block{{Type: extproto.BlockText, Text: "no tool " + f.Name + " in this test"}}}
	if h.opts.CallTool != nil {
		res = h.opts.CallTool(f)
	}
	res.ID, res.Name = f.ID, f.Name
	return res
}

func (h *Host) request(f extproto.Request) extproto.Response {
	res := extproto.Response{Error: &extproto.ResponseError{Code: extproto.CodeDenied, Message: "nothing is granted in this test"}}
	if h.opts.Request != nil {
		res = h.opts.Request(f)
	}
	res.ID = f.ID
	return res
}

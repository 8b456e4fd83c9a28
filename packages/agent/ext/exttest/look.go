package exttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/packages/agent/extproto"
)

// A Panel is a panel as it was last drawn.
type Panel struct {
	extproto.Panel
	Open bool
}

// Frames returns all that the extension has said so far.
func (h *Host) Frames() []extproto.Frame {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.frames)
}

// Wait returns the first frame that matches, of those that came and those that
// will.
func (h *Host) Wait(match func(extproto.Frame) bool) extproto.Frame {
	h.t.Helper()
	return h.wait("a frame", match)
}

func (h *Host) wait(what string, match func(extproto.Frame) bool) extproto.Frame {
	h.t.Helper()
	var found extproto.Frame
	h.until(what, func() bool {
		if i := slices.IndexFunc(h.frames, match); i >= 0 {
			found = h.frames[i]
		}
		return found != nil
	})
	return found
}

// Commands returns the registered commands, in order.
func (h *Host) Commands() []extproto.RegisterCommand { return all[extproto.RegisterCommand](h) }

// Tools returns the registered tools, in order.
func (h *Host) Tools() []extproto.RegisterTool { return all[extproto.RegisterTool](h) }

// Submitted returns the prompts that the extension submitted, in order.
func (h *Host) Submitted() []string {
	var texts []string
	for _, s := range all[extproto.Submit](h) {
		texts = append(texts, s.Text)
	}
	return texts
}

// WaitSubmitted waits for a submitted prompt with text in it.
func (h *Host) WaitSubmitted(text string) string {
	h.t.Helper()
	f := h.wait(fmt.Sprintf("a submitted prompt with %q", text), func(f extproto.Frame) bool {
		s, ok := f.(extproto.Submit)
		return ok && strings.Contains(s.Text, text)
	})
	return f.(extproto.Submit).Text
}

func all[F extproto.Frame](h *Host) []F {
	var out []F
	for _, f := range h.Frames() {
		if f, ok := f.(F); ok {
			out = append(out, f)
		}
	}
	return out
}

// Notes returns the notes that are shown now.
func (h *Host) Notes() []extproto.Notify {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.notes)
}

// WaitNote waits for a note with text in it.
func (h *Host) WaitNote(text string) extproto.Notify {
	h.t.Helper()
	var note extproto.Notify
	h.until(fmt.Sprintf("a note with %q", text), func() bool {
		i := slices.IndexFunc(h.notes, func(n extproto.Notify) bool { return strings.Contains(n.Message, text) })
		if i >= 0 {
			note = h.notes[i]
		}
		return i >= 0
	})
	return note
}

// Panel returns a panel, the zero value where there never was one.
func (h *Host) Panel(id string) Panel {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.panels[id]
}

// WaitPanel waits until a panel is as wanted.
func (h *Host) WaitPanel(id string, want func(Panel) bool) Panel {
	h.t.Helper()
	var p Panel
	h.until(fmt.Sprintf("the panel %q", id), func() bool {
		p = h.panels[id]
		return want(p)
	})
	return p
}

// WaitLine waits until an open panel has a line with text in it.
func (h *Host) WaitLine(panelID, text string) Panel {
	h.t.Helper()
	return h.WaitPanel(panelID, func(p Panel) bool {
		return p.Open && slices.ContainsFunc(p.Lines, func(l string) bool { return strings.Contains(l, text) })
	})
}

package extension

import (
	"strings"

	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/runtime/event"
)

// An openPanel is the one panel there is: opening another closes it.
type openPanel struct {
	peer *peer
	id   string
}

// panelAsked opens the panel that a command answered with.
func (m *Manager) panelAsked(p *peer, resp extproto.CommandResponse) {
	if resp.Error == "" && resp.Action == extproto.ActionOpenPanel && resp.OpenPanel != nil {
		m.openPanel(p, *resp.OpenPanel, true)
	}
}

// openPanel opens a panel for p. asked says that a command of the user did it.
func (m *Manager) openPanel(p *peer, f extproto.Panel, asked bool) {
	m.update(func(fx *effects) {
		if !p.mayOpen(fx, f.ID) {
			return
		}
		if m.panel != nil && (m.panel.peer != p || m.panel.id != f.ID) {
			former := *m.panel
			fx.emit(event.ExtPanelClose{Extension: former.peer.entry.Name, ID: former.id})
			fx.after(func() { former.peer.post(extproto.PanelClose{PanelID: former.id}) })
		}
		m.panel = &openPanel{peer: p, id: f.ID}
		title := f.Title
		if title == "" {
			title = p.entry.Name
		}
		fx.emit(event.ExtPanelOpen{
			Extension: p.entry.Name, ID: f.ID, Title: title, Lines: f.Lines, Footer: f.Footer,
			Keys: f.Keys, Asked: asked,
		})
	})
}

// renderPanel redraws the open panel; for any other it does nothing.
func (m *Manager) renderPanel(p *peer, f extproto.PanelRender) {
	m.update(func(fx *effects) {
		if m.owns(p.entry.Name, f.PanelID) {
			fx.emit(event.ExtPanelRender{
				Extension: p.entry.Name, ID: f.PanelID, Title: f.Title, Lines: f.Lines, Footer: f.Footer,
			})
		}
	})
}

func (m *Manager) panelClosedByOwner(p *peer, id string) {
	m.update(func(fx *effects) {
		if m.owns(p.entry.Name, id) {
			m.panel = nil
			fx.emit(event.ExtPanelClose{Extension: p.entry.Name, ID: id})
		}
	})
}

// owns reports whether the open panel is id of the named extension. m.mu is
// held.
func (m *Manager) owns(extension, id string) bool {
	return m.panel != nil && m.panel.peer.entry.Name == extension && m.panel.id == id
}

// closePanelOf closes the panel of an extension that is gone. m.mu is held.
func (m *Manager) closePanelOf(p *peer, fx *effects) {
	if m.panel != nil && m.panel.peer == p {
		fx.emit(event.ExtPanelClose{Extension: p.entry.Name, ID: m.panel.id})
		m.panel = nil
	}
}

// toPanel posts a frame to the owner of the open panel, if it is that one.
func (m *Manager) toPanel(extension, id string, f extproto.Frame) {
	m.mu.Lock()
	if !m.owns(extension, id) {
		m.mu.Unlock()
		return
	}
	p := m.panel.peer
	m.mu.Unlock()
	p.post(f)
}

// PanelOwner names the extension whose panel id is open.
func (m *Manager) PanelOwner(id string) (extension string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panel == nil || m.panel.id != id {
		return "", false
	}
	return m.panel.peer.entry.Name, true
}

// PanelKey hands a key to the extension whose panel has the focus. Keys arrive
// in the order of the calls.
func (m *Manager) PanelKey(extension, id, key, text string) {
	m.toPanel(extension, id, extproto.PanelKey{PanelID: id, Key: key, Text: text})
}

// PanelResize tells an extension the room of its panel, in cells.
func (m *Manager) PanelResize(extension, id string, width, height int) {
	m.toPanel(extension, id, extproto.PanelResize{PanelID: id, Width: width, Height: height})
}

// PanelClosed says that the user closed a panel.
func (m *Manager) PanelClosed(extension, id string) {
	m.update(func(fx *effects) {
		if m.owns(extension, id) {
			p := m.panel.peer
			m.panel = nil
			fx.after(func() { p.post(extproto.PanelClose{PanelID: id}) })
		}
	})
}

// submit passes on text that an extension hands to the prompt.
func (m *Manager) submit(p *peer, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	m.update(func(fx *effects) {
		if ok, ask := p.submission(fx); ok {
			fx.emit(event.ExtSubmit{Extension: p.entry.Name, Text: text, Ask: ask})
		}
	})
}

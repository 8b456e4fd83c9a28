package ext

import "github.com/patriceckhart/zot/packages/agent/extproto"

// A Panel is a small screen of the extension's own. One panel is open at a
// time; opening another closes it.
type Panel struct {
	ID     string
	Title  string // the extension's name where empty
	Lines  []string
	Footer string
	// Keys asks for keys that zot would keep for itself; "esc" is the one there
	// is. Ctrl+C always closes a panel.
	Keys []string
}

type panel struct {
	panelHandlers
	queue serial
}

// panelHandlers are the author's functions for a panel; each may be nil.
type panelHandlers struct {
	onKey    func(key, text string)
	onResize func(width, height int)
	onClose  func()
}

func (h panelHandlers) key(key, text string) {
	if h.onKey != nil {
		h.onKey(key, text)
	}
}

func (h panelHandlers) resize(width, height int) {
	if h.onResize != nil {
		h.onResize(width, height)
	}
}

func (h panelHandlers) close() {
	if h.onClose != nil {
		h.onClose()
	}
}

// OnPanelKey has onKey called for each key pressed while the panel is open, in
// order, and onClose when the user or another panel closes it. Either may be
// nil. Keys have names like "up", "enter" and "backspace"; for the key "rune"
// text holds what was typed.
func (e *Extension) OnPanelKey(panelID string, onKey func(key, text string), onClose func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.panel(panelID)
	p.onKey, p.onClose = onKey, onClose
}

// OnPanelResize has fn told the room that the panel has, in cells: when it
// opens and when that changes.
func (e *Extension) OnPanelResize(panelID string, fn func(width, height int)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.panel(panelID).onResize = fn
}

// panel finds or makes the entry. e.mu is held.
func (e *Extension) panel(id string) *panel {
	p := e.panels[id]
	if p == nil {
		p = &panel{}
		e.panels[id] = p
	}
	return p
}

// OpenPanel opens a panel without a command having been asked for it.
func (e *Extension) OpenPanel(id, title string, lines []string, footer string) {
	e.push(extproto.OpenPanel{Panel: extproto.Panel{ID: id, Title: title, Lines: lines, Footer: footer}})
}

// RenderPanel redraws an open panel. An empty title keeps the one it has; lines
// and footer always replace. A panel that is not open stays closed.
func (e *Extension) RenderPanel(panelID, title string, lines []string, footer string) {
	e.push(extproto.PanelRender{PanelID: panelID, Title: title, Lines: lines, Footer: footer})
}

// ClosePanel closes a panel. onClose is not called for it.
func (e *Extension) ClosePanel(panelID string) { e.push(extproto.PanelClose{PanelID: panelID}) }

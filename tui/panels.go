package tui

import (
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/panel"
)

// openPanel shows a panel in place of the one before, whose owner is told. It
// gets the keys only if a command of the user opened it or nothing is being
// typed: keys must not land where they were not meant to.
func (m *Model) openPanel(e event.ExtPanelOpen) {
	if p := m.panel; p != nil && (p.Ext != e.Extension || p.ID != e.ID) {
		m.rt.PanelClosed(p.Ext, p.ID)
	}
	focused := e.Asked || (m.composer.Empty() && m.dialog == nil && len(m.asks) == 0)
	m.panel = panel.New(e.Extension, e.ID, e.Title, e.Lines, e.Footer, e.Keys, focused)
	m.panelSize = [2]int{}
}

func (m *Model) closePanel() {
	if p := m.panel; p != nil {
		m.panel = nil
		m.rt.PanelClosed(p.Ext, p.ID)
	}
}

// panelKey handles a key while the panel has the focus.
func (m *Model) panelKey(k keys.Key) {
	if m.keys.Action(k.Chord) == keys.FocusPanel {
		m.panel.Focused = false
		return
	}
	switch m.panel.Key(k, time.Now()) {
	case panel.Close:
		m.closePanel()
	case panel.Send:
		m.rt.PanelKey(m.panel.Ext, m.panel.ID, k.Panel, k.Text)
	}
}

// sizePanel tells the extension how much room it has, when that changed.
func (m *Model) sizePanel(height int) {
	w, h := panel.Size(m.width, height)
	if size := [2]int{w, h}; size != m.panelSize {
		m.panelSize = size
		m.rt.PanelResize(m.panel.Ext, m.panel.ID, w, h)
	}
}

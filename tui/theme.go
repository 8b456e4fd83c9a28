package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/screen"
)

// loadTheme brings a theme in beside the screen. While extensions are still
// loading, a theme that is not there may yet come with one of them.
func (m *Model) loadTheme(name string) tea.Cmd {
	t, ok := m.rt.(Themes)
	if !ok {
		return nil
	}
	ctx := m.ctx
	return work(func() func(*Model) {
		th, err := t.LoadTheme(context.WithoutCancel(ctx), name)
		return func(m *Model) {
			switch {
			case err == nil:
				m.setTheme(th)
			case m.loading[0] == 0:
				m.transcript.Say("error", "theme "+screen.Line(name)+": "+screen.Clean(err.Error()))
			}
		}
	})
}

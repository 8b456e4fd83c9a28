package dialog

import (
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"

	"github.com/patriceckhart/zot/tui/style"
)

// hints draws what keys do, "enter picks, esc closes": the first word of each is
// the key.
func hints(text string, width int, s *style.Sheet) string {
	var keys []key.Binding
	for _, h := range strings.Split(text, ", ") {
		name, does, _ := strings.Cut(strings.TrimSpace(h), " ")
		if name != "" {
			keys = append(keys, key.NewBinding(key.WithKeys(name), key.WithHelp(name, does)))
		}
	}
	view := help.New()
	view.ShortSeparator, view.Ellipsis = "  ", s.Glyphs.Ellipsis
	view.SetWidth(max(width, 1))
	muted := s.Look(style.Muted)
	view.Styles = help.Styles{ShortKey: s.Look(style.Accent), ShortDesc: muted, ShortSeparator: muted, Ellipsis: muted}
	return view.ShortHelpView(keys)
}

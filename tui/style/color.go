package style

import (
	"image/color"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/patriceckhart/zot/runtime/theme"
)

// rendered is a theme's look as lipgloss has it, for one profile.
func rendered(l theme.Style, p Profile) lipgloss.Style {
	s := lipgloss.NewStyle().
		Bold(l.Bold).Faint(l.Dim).Italic(l.Italic).Underline(l.Underline).Reverse(l.Reverse).Strikethrough(l.Strike)
	if c := colorOf(l.FG.String(), p); c != nil {
		s = s.Foreground(c)
	}
	if c := colorOf(l.BG.String(), p); c != nil {
		s = s.Background(c)
	}
	return s
}

// sequence is the SGR that begins a look, without a reset before it.
func sequence(l theme.Style, p Profile) string {
	var s ansi.Style
	for _, a := range []struct {
		on  bool
		set func(ansi.Style) ansi.Style
	}{
		{l.Bold, ansi.Style.Bold}, {l.Dim, ansi.Style.Faint},
		{l.Italic, func(s ansi.Style) ansi.Style { return s.Italic(true) }},
		{l.Underline, func(s ansi.Style) ansi.Style { return s.Underline(true) }},
		{l.Reverse, func(s ansi.Style) ansi.Style { return s.Reverse(true) }},
		{l.Strike, func(s ansi.Style) ansi.Style { return s.Strikethrough(true) }},
	} {
		if a.on {
			s = a.set(s)
		}
	}
	if c := colorOf(l.FG.String(), p); c != nil {
		s = s.ForegroundColor(c)
	}
	if c := colorOf(l.BG.String(), p); c != nil {
		s = s.BackgroundColor(c)
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// colorOf is a theme's colour, or nil where the profile cannot show it.
func colorOf(c string, p Profile) color.Color {
	if c == "" || c == "default" || p == Mono {
		return nil
	}
	if i := slices.Index(theme.Names, c); i >= 0 {
		return ansi.BasicColor(i)
	}
	if p == ANSI16 {
		return nil // the nearest colour would lie about a palette nobody knows
	}
	if n, err := strconv.Atoi(c); err == nil {
		if n < 0 || n > 255 {
			return nil
		}
		return ansi.IndexedColor(n)
	}
	if !strings.HasPrefix(c, "#") {
		return nil
	}
	full := lipgloss.Color(c)
	if p == ANSI256 {
		return colorprofile.ANSI256.Convert(full)
	}
	return full
}

// colorCode is the SGR parameter of a colour, or nothing where the profile
// cannot show it.
func colorCode(c string, p Profile, background bool) string {
	shown := colorOf(c, p)
	if shown == nil {
		return ""
	}
	var s ansi.Style
	if background {
		s = s.BackgroundColor(shown)
	} else {
		s = s.ForegroundColor(shown)
	}
	return strings.TrimSuffix(strings.TrimPrefix(s.String(), "\x1b["), "m")
}

package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// environment is what variables say about the terminal.
type environment struct {
	vars         map[string]string
	ascii        bool
	dumb         bool
	noColor      bool
	reduceMotion bool
	background   string // dark, light or unknown
}

func readEnvironment(env []string) environment {
	e := environment{vars: map[string]string{}}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		e.vars[k] = v
	}
	e.dumb = e.vars["TERM"] == "dumb"
	e.noColor = e.vars["NO_COLOR"] != "" || e.dumb
	e.ascii = !utf8Locale(e.vars)
	for _, k := range []string{"NVDA_RUNNING", "JAWS_RUNNING", "ORCA_RUNNING", "SPEECHD_ADDRESS", "ACCESSIBILITY_ENABLED"} {
		e.reduceMotion = e.reduceMotion || e.vars[k] != "" && e.vars[k] != "0"
	}
	e.background = backgroundOf(e.vars["COLORFGBG"])
	return e
}

// knowsOSC9 reports whether the terminal shows notifications by OSC 9.
func (e environment) knowsOSC9() bool {
	switch e.vars["TERM_PROGRAM"] {
	case "iTerm.app", "WezTerm", "ghostty":
		return e.vars["TMUX"] == ""
	}
	return e.vars["KITTY_WINDOW_ID"] != "" && e.vars["TMUX"] == ""
}

// utf8Locale goes by the first variable that is set, as the C library does. If
// none is, UTF-8 is assumed: containers have no locale, and their terminals
// have UTF-8.
func utf8Locale(vars map[string]string) bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(vars[k]); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// backgroundOf reads COLORFGBG, "15;0" or "0;default;15".
func backgroundOf(v string) string {
	switch v[strings.LastIndexByte(v, ';')+1:] {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return "dark"
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return "light"
	}
	return ""
}

func profileOf(p colorprofile.Profile) style.Profile {
	switch p {
	case colorprofile.TrueColor:
		return style.TrueColor
	case colorprofile.ANSI256:
		return style.ANSI256
	case colorprofile.ANSI:
		return style.ANSI16
	}
	return style.Mono
}

// look is the theme and the terminal that it is shown on.
type look struct {
	theme   *theme.Theme
	profile style.Profile
	ascii   bool
	light   bool
	auto    bool   // the background is to be found out
	named   string // the theme to load; empty for the built-in one
	asked   time.Time
	sheet   *style.Sheet
}

func newLook(opt Options, env environment) look {
	t, ok := theme.Builtin(theme.DefaultName)
	if !ok {
		t = &theme.Theme{Name: theme.DefaultName}
	}
	l := look{theme: t, profile: style.TrueColor, ascii: env.ascii}
	if env.noColor {
		l.profile = style.Mono
	}
	switch opt.Theme {
	case "", "auto", "default", "system", "dark", "light":
	default:
		l.named = opt.Theme
	}
	switch {
	case opt.Theme == "light" || opt.Theme == "dark":
		l.light = opt.Theme == "light"
	case env.background != "":
		l.light = env.background == "light"
	default:
		l.auto = !env.dumb
	}
	l.resolve()
	return l
}

func (l *look) resolve() {
	variant := theme.Dark
	if l.light {
		variant = theme.Light
	}
	l.sheet = style.New(l.theme.Palette(variant), l.profile, l.ascii)
	if frames := l.theme.Spinner.Frames; len(frames) > 0 && !l.ascii {
		l.sheet.Glyphs.Spinner = cleanFrames(frames)
	}
}

// cleanFrames makes a theme's spinner safe: its frames stand on the status line.
func cleanFrames(frames []string) []string {
	var out []string
	for _, f := range frames {
		out = append(out, screen.Fit(screen.Display(screen.Line(f)), 8, ""))
	}
	return out
}

func (m *Model) relook() {
	m.look.resolve()
	m.transcript.SetSheet(m.look.sheet)
}

func (m *Model) setProfile(p style.Profile) {
	if m.env.noColor {
		p = style.Mono
	}
	if p != m.look.profile {
		m.look.profile = p
		m.relook()
	}
}

// backgroundWithin is how long a terminal may take to say its background: a
// later answer would recolour what is being read.
const backgroundWithin = 200 * time.Millisecond

func (m *Model) askBackground() tea.Cmd {
	m.look.asked = time.Now()
	return tea.RequestBackgroundColor
}

func (m *Model) setBackground(dark bool) {
	if !m.look.auto || time.Since(m.look.asked) > backgroundWithin || m.look.light == !dark {
		return
	}
	m.look.light = !dark
	m.relook()
}

func (m *Model) setTheme(t *theme.Theme) {
	m.look.theme = t
	m.relook()
}

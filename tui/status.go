package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// status is the text at the left of the status line that goes by itself.
type status struct {
	text, level string
	n           int
	// words, where not nil, are the text, by what is left until the moment.
	words func(left time.Duration) string
	until time.Time
}

type expireMsg struct{ n int }

func (s *status) set(m *Model, level, text string, ttl time.Duration) {
	s.n++
	s.text, s.level, s.words = text, level, nil
	n := s.n
	m.do(tea.Tick(ttl, func(time.Time) tea.Msg { return expireMsg{n} }))
}

// countDown shows a wait, and how much of it is left.
func (s *status) countDown(m *Model, level string, wait time.Duration, words func(left time.Duration) string) {
	s.set(m, level, words(wait), max(wait, 2*time.Second))
	s.words, s.until = words, time.Now().Add(wait)
}

// shown is the text now.
func (s *status) shown() string {
	if s.words == nil {
		return s.text
	}
	return s.words(max(time.Until(s.until), 0))
}

func (s *status) clear() { s.text, s.words = "", nil }

func (s *status) expire(e expireMsg) {
	if e.n == s.n {
		s.clear()
	}
}

// part is one piece of the status line; the least important go first where the
// screen is narrow.
type part struct {
	text   string
	token  style.Token
	weight int
}

// statusLine is one row: what goes on at the left, what holds at the right.
func (m *Model) statusLine(width int) string {
	s := m.sheet()
	left := m.activity()
	parts := m.facts()
	for {
		right := joinParts(parts, s)
		gap := width - screen.Width(left) - screen.Width(right)
		if gap >= 2 || len(parts) == 0 {
			return screen.Fit(left+strings.Repeat(" ", max(gap, 0))+right, width, s.Glyphs.Ellipsis)
		}
		least := 0
		for i, p := range parts {
			if p.weight < parts[least].weight {
				least = i
			}
		}
		parts = append(parts[:least:least], parts[least+1:]...)
	}
}

func joinParts(parts []part, s *style.Sheet) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = s.Paint(p.token, p.text)
	}
	return strings.Join(out, s.Paint(style.Muted, " "+s.Glyphs.Bar+" "))
}

// activity is the left side.
func (m *Model) activity() string {
	s := m.sheet()
	if m.status.text != "" {
		token := style.Status
		switch m.status.level {
		case "warn":
			token = style.Warn
		case "error":
			token = style.Error
		case "success":
			token = style.Success
		}
		return s.Paint(token, screen.Line(m.status.shown()))
	}
	if !m.working() {
		return ""
	}
	took := time.Since(m.since)
	spin := ""
	if m.opt.ReduceMotion {
		took = took.Truncate(5 * time.Second)
	} else {
		frames := s.Glyphs.Spinner
		spin = s.Paint(style.Spinner, frames[int(took/(100*time.Millisecond))%len(frames)]) + " "
	}
	return spin + s.Paint(style.Status, fmt.Sprintf("working %s, %s to stop", seconds(took), m.keys.First("cancel")))
}

func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// facts is the right side.
func (m *Model) facts() []part {
	var out []part
	add := func(weight int, token style.Token, text string) {
		if text != "" {
			out = append(out, part{screen.Line(text), token, weight})
		}
	}
	if m.transcript.NewBelow() {
		add(9, style.Warn, "new output below ("+m.keys.First("bottom")+")")
	} else if !m.transcript.Following() {
		add(3, style.Status, "scrolled")
	}
	if n := len(m.queue); n > 0 {
		add(7, style.Queue, fmt.Sprintf("queue %d", n))
	}
	if m.loading[0] > 0 {
		add(5, style.Status, fmt.Sprintf("extensions %d/%d", m.loading[1]-m.loading[0], m.loading[1]))
	}
	add(6, style.Warn, m.state.Permissions)
	switch {
	case m.state.Demo:
		add(8, style.Status, "demo: no model is asked")
	case m.state.Model == "":
		add(8, style.Warn, "no model")
	default:
		add(8, style.Status, m.state.Model)
	}
	if text, token := m.contextUse(); text != "" {
		add(4, token, text)
	}
	if m.state.CostKnown {
		add(2, style.Status, fmt.Sprintf("$%.2f", m.state.CostUSD))
	}
	return out
}

// contextUse says in words, too, when the window fills up.
func (m *Model) contextUse() (string, style.Token) {
	if m.state.ContextWindow <= 0 {
		return "", ""
	}
	percent := 100 * m.state.ContextUsed / m.state.ContextWindow
	switch {
	case percent >= 95:
		return fmt.Sprintf("context %d%% full!", percent), style.ContextFull
	case percent > 80:
		return fmt.Sprintf("context %d%% high", percent), style.ContextWarn
	}
	return fmt.Sprintf("context %d%%", percent), style.ContextOK
}

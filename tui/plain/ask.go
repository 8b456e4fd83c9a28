package plain

import (
	"strconv"
	"strings"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
)

// ask prints a question, or puts it behind the one that is open.
func (s *surface) ask(a tui.Ask) {
	q := dialog.NewQuestion(a, time.Now())
	if s.ended {
		q.Cancel()
		s.line("refused, as nobody can answer: %s", screen.Line(a.Title))
		return
	}
	s.asks = append(s.asks, q)
	if a.Withdrawn != nil {
		go func() { // ends with the question or with the surface
			select {
			case <-a.Withdrawn:
				select {
				case s.results <- func() { s.withdraw(q) }:
				case <-s.ctx.Done():
				}
			case <-s.ctx.Done():
			}
		}()
	}
	if len(s.asks) == 1 {
		s.printAsk()
	}
}

func (s *surface) withdraw(q *dialog.Question) {
	for i, open := range s.asks {
		if open == q {
			q.Cancel()
			s.asks = append(s.asks[:i:i], s.asks[i+1:]...)
			s.line("the question is not asked any more.")
			if i == 0 && len(s.asks) > 0 {
				s.printAsk()
			}
			return
		}
	}
}

func (s *surface) printAsk() {
	s.printer.flush()
	s.asks[0].Opened(time.Now())
	for i, l := range s.asks[0].Lines() {
		if i == 0 {
			l = "question: " + l
		}
		s.line("%s", l)
	}
	s.line("type a number and enter; ctrl+c refuses.")
}

func (s *surface) answer(l string) {
	if s.asks[0].TooSoon(time.Now()) {
		s.line("not taken, as it was typed before the question: %s", screen.Line(l))
		return
	}
	number, text, _ := strings.Cut(strings.TrimSpace(l), " ")
	n, err := strconv.Atoi(number)
	switch takes := s.asks[0].Takes(n); {
	case err == nil && takes != "" && text == "":
		s.line("type the number again, and behind it the %s.", takes)
		return
	case err == nil && takes != "":
		s.asks[0].Say(n-1, text)
	case err != nil || text != "" || !s.asks[0].Choose(n):
		s.line("that is none of the numbers.")
		return
	}
	s.nextAsk()
}

func (s *surface) nextAsk() {
	s.asks = s.asks[1:]
	if len(s.asks) > 0 {
		s.printAsk()
	}
}

// choice is a numbered list to pick from.
type choice struct {
	n    int
	pick func(int)
}

// offer prints a list. A list of nothing says so.
func (s *surface) offer(title string, rows []string, pick func(int)) {
	if len(rows) == 0 {
		s.line("%s: none", title)
		return
	}
	s.line("%s:", title)
	for i, r := range rows {
		s.line("  %d. %s", i+1, screen.Line(r))
	}
	if s.ended {
		return
	}
	s.line("type a number and enter; an empty line chooses nothing.")
	s.choosing = &choice{len(rows), pick}
}

func (s *surface) choose(l string) {
	l = strings.TrimSpace(l)
	if l == "" {
		s.choosing = nil
		s.line("nothing was chosen.")
		return
	}
	n, err := strconv.Atoi(l)
	if err != nil || n < 1 || n > s.choosing.n {
		s.line("that is none of the numbers 1 to %d.", s.choosing.n)
		return
	}
	pick := s.choosing.pick
	s.choosing = nil
	pick(n - 1)
}

// panel is the panel of an extension, as lines.
type panel struct {
	ext, id, title, footer string
	lines                  []string
	changed                bool
}

// panelQuiet is how long a panel must rest before it is printed: one that moves
// would talk without end.
const panelQuiet = 200 * time.Millisecond

func (p *panel) set(title string, lines []string, footer string) {
	if title != "" {
		p.title = title
	}
	p.lines, p.footer, p.changed = lines, footer, true
}

func (s *surface) openPanel(e event.ExtPanelOpen) {
	if s.panel != nil && (s.panel.ext != e.Extension || s.panel.id != e.ID) {
		s.rt.PanelClosed(s.panel.ext, s.panel.id)
	}
	s.panel = &panel{ext: e.Extension, id: e.ID, title: e.Extension}
	s.panel.set(e.Title, e.Lines, e.Footer)
	s.rt.PanelResize(e.Extension, e.ID, 80, 24)
	if s.ended {
		s.closePanel()
	}
}

func (s *surface) printPanel() {
	p := s.panel
	p.changed = false
	s.line("panel of %s: %s", screen.Line(p.ext), screen.Line(p.title))
	for _, l := range p.lines {
		s.line("  %s", strings.TrimRight(screen.Clean(l), " "))
	}
	if p.footer != "" {
		s.line("  %s", screen.Line(p.footer))
	}
	s.line("a line is typed into it; .up .down .enter and so on are keys; .close closes it.")
}

var panelKeys = []string{"up", "down", "left", "right", "enter", "esc", "tab", "home", "end", "pageup", "pagedown", "backspace", "delete"}

// panelLine sends a line to the panel: named keys after a dot, else its
// characters and nothing more.
func (s *surface) panelLine(l string) {
	p := s.panel
	word := strings.TrimSpace(l)
	if word == ".close" {
		s.closePanel()
		return
	}
	for _, k := range panelKeys {
		if word == "."+k {
			s.rt.PanelKey(p.ext, p.id, k, "")
			return
		}
	}
	if word == "" {
		s.rt.PanelKey(p.ext, p.id, "enter", "")
		return
	}
	for text := keys.PanelPaste(l); text != ""; {
		var c string
		c, text, _ = screen.Cluster(text)
		s.rt.PanelKey(p.ext, p.id, "rune", c)
	}
}

func (s *surface) closePanel() {
	p := s.panel
	s.panel = nil
	s.rt.PanelClosed(p.ext, p.id)
	s.line("panel of %s closed.", screen.Line(p.ext))
}

package dialog

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
	"github.com/patriceckhart/zot/tui/transcript"
)

// Kind says what a question is about.
type Kind string

// The kinds.
const (
	Confirm Kind = "confirm" // may this tool call run
	Trust   Kind = "trust"   // may this project's extensions and settings act
	Choice  Kind = "choice"  // anything else
)

// An Ask is a question that needs an answer. Exactly one of Options is handed
// to Answer, exactly once: the user's choice, or Cancel when they refuse, leave,
// or the question is withdrawn. Answer is called while the screen waits and must
// not block; sending to a channel with room for one is the usual way.
type Ask struct {
	Kind  Kind
	From  string // the extension that asks, or whose tool is asked about; or empty
	Title string
	// Command is the exact text that would run. It is shown whole, with every
	// hidden character spelled out.
	Command string
	Cwd     string
	Diff    string   // unified diff of what would change; or empty
	Body    []string // further lines, the most important first
	Options []Option
	Default int // option that is marked at first
	Cancel  int // option that Esc and Ctrl+C mean
	Answer  func(option int)
	// Text takes the line that was typed to an option that takes one, before
	// Answer; or nil.
	Text func(text string)
	// Withdrawn is closed when no answer is wanted any more; or nil.
	Withdrawn <-chan struct{}
}

// An Option is one possible answer. Detail says what follows from it, for
// instance the rule that "allow for session" would add.
type Option struct {
	Label, Detail string
	// Takes names what is to be typed before the option is the answer; empty
	// for an option that is one by itself.
	Takes string
}

// A Question shows an Ask.
type Question struct {
	ask    Ask
	opened time.Time
	chosen int
	scroll int
	most   int // furthest scroll of the last drawing
	page   int
	at     int // which of the questions that wait this is, from 1
	total  int // how many wait
	once   sync.Once
	typing *Input // the line of an option that takes one; or nil
}

// NewQuestion shows a at the time now.
func NewQuestion(a Ask, now time.Time) *Question {
	q := &Question{ask: a, opened: now, total: 1}
	if a.Default >= 0 && a.Default < len(a.Options) {
		q.chosen = a.Default
	}
	return q
}

// SetQueue says which of how many questions this is.
func (q *Question) SetQueue(at, of int) { q.at, q.total = at, of }

// Opened restarts the guard: the question came into view at now.
func (q *Question) Opened(now time.Time) { q.opened = now }

// TooSoon tells whether what was typed until now was typed before the question
// whether to trust a project could be seen, and so is no answer to it.
func (q *Question) TooSoon(now time.Time) bool {
	return q.ask.Kind == Trust && now.Sub(q.opened) < Guard
}

func (q *Question) answer(option int) {
	q.once.Do(func() {
		if q.ask.Answer != nil {
			q.ask.Answer(option)
		}
	})
}

// Cancel answers as Esc does.
func (q *Question) Cancel() { q.answer(q.ask.Cancel) }

// Paste does nothing: pasted text is no answer. It may be a part of the line
// that an option takes.
func (q *Question) Paste(text string) {
	if q.typing != nil {
		q.typing.Paste(text)
	}
}

// pick answers with an option, or opens its line; it reports whether the
// question is answered.
func (q *Question) pick(option int) bool {
	takes := q.Takes(option + 1)
	if takes == "" {
		q.answer(option)
		return true
	}
	q.chosen = option
	q.typing = &Input{
		Title: takes, Help: "enter sends it, esc goes back to the answers",
		Done:      func(text string) { q.Say(option, text) },
		Cancelled: func() { q.typing = nil },
	}
	return false
}

// Say answers with an option and the line that it takes.
func (q *Question) Say(option int, text string) {
	if text = strings.TrimSpace(text); text != "" && q.ask.Text != nil {
		q.ask.Text(text)
	}
	q.answer(option)
}

// Takes is what the option of that number, counted from 1, wants typed; or "".
func (q *Question) Takes(n int) string {
	if n < 1 || n > len(q.ask.Options) {
		return ""
	}
	return q.ask.Options[n-1].Takes
}

// Key moves, scrolls or answers.
func (q *Question) Key(k keys.Key, now time.Time) bool {
	if now.Sub(q.opened) < Guard {
		return false
	}
	if q.typing != nil && k.Chord != "ctrl+c" {
		return q.typing.Key(k, now) && q.typing != nil // going back leaves it open
	}
	switch k.Chord {
	case "esc", "ctrl+c":
		q.Cancel()
		return true
	case "enter", "ctrl+m":
		return q.pick(q.chosen)
	case "up", "shift+tab":
		q.chosen = (q.chosen + len(q.ask.Options) - 1) % max(len(q.ask.Options), 1)
	case "down", "tab":
		q.chosen = (q.chosen + 1) % max(len(q.ask.Options), 1)
	case "pgup":
		q.scroll = max(q.scroll-max(q.page-1, 1), 0)
	case "pgdown":
		q.scroll = min(q.scroll+max(q.page-1, 1), q.most)
	}
	if n, err := strconv.Atoi(k.Text); err == nil && n >= 1 && n <= len(q.ask.Options) {
		return q.pick(n - 1)
	}
	return false
}

// Rows draws title, body and options. The options are always in view: the body
// is cut, and scrolls.
func (q *Question) Rows(width, height int, s *style.Sheet) ([]string, int, int) {
	hint := ""
	if q.total > 1 {
		hint = fmt.Sprintf("%d of %d", q.at, q.total)
	}
	rows := []string{bar(q.title(), hint, "", width, s)}
	options, x, y := q.foot(width, height-1, s)
	room := max(height-1-len(options), 0)
	body := q.body(width, s)
	if len(body) > room {
		body = q.window(body, room, width, s)
	}
	above := len(rows) + len(body)
	rows = append(append(rows, body...), options...)
	if y >= 0 {
		y += above
	}
	return rows[:min(len(rows), max(height, 0))], x, y
}

// foot is what the user acts on: the answers, or the line of one. The place is
// the cursor's, or -1.
func (q *Question) foot(width, height int, s *style.Sheet) (rows []string, x, y int) {
	if q.typing != nil {
		return q.typing.Rows(width, height, s)
	}
	return q.options(width, height, s), -1, -1
}

func (q *Question) title() string {
	if q.ask.From != "" {
		return "[" + screen.Line(q.ask.From) + "] " + q.ask.Title
	}
	return q.ask.Title
}

// window is the part of the body in view, with a last row that says how much
// more there is.
func (q *Question) window(body []string, room, width int, s *style.Sheet) []string {
	if room <= 1 {
		return nil
	}
	room--
	q.page, q.most = room, len(body)-room
	q.scroll = min(q.scroll, q.most)
	part := append([]string(nil), body[q.scroll:q.scroll+room]...)
	more := fmt.Sprintf("rows %d-%d of %d (pgup, pgdn)", q.scroll+1, q.scroll+room, len(body))
	return append(part, screen.Fit("  "+s.Paint(style.Muted, more), width, ""))
}

func (q *Question) body(width int, s *style.Sheet) []string {
	var rows []string
	indent := screen.Span{Text: "  "}
	wrap := func(text string, t style.Token, hard bool) {
		rows = append(rows, screen.Wrapper{Width: width, First: indent, Rest: indent, Hard: hard}.
			Rows([]screen.Span{s.Span(t, text)})...)
	}
	if q.ask.Command != "" {
		wrap(screen.Visible(q.ask.Command), style.Code, true)
	}
	if q.ask.Cwd != "" {
		wrap("in "+screen.Visible(q.ask.Cwd), style.Muted, true)
	}
	for _, l := range q.ask.Body {
		wrap(screen.Visible(l), style.FG, false)
	}
	if q.ask.Diff != "" {
		for _, r := range transcript.DiffRows(screen.Visible(q.ask.Diff), max(width-2, 2), s) {
			rows = append(rows, "  "+r)
		}
	}
	return rows
}

func (q *Question) options(width, height int, s *style.Sheet) []string {
	var rows []string
	at := 0
	for i, o := range q.ask.Options {
		label := fmt.Sprintf("%d. %s", i+1, screen.Line(o.Label))
		if o.Detail != "" && i == q.chosen {
			label += "  " + screen.Line(screen.Visible(o.Detail))
		}
		if i == q.chosen {
			at = len(rows)
		}
		rows = append(rows, pointed(label, i == q.chosen, width, s))
	}
	if len(rows) > height && height > 0 { // more answers than rows: the marked one stays
		from := min(max(at-height/2, 0), len(rows)-height)
		rows = rows[from : from+height]
	}
	return rows
}

// Lines are the question as plain text, for a surface without a screen.
func (q *Question) Lines() []string {
	lines := []string{screen.Line(q.title())}
	add := func(text string) {
		lines = append(lines, strings.Split(screen.Visible(text), "\n")...)
	}
	if q.ask.Command != "" {
		add(q.ask.Command)
	}
	if q.ask.Cwd != "" {
		add("in " + q.ask.Cwd)
	}
	for _, l := range q.ask.Body {
		add(l)
	}
	if q.ask.Diff != "" {
		add(strings.TrimRight(q.ask.Diff, "\n"))
	}
	for i, o := range q.ask.Options {
		l := fmt.Sprintf("  %d. %s", i+1, screen.Line(o.Label))
		if o.Detail != "" {
			l += " (" + screen.Line(o.Detail) + ")"
		}
		if i == q.ask.Default {
			l += " [default]"
		}
		lines = append(lines, l)
	}
	return lines
}

// Choose answers with the option of that number, counted from 1, and reports
// whether there is one.
func (q *Question) Choose(n int) bool {
	if n < 1 || n > len(q.ask.Options) {
		return false
	}
	q.answer(n - 1)
	return true
}

// Default answers with the option that is marked at first.
func (q *Question) Default() { q.answer(q.ask.Default) }

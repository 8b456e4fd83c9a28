package dialog

import (
	"fmt"
	"strings"
	"time"

	"github.com/sahilm/fuzzy"

	"github.com/patriceckhart/zot/tui/composer"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// An Item is one row of a picker.
type Item struct {
	Label  string
	Detail string // muted, after the label
	Search string // what the filter looks at; label and detail when empty
	Note   string // why it cannot be picked; or empty
	Indent int    // how deep it is in a tree
}

func (i Item) search() string {
	if i.Search != "" {
		return i.Search
	}
	return i.Label + " " + i.Detail
}

// A Picker is a list with a filter.
type Picker struct {
	Title string
	Items []Item
	// Pick is told the index of what was picked; Cancelled that nothing was.
	// Moved is told what is marked, for a preview. Each may be nil.
	Pick      func(index int)
	Cancelled func()
	Moved     func(index int)
	// Extra keys: a chord and what it does with the marked item. The picker
	// stays open unless the function returns true.
	Extra map[string]func(index int) bool
	Hint  string
	// About is told the marked item, and says more of it below the list; or nil.
	About func(index int) string

	filter  composer.Composer
	shown   []int // indexes of the items that pass the filter
	chosen  int   // index into shown
	first   int   // first of shown in view
	height  int
	settled bool
}

// Start marks the item with that index.
func (p *Picker) Start(index int) *Picker {
	p.apply()
	for i, n := range p.shown {
		if n == index {
			p.chosen = i
		}
	}
	return p
}

// Filter sets the filter's text.
func (p *Picker) Filter(text string) *Picker {
	p.filter.SetText(text)
	p.apply()
	return p
}

// Replace puts other items in place and keeps the filter.
func (p *Picker) Replace(items []Item) {
	p.Items = items
	p.apply()
}

func (p *Picker) apply() {
	p.settled = true
	p.shown = p.shown[:0]
	p.chosen, p.first = 0, 0
	query := strings.TrimSpace(p.filter.Text())
	if query == "" {
		for i := range p.Items {
			p.shown = append(p.shown, i)
		}
		return
	}
	exact := strings.ToLower(query)
	var rest []int
	texts := make([]string, 0, len(p.Items))
	for i, it := range p.Items {
		text := strings.ToLower(it.search())
		if strings.Contains(text, exact) {
			p.shown = append(p.shown, i)
			continue
		}
		rest = append(rest, i)
		texts = append(texts, text)
	}
	for _, m := range fuzzy.Find(exact, texts) {
		p.shown = append(p.shown, rest[m.Index])
	}
}

// Marked is the index of the marked item, or -1.
func (p *Picker) Marked() int {
	if !p.settled {
		p.apply()
	}
	if p.chosen < len(p.shown) {
		return p.shown[p.chosen]
	}
	return -1
}

// Cancel closes without a choice.
func (p *Picker) Cancel() {
	if p.Cancelled != nil {
		p.Cancelled()
	}
}

// Paste adds to the filter.
func (p *Picker) Paste(text string) {
	p.filter.Insert(screen.Line(text))
	p.apply()
}

// Key moves, filters or picks.
func (p *Picker) Key(k keys.Key, _ time.Time) bool {
	if !p.settled {
		p.apply()
	}
	before := p.Marked()
	if f, ok := p.Extra[k.Chord]; ok {
		return before >= 0 && f(before)
	}
	switch k.Chord {
	case "esc", "ctrl+c":
		p.Cancel()
		return true
	case "enter", "ctrl+m":
		if before < 0 || p.Items[before].Note != "" {
			return false
		}
		if p.Pick != nil {
			p.Pick(before)
		}
		return true
	case "up", "ctrl+p", "shift+tab":
		p.chosen = wrap(p.chosen-1, len(p.shown))
	case "down", "ctrl+n", "tab":
		p.chosen = wrap(p.chosen+1, len(p.shown))
	case "pgup":
		p.chosen = max(p.chosen-max(p.height-1, 1), 0)
	case "pgdown":
		p.chosen = max(min(p.chosen+max(p.height-1, 1), len(p.shown)-1), 0)
	case "home":
		p.chosen = 0
	case "end":
		p.chosen = max(len(p.shown)-1, 0)
	case "backspace", "ctrl+h":
		p.filter.Do(composer.Backspace)
		p.apply()
	case "ctrl+u":
		p.filter.Clear()
		p.apply()
	default:
		if k.Text != "" {
			p.filter.Insert(k.Text)
			p.apply()
		}
	}
	if after := p.Marked(); after != before && after >= 0 && p.Moved != nil {
		p.Moved(after)
	}
	return false
}

func wrap(i, n int) int {
	if n == 0 {
		return 0
	}
	return (i + n) % n
}

// Rows draws the title, the filter and as many items as there is room for.
func (p *Picker) Rows(width, height int, s *style.Sheet) ([]string, int, int) {
	if !p.settled {
		p.apply()
	}
	rows := []string{bar(p.Title, fmt.Sprintf("%d of %d", len(p.shown), len(p.Items)), p.Hint, width, s)}
	filter, x, _ := p.filter.Rows(width, 1, s.Glyphs.Prompt+" ", s)
	rows = append(rows, filter...)
	about := p.about(width, height, s)
	p.height = max(height-2-len(about), 0)
	if p.chosen < p.first {
		p.first = p.chosen
	} else if p.height > 0 && p.chosen >= p.first+p.height {
		p.first = p.chosen - p.height + 1
	}
	p.first = max(min(p.first, len(p.shown)-p.height), 0)
	for i := p.first; i < len(p.shown) && i < p.first+p.height; i++ {
		rows = append(rows, p.row(p.Items[p.shown[i]], i == p.chosen, width, s))
	}
	if len(p.shown) == 0 && p.height > 0 {
		rows = append(rows, screen.Fit("  "+s.Paint(style.Muted, "nothing matches"), width, ""))
	}
	rows = append(rows, about...)
	if len(rows) > height {
		rows = rows[:max(height, 0)]
	}
	return rows, x, min(1, len(rows)-1)
}

// fewestItems is how many rows the list keeps before any go to what is said of
// the marked item.
const fewestItems = 3

func (p *Picker) about(width, height int, s *style.Sheet) []string {
	at := p.Marked()
	if p.About == nil || at < 0 {
		return nil
	}
	indent := s.Span(style.Muted, "  ")
	rows := screen.Wrapper{Width: width, First: indent, Rest: indent}.Rows([]screen.Span{s.Span(style.Muted, screen.Display(screen.Line(p.About(at))))})
	return rows[:max(min(len(rows), height-2-fewestItems), 0)]
}

func (p *Picker) row(it Item, chosen bool, width int, s *style.Sheet) string {
	text := strings.Repeat("  ", min(it.Indent, 12)) + screen.Display(screen.Line(it.Label))
	if it.Detail != "" {
		text += s.Paint(style.Muted, "  "+screen.Display(screen.Line(it.Detail)))
	}
	if it.Note != "" {
		text += s.Paint(style.Warn, "  ("+screen.Line(it.Note)+")")
	}
	return pointed(text, chosen, width, s)
}

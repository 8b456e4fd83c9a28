package panel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

var sheet = style.New(style.Default(false), style.TrueColor, false)

func TestNobodyIsLockedIn(t *testing.T) {
	now := time.Unix(100, 0)
	esc, ctrlC := keys.Key{Chord: "esc", Panel: "esc"}, keys.Key{Chord: "ctrl+c"}
	p := New("todo", "1", "", nil, "", nil, true)
	if p.Key(esc, now) != Close || p.Key(ctrlC, now) != Close {
		t.Error("esc and ctrl+c must close a panel")
	}
	p = New("game", "1", "", nil, "", []string{"esc"}, true)
	if got := p.Key(esc, now); got != Send {
		t.Errorf("first esc: %v, want it sent", got)
	}
	if got := p.Key(esc, now.Add(500*time.Millisecond)); got != Close {
		t.Errorf("second esc within a second: %v, want close", got)
	}
	if got := p.Key(esc, now.Add(5*time.Second)); got != Send {
		t.Errorf("esc later: %v, want it sent", got)
	}
	if got := p.Key(ctrlC, now); got != Close {
		t.Errorf("ctrl+c: %v, want close", got)
	}
}

func TestHostileLinesStayInside(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("\x1b[2J\x1b[H\x1b]0;t\x07%d %s\x1b[31m red\x1b[5;1000H", i, strings.Repeat("宽", 300)))
	}
	for _, w := range []int{20, 33, 80} {
		for _, h := range []int{1, 2, 4, 12} {
			p := New("evil\x1b[2J", "1", "t\nx", lines, "foot\x1b[2J", nil, true)
			rows := p.Rows(w, h, "", sheet)
			if len(rows) > h {
				t.Fatalf("%d rows of %d", len(rows), h)
			}
			for _, r := range rows {
				if screen.Width(r) > w || strings.Contains(r, "\n") {
					t.Fatalf("row %q at width %d", r, w)
				}
				if strings.Contains(r, "\x1b[2J") || strings.Contains(r, "\x1b]") || strings.Contains(r, "H") {
					t.Fatalf("row %q moves the cursor", r)
				}
				if strings.Contains(r, "\x1b") && !strings.HasSuffix(r, screen.Reset) {
					t.Fatalf("row %q leaves its colours on", r)
				}
			}
		}
	}
	if p := New("e", "1", "", lines, "", nil, true); len(p.lines) != MaxLines {
		t.Errorf("%d lines kept, want %d", len(p.lines), MaxLines)
	}
}

func TestSelectedLineStaysInView(t *testing.T) {
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = fmt.Sprintf("  item %d", i)
	}
	lines[40] = "▸ item 40"
	p := New("todo", "1", "todos", lines, "a add", nil, true)
	got := screen.Clean(strings.Join(p.Rows(40, 10, "", sheet), "\n"))
	for _, want := range []string{"─ todo: todos", "▸ item 40", "a add"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	for range 60 {
		p.Key(keys.Key{Chord: "ctrl+up"}, time.Time{})
	}
	if got := screen.Clean(strings.Join(p.Rows(40, 10, "", sheet), "\n")); !strings.Contains(got, "item 0") {
		t.Errorf("not scrolled up:\n%s", got)
	}
}

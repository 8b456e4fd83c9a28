package dialog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

var (
	mono = style.New(style.Default(false), style.Mono, false)
	t0   = time.Unix(1000, 0)
	late = t0.Add(time.Second)
)

func press(chord string) keys.Key {
	k := keys.Key{Chord: chord}
	if len([]rune(chord)) == 1 {
		k.Text = chord
	}
	return k
}

func rows(d Dialog, w, h int) string {
	r, _, _ := d.Rows(w, h, mono)
	for i := range r {
		r[i] = strings.TrimRight(screen.Clean(r[i]), " ")
	}
	return strings.Join(r, "\n")
}

func ask(got *[]int) Ask {
	return Ask{Kind: Confirm, From: "shell", Title: "run a command?", Command: "rm -rf x \x1b[2K\u202e", Cwd: "/tmp",
		Options: []Option{{Label: "allow"}, {Label: "allow for session", Detail: "bash: rm *"}, {Label: "deny"}},
		Default: 0, Cancel: 2, Answer: func(i int) { *got = append(*got, i) }}
}

// An option may take a line, which comes before the answer; going back leaves
// the question open, and pasted text is a part of the line.
func TestAnOptionTakesALine(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		text string
		want int
	}{
		{[]string{"4", "n", "o", "enter"}, "no", 3}, {[]string{"up", "enter", "x", "enter"}, "x", 3},
		{[]string{"4", "enter"}, "", 3}, {[]string{"4", "x", "esc", "2"}, "", 1}, {[]string{"4", "x", "ctrl+c"}, "", 2},
		{[]string{"4", "2", "enter"}, "2", 3}, {[]string{"4", "paste", "enter"}, "because of x", 3},
	} {
		var got []int
		var text string
		a := ask(&got)
		a.Options = append(a.Options, Option{Label: "no, and say why", Takes: "reason"})
		a.Text = func(s string) { text = s }
		q := NewQuestion(a, t0)
		for _, k := range tc.keys {
			if k == "paste" {
				q.Paste("because\nof x")
				continue
			}
			q.Key(press(k), late)
		}
		if len(got) != 1 || got[0] != tc.want || text != tc.text {
			t.Errorf("%v: answers %v with %q, want [%d] with %q", tc.keys, got, text, tc.want, tc.text)
		}
	}
	var got []int
	a := ask(&got)
	a.Options = append(a.Options, Option{Label: "no, and say why", Takes: "reason"})
	q := NewQuestion(a, t0)
	q.Key(press("4"), late)
	q.Key(press("h"), late)
	if text := rows(q, 40, 12); !strings.Contains(text, "reason") || !strings.Contains(text, "› h") || !strings.Contains(text, "rm -rf x") {
		t.Errorf("shows\n%s", text)
	}
}

func TestQuestionIsAnsweredOnce(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		want int
	}{
		{[]string{"enter"}, 0}, {[]string{"2"}, 1}, {[]string{"down", "down", "enter"}, 2}, {[]string{"up", "enter"}, 2},
		{[]string{"esc"}, 2}, {[]string{"ctrl+c"}, 2}, {[]string{"9", "x", "3"}, 2},
	} {
		var got []int
		q := NewQuestion(ask(&got), t0)
		for _, k := range tc.keys {
			q.Key(press(k), late)
		}
		q.Key(press("enter"), late)
		q.Cancel()
		if len(got) != 1 || got[0] != tc.want {
			t.Errorf("%v: answers %v, want [%d]", tc.keys, got, tc.want)
		}
	}
}

func TestKeysJustAfterOpeningDoNotAnswer(t *testing.T) {
	var got []int
	q := NewQuestion(ask(&got), t0)
	for _, k := range []string{"enter", "1", "esc"} {
		if q.Key(press(k), t0.Add(249*time.Millisecond)) {
			t.Errorf("%s closed the question", k)
		}
	}
	if len(got) != 0 {
		t.Fatalf("answered %v", got)
	}
	if !q.Key(press("1"), t0.Add(251*time.Millisecond)) || len(got) != 1 {
		t.Errorf("a later key does not answer: %v", got)
	}
}

func TestCommandIsShownExactly(t *testing.T) {
	var got []int
	out := rows(NewQuestion(ask(&got), t0), 60, 12)
	for _, want := range []string{"[shell] run a command?", `rm -rf x ^[[2K\u{202e}`, "in /tmp", "▸ 1. allow", "2. allow for session", "3. deny"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

func TestOptionsAreNeverCutByTheBody(t *testing.T) {
	var got []int
	a := ask(&got)
	for i := range 300 {
		a.Body = append(a.Body, fmt.Sprintf("body line %d", i))
	}
	a.Command = strings.Repeat("long command ", 400)
	q := NewQuestion(a, t0)
	for h := 4; h < 20; h++ {
		out := rows(q, 80, h)
		if n := strings.Count(out, "\n") + 1; n > h {
			t.Errorf("%d rows of %d", n, h)
		}
		for _, want := range []string{"1. allow", "2. allow for", "3. deny"} {
			if !strings.Contains(out, want) {
				t.Errorf("height %d lacks %q:\n%s", h, want, out)
			}
		}
	}
	rows(q, 80, 12)
	for range 200 {
		q.Key(press("pgdown"), late)
	}
	if out := rows(q, 80, 12); !strings.Contains(out, "body line 299") {
		t.Errorf("the end cannot be reached:\n%s", out)
	}
}

func TestPickerFiltersAndPicks(t *testing.T) {
	picked := -1
	var moved []int
	p := &Picker{Title: "sessions", Pick: func(i int) { picked = i }, Moved: func(i int) { moved = append(moved, i) }}
	for i := range 40 {
		p.Items = append(p.Items, Item{Label: fmt.Sprintf("session %d", i), Detail: "yesterday"})
	}
	p.Key(press("down"), t0)
	if out := rows(p, 40, 8); !strings.Contains(out, "▸ session 1") || !strings.Contains(out, "40 of 40") {
		t.Errorf("got:\n%s", out)
	}
	p.Key(press("end"), t0)
	if out := rows(p, 40, 8); !strings.Contains(out, "▸ session 39") {
		t.Errorf("end not in view:\n%s", out)
	}
	p.Key(press("3"), t0)
	p.Key(press("7"), t0)
	p.Key(press("enter"), t0)
	if picked != 37 {
		t.Errorf("picked %d, want 37", picked)
	}
	if fmt.Sprint(moved) != "[1 39 3 37]" {
		t.Errorf("moved %v", moved)
	}
}

func TestPickerOfNothing(t *testing.T) {
	cancelled := false
	p := &Picker{Title: "x", Cancelled: func() { cancelled = true }}
	for _, k := range []string{"up", "down", "enter", "z", "pgdown"} {
		if p.Key(press(k), t0) {
			t.Errorf("%s closed it", k)
		}
	}
	if out := rows(p, 40, 8); !strings.Contains(out, "nothing matches") {
		t.Errorf("got:\n%s", out)
	}
	if !p.Key(press("esc"), t0) || !cancelled {
		t.Error("esc did not cancel")
	}
}

func TestSecretInputIsHidden(t *testing.T) {
	got := ""
	in := &Input{Title: "key", Secret: true, Done: func(s string) { got = s }}
	in.Paste(" sk-123\n")
	in.Key(press("4"), t0)
	if out := rows(in, 40, 5); strings.Contains(out, "sk-") || !strings.Contains(out, "*******") {
		t.Errorf("got:\n%s", out)
	}
	in.Key(press("enter"), t0)
	if got != "sk-1234" {
		t.Errorf("done with %q", got)
	}
}

func TestDialogsFit(t *testing.T) {
	var got []int
	a := ask(&got)
	a.Diff = "@@ -1 +1 @@\n-宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽\n+" + strings.Repeat("x", 200)
	items := []Item{{Label: strings.Repeat("宽", 60), Detail: "d", Note: "n"}, {Label: "b"}}
	for w := 20; w < 90; w += 7 {
		for h := 1; h < 14; h++ {
			for _, d := range []Dialog{NewQuestion(a, t0), &Picker{Title: "p", Items: items}, &Input{Title: "i", Help: "help"}} {
				r, x, y := d.Rows(w, h, style.New(style.Default(false), style.TrueColor, false))
				if len(r) > h || x >= w || y >= len(r) {
					t.Fatalf("%T at %dx%d: %d rows, caret %d,%d", d, w, h, len(r), x, y)
				}
				for _, row := range r {
					if screen.Width(row) > w || strings.Contains(row, "\n") {
						t.Fatalf("%T at %d: %q", d, w, row)
					}
				}
			}
		}
	}
}

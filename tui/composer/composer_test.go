package composer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

var mono = style.New(style.Default(false), style.Mono, false)

func do(c *Composer, steps ...Step) {
	for _, s := range steps {
		c.Do(s)
	}
}

func TestWholeCharactersAreDeleted(t *testing.T) {
	for _, in := range []string{"👨‍👩‍👧", "e\u0301", "🇩🇪", "宽", "👍🏽", "❤️", "각"} {
		var c Composer
		c.Insert("a")
		for _, r := range in {
			c.Insert(string(r)) // as a terminal sends it
		}
		c.Insert("b")
		do(&c, Left, Backspace)
		if got := c.Text(); got != "ab" {
			t.Errorf("%q: left %q", in, got)
		}
	}
}

func TestCaretColumn(t *testing.T) {
	var c Composer
	c.Insert("ab宽é")
	_, x, y := c.Rows(40, 5, "› ", mono)
	if x != 7 || y != 0 {
		t.Errorf("caret at %d,%d, want 7,0", x, y)
	}
	do(&c, Left, Left)
	if _, x, _ = c.Rows(40, 5, "› ", mono); x != 4 {
		t.Errorf("after two lefts: %d, want 4", x)
	}
	do(&c, LineStart)
	if _, x, _ = c.Rows(40, 5, "› ", mono); x != 2 {
		t.Errorf("after home: %d, want 2", x)
	}
}

func TestLongPasteIsOneToken(t *testing.T) {
	var c Composer
	text := strings.Repeat("line\twith \u200b odd\n", 200)
	c.Insert("see: ")
	c.Paste(strings.ReplaceAll(text, "\n", "\r\n"))
	if got := c.Shown(); got != "see: [paste #1 +200 lines]" {
		t.Errorf("shown %q", got)
	}
	if got := c.Text(); got != "see: "+text {
		t.Errorf("sent text differs (%d bytes, want %d)", len(got), len(text)+5)
	}
	do(&c, Backspace)
	if got := c.Shown(); got != "see: " {
		t.Errorf("after backspace: %q", got)
	}
	do(&c, Undo)
	if got := c.Text(); got != "see: "+text {
		t.Error("undo did not bring the paste back")
	}
}

func TestPasteIsHarmless(t *testing.T) {
	var c Composer
	c.Paste("a\x1b[31mred\x1b[0m\tb\x1b]52;c;xx\x07\rc\x00\x7f\u009b2Jd")
	if got, want := c.Text(), "ared\tb\ncd"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	rows, _, _ := c.Rows(40, 5, "> ", mono)
	if strings.Contains(strings.Join(rows, ""), "\t") {
		t.Errorf("a tab in %q", rows)
	}
}

func TestUndoRedoAndKills(t *testing.T) {
	var c Composer
	c.Insert("one")
	c.Insert(" ")
	c.Insert("two")
	do(&c, KillWord)
	if c.Text() != "one " {
		t.Fatalf("after kill: %q", c.Text())
	}
	do(&c, KillWord, Yank)
	if c.Text() != "one two" {
		t.Errorf("kills in a row are one: %q", c.Text())
	}
	do(&c, Undo, Undo, Undo)
	if c.Text() != "one two" {
		t.Errorf("after three undos: %q", c.Text())
	}
	do(&c, Undo)
	if c.Text() != "one" {
		t.Errorf("after four undos: %q", c.Text())
	}
	do(&c, Redo)
	if c.Text() != "one two" {
		t.Errorf("after redo: %q", c.Text())
	}
	do(&c, Start, KillToEnd, Left)
	c.Insert("x")
	do(&c, KillToHome, Yank, YankPop)
	if c.Text() != "one two" {
		t.Errorf("yank-pop: %q", c.Text())
	}
}

func TestUpAndDownMoveInsideFirst(t *testing.T) {
	var c Composer
	var h History
	h.Load([]string{"older", "old"})
	c.Insert("first\nsecond row")
	c.Rows(40, 5, "> ", mono)
	if !c.Do(Up) || c.Before() != "first" {
		t.Fatalf("up went to %q", c.Before())
	}
	if c.Do(Up) {
		t.Error("up in the first row did something")
	}
	for _, want := range []string{"old", "older"} {
		if h.Previous(&c); c.Text() != want {
			t.Errorf("history: %q, want %q", c.Text(), want)
		}
	}
	h.Next(&c)
	h.Next(&c)
	if c.Text() != "first\nsecond row" {
		t.Errorf("back at the draft: %q", c.Text())
	}
}

func TestHistoryWithoutEntries(t *testing.T) {
	var h History
	h.Limit(-1)
	h.Load([]string{"older"})
	h.Add("old")
	if got := h.Items(); len(got) != 0 {
		t.Errorf("remembered %q", got)
	}
}

func TestLayoutBreaksAfterSpaces(t *testing.T) {
	var c Composer
	c.Insert("hello wide world")
	rows, x, y := c.Rows(11, 5, "> ", mono)
	for i := range rows {
		rows[i] = screen.Clean(rows[i])
	}
	if got := strings.Join(rows, "|"); got != "> hello |  wide |  world" || x != 7 || y != 2 {
		t.Errorf("%q, caret %d,%d", got, x, y)
	}
}

func TestImages(t *testing.T) {
	var c Composer
	c.AddImage(message.Image{MIMEType: "image/png", Data: []byte("x")}, "1x1 png 1 KB")
	c.Insert(" what?")
	if got := c.Shown(); got != "[image 1: 1x1 png 1 KB] what?" {
		t.Errorf("shown %q", got)
	}
	if len(c.Images()) != 1 || c.Text() != " what?" {
		t.Errorf("images %d, text %q", len(c.Images()), c.Text())
	}
}

// Rows fit, the caret is inside them, and no step loses text by itself.
func TestRandomEditing(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	texts := []string{"a", " ", "宽", "\u0301", "👍🏽", "\n", "word ", "\t", "🇩", "🇪", "\u200d"}
	var c Composer
	for i := range 6000 {
		switch rng.IntN(4) {
		case 0, 1:
			c.Insert(texts[rng.IntN(len(texts))])
		case 2:
			c.Do(Steps[rng.IntN(len(Steps))])
		case 3:
			if rng.IntN(20) == 0 {
				c.Paste(strings.Repeat("x\n", rng.IntN(30)))
			}
		}
		if len(c.buf) > 120 {
			c.Clear()
		}
		width, most := 8+rng.IntN(30), 1+rng.IntN(6)
		rows, x, y := c.Rows(width, most, "> ", mono)
		if len(rows) > most || y < 0 || y >= len(rows) || x < 0 || x >= width {
			t.Fatalf("step %d: %d rows of %d, caret %d,%d at width %d", i, len(rows), most, x, y, width)
		}
		for _, r := range rows {
			if screen.Width(r) > width {
				t.Fatalf("step %d: row %q wider than %d", i, r, width)
			}
		}
		if c.caret < 0 || c.caret > len(c.buf) {
			t.Fatalf("step %d: caret %d of %d", i, c.caret, len(c.buf))
		}
	}
}

func BenchmarkPaste5MB(b *testing.B) {
	text := strings.Repeat(fmt.Sprintln("some pasted line"), 5<<20/17)
	for b.Loop() {
		var c Composer
		c.Paste(text)
		c.Rows(80, 5, "> ", mono)
	}
}

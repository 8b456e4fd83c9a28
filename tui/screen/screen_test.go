package screen

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanTakesOutWhatMovesTheCursor(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"clear screen", "a\x1b[2Jb", "ab"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"clipboard, string terminator", "a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		{"device control", "a\x1bPq#0\x1b\\b", "ab"},
		{"eight-bit introducer", "a\u009b2Jb", "ab"},
		{"unfinished ends with the line", "a\x1b]0;x\nb", "a\nb"},
		{"sgr", "\x1b[31mred\x1b[m", "red"},
		{"charset", "a\x1b(0b", "ab"},
		{"crlf", "a\r\nb", "a\nb"},
		{"tab", "a\tb", "a    b"},
		{"bell and backspace", "a\a\bb", "ab"},
		{"order marks", "a\u202eb\u2066c", "abc"},
		{"bad bytes", "a\xffb", "a\ufffdb"},
		{"wide stays", "宽é", "宽é"},
		{"line separator", "a\u2028b", "a\nb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Clean(tc.in); got != tc.want {
				t.Errorf("Clean(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestCleanSGRKeepsColoursOnly(t *testing.T) {
	got := CleanSGR("\x1b[1;31mred\x1b[0m\x1b[2K\x1b[>4;2m\x1b[?25l")
	if want := "\x1b[1;31mred\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCleanerSeesSequencesCutBetweenPieces(t *testing.T) {
	in := "aé\x1b[2J宽\x1b]52;c;x\x1b\\z\r\nq\x1b[31mr\xe2\x82"
	want := Clean(in)
	for i := range len(in) {
		for j := i; j <= len(in); j++ {
			var c Cleaner
			got := c.Write(in[:i]) + c.Write(in[i:j]) + c.Write(in[j:]) + c.Flush()
			if got != want {
				t.Fatalf("cut at %d and %d: %q, want %q", i, j, got, want)
			}
		}
	}
}

func TestOutputOfAProgressBar(t *testing.T) {
	got := CleanOutput("10%\r50%\r100%\r\ndone\x1b[1A\n")
	if want := "100%\ndone\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVisibleShowsEveryByte(t *testing.T) {
	got := Visible("rm \x1b[2K\u202egnp\u200b\u00a0x\xff\t")
	if want := `rm ^[[2K\u{202e}gnp\u{200b}\u{a0}x\xff^I`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDisplayMakesWidthsAgree(t *testing.T) {
	for in, want := range map[string]int{
		"❤️": 1, "👍🏽": 2, "👨‍👩‍👧": 6, "宽": 2, "e\u0301": 1, "🇩🇪": 2, "，": 2,
	} {
		c, rest, w := Cluster(in)
		if c != in || rest != "" || w != want {
			t.Errorf("Cluster(%q) = %q, %q, %d; want the whole, width %d", in, c, rest, w, want)
		}
	}
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	rows := Wrapper{Width: 10, First: Span{Text: "- "}, Rest: Span{Text: "  "}}.
		Rows([]Span{{Text: "one two "}, {Text: "three", SGR: "\x1b[1m"}, {Text: " fourteenlettersx"}})
	want := []string{"- one two", "  \x1b[1mthree\x1b[m", "  fourteen", "  lettersx"}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", rows, want)
	}
}

func TestHardWrapKeepsSpaces(t *testing.T) {
	rows := Wrapper{Width: 4, Hard: true}.Rows([]Span{{Text: "  a  bcd"}})
	if want := "  a | bcd"; strings.Join(rows, "|") != want {
		t.Errorf("got %q, want %q", rows, want)
	}
}

// No row is wider than asked, whatever is put in, and nothing but white space
// is lost.
func TestWrapNeverExceedsItsWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "bb ", "宽宽", " ", "   ", "é", "👨‍👩‍👧", "🇩🇪", "longlonglong", "\n", "❤️"}
	for range 2000 {
		var spans []Span
		for range rng.IntN(8) {
			sgr := ""
			if rng.IntN(2) == 0 {
				sgr = "\x1b[1m"
			}
			spans = append(spans, Span{words[rng.IntN(len(words))], sgr})
		}
		w := Wrapper{Width: 2 + rng.IntN(12), Hard: rng.IntN(2) == 0, Rest: Span{Text: strings.Repeat(" ", rng.IntN(4))}}
		rows := w.Rows(spans)
		text := ""
		for _, r := range rows {
			if Width(r) > w.Width {
				t.Fatalf("row %q is wider than %d (spans %q)", r, w.Width, spans)
			}
			text += Clean(r)
		}
		want := ""
		for _, s := range spans {
			want += Clean(Display(s.Text))
		}
		if w.Width >= 6 && squeeze(text) != squeeze(want) {
			t.Fatalf("text %q, want %q (width %d, spans %q)", squeeze(text), squeeze(want), w.Width, spans)
		}
	}
}

func squeeze(s string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(s)
}

func TestSafe(t *testing.T) {
	for row, want := range map[string]bool{
		"plain 宽 é": true, "\x1b[1;38:5:1mred\x1b[m": true, "": true,
		"a\x1b[2J": false, "a\nb": false, "\x1b]0;t\a": false, "a\x1b": false, "a\x1b[": false, "\x1bm": false,
		"a\u202eb": false, "a\u009b": false, "a\xff": false, "\t": false,
	} {
		if got := Safe(row); got != want {
			t.Errorf("Safe(%q) = %v", row, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J\x1b]0;x\x07")
	f.Fuzz(func(t *testing.T, s string) {
		out := Clean(s)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		for _, r := range out {
			if r != '\n' && Hidden(r) {
				t.Fatalf("%q left in %q", r, out)
			}
		}
		kept := CleanSGR(s)
		for _, row := range strings.Split(kept, "\n") {
			if !Safe(row) {
				t.Fatalf("not safe: %q", row)
			}
		}
		if rest := Clean(kept); strings.Contains(rest, "\x1b") {
			t.Fatalf("escape left: %q", rest)
		}
	})
}

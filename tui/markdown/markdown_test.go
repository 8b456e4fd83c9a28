package markdown

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

var mono = style.New(style.Default(false), style.Mono, false)

func plainText(rows []string) string {
	for i, r := range rows {
		rows[i] = screen.Clean(r)
	}
	return strings.Join(rows, "\n")
}

func TestRender(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"heading and paragraph", "# Title\n\nSome **bold** and `code`.", 40, "Title\n\nSome bold and code."},
		{"soft breaks join, hard breaks break", "a\nb  \nc", 40, "a b\nc"},
		{"list", "- one\n- two words here\n  - inner\n\n3. x\n4. y", 12, "• one\n• two words\n  here\n  • inner\n\n3. x\n4. y"},
		{"tasks", "- [x] done\n- [ ] open", 40, "• [x] done\n• [ ] open"},
		{"quote", "> said\n> twice\n>\n> more", 40, "│ said twice\n│\n│ more"},
		{"code keeps its columns", "```go\nfunc  f() {\n    x\n}\n```", 40, "  func  f() {\n      x\n  }"},
		{"link shows where it goes", "[here](https://x.example) <https://y.example>", 60, "here (https://x.example) https://y.example"},
		{"table", "| a | num |\n|---|----:|\n| x | 1 |\n| long | 22 |", 40, "a    │ num\n─────+────\nx    │   1\nlong │  22"},
		{"table too narrow", "| name | value | more |\n|--|--|--|\n| abcdefgh | ijklmnop | q |", 12, "name:\nabcdefgh\nvalue:\nijklmnop\nmore: q"},
		{"escapes", `\*not\* &amp; &#65; &nope; \a`, 40, `*not* & A &nope; \a`},
		{"a reference cannot spell an escape", "x&#27;[2Jy", 40, "x[2Jy"},
		{"rule", "a\n\n---\n\nb", 4, "a\n\n────\n\nb"},
		{"html is text", "<b>x</b>\n\n<div>\ny\n</div>", 40, "<b>x</b>\n\n<div>\ny\n</div>"},
		{"reference link", "[a][b]\n\n[b]: https://x.example", 40, "a (https://x.example)"},
		{"wide", "宽宽宽宽", 5, "宽宽\n宽宽"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := plainText(Render(tc.in, Options{Width: tc.width, Sheet: mono}))
			if got != tc.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
}

func TestCodeIsColouredAndKeepsItsRows(t *testing.T) {
	sheet := style.New(style.Default(false), style.TrueColor, false)
	src := "```go\n// why\nfunc main() { return \"x\" }\n```\n"
	coloured := Render(src, Options{Width: 30, Sheet: sheet})
	plain := Render(src, Options{Width: 30, Sheet: sheet, Plain: true})
	if !strings.Contains(strings.Join(coloured, ""), sheet.SGR(style.SynKeyword)) {
		t.Errorf("no keyword colour in %q", coloured)
	}
	if plainText(coloured) != plainText(plain) {
		t.Errorf("coloured rows differ in text:\n%s\nplain:\n%s", plainText(coloured), plainText(plain))
	}
}

// streamed renders src as a stream of random pieces would leave it.
func streamed(src string, o Options, rng *rand.Rand) []string {
	var s Stream
	var pieces []string
	for rest := src; rest != ""; {
		n := min(1+rng.IntN(9), len(rest))
		pieces = append(pieces, s.Append(rest[:n])...)
		s.TailRows(o)
		rest = rest[n:]
	}
	pieces = append(pieces, s.Finish()...)
	o.Refs = s.Refs()
	return joined(pieces, o)
}

func joined(pieces []string, o Options) []string {
	var rows []string
	for _, p := range pieces {
		if r := Render(p, o); len(r) > 0 {
			if len(rows) > 0 {
				rows = append(rows, "")
			}
			rows = append(rows, r...)
		}
	}
	return rows
}

func withoutBlank(rows []string) string {
	var out []string
	for _, r := range rows {
		if strings.TrimSpace(screen.Clean(r)) != "" {
			out = append(out, r)
		}
	}
	return strings.Join(out, "\n")
}

var documents = []string{
	"# A\n\npara one\nstill one\n\n- a\n- b\n\n  more b\n- c\n\n1. x\n2. y\n\n> q\n> r\nlazy\n\n```go\nfunc f() {}\n\n// x\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\nend",
	"````md\n```\ninner\n```\n````\n\nafter\n\n    indented\n\n    more\n\ntext",
	"- a\n\n\n- b\n-\n\n- c\n\npara\n***\nsetext\n===\n\nx\n---\n",
	"<div>\nhtml\n\n</div>\n\n<!-- c\n\nd -->\n\ntext [a](b) ![i](j) `c`\n~~~\nx\n~~~\nlast **bold",
	"2. two\n. y\n\n1) a\n2) b\n\n- x\n  > q\n  > ```\n  > code\n  > ```\n\nend\n",
	"[a]: https://x.example\n\n[a] and [a][a]\n\n\nend",
	"```\nnever closed\nmore\n\nand more",
}

func TestStreamedEqualsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i, doc := range documents {
		for _, width := range []int{20, 60} {
			o := Options{Width: width, Sheet: mono}
			want := withoutBlank(Render(doc, o))
			for range 60 {
				if got := withoutBlank(streamed(doc, o, rng)); got != want {
					t.Fatalf("document %d at width %d:\n%s\nwant:\n%s", i, width, got, want)
				}
			}
		}
	}
}

func TestStreamedEqualsWholeForRandomDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	words := []string{"\n", "\n", "\n\n", "- ", "1. ", "2) ", "> ", "```\n", "~~~\n", "    ", "  ", "a", "b c", "# ", "---\n", "===\n", "| a | b |\n|--|--|\n", "| c |", "<div>", "**x**", "`y`", "***\n", "-\n"}
	o := Options{Width: 40, Sheet: mono}
	for range 3000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		doc := b.String()
		want := withoutBlank(Render(doc, o))
		if got := withoutBlank(streamed(doc, o, rng)); got != want {
			t.Fatalf("document %q:\n%s\nwant:\n%s", doc, got, want)
		}
	}
}

// The tail as shown while streaming is the render of the tail, for open code
// blocks too.
func TestTailOfAnOpenCodeBlock(t *testing.T) {
	var s Stream
	o := Options{Width: 12, Sheet: mono}
	src := "```go\n"
	s.Append(src)
	for i := range 50 {
		line := fmt.Sprintf("line %d is long\n", i)
		for _, part := range []string{line[:3], line[3:]} {
			src += part
			s.Append(part)
			if got, want := plainText(s.TailRows(o)), plainText(Render(src, o)); got != want {
				t.Fatalf("after %q:\n%s\nwant:\n%s", src, got, want)
			}
		}
	}
	if s.Append("```\n"); s.fence != nil {
		t.Error("the closing fence was not seen")
	}
}

func TestRowsFitEveryWidth(t *testing.T) {
	doc := strings.Join(documents, "\n\n") + "\n\n- a\n  - b\n    - c\n      - d 宽宽宽宽\n        > q longlonglongword\n"
	for width := 1; width < 100; width++ {
		for _, sheet := range []*style.Sheet{mono, style.New(style.Default(false), style.TrueColor, true)} {
			for _, row := range Render(doc, Options{Width: width, Sheet: sheet}) {
				if screen.Width(row) > width && width > 1 {
					t.Fatalf("width %d: row %q has %d columns", width, row, screen.Width(row))
				}
			}
		}
	}
}

func BenchmarkRender5000Lines(b *testing.B) {
	sheet := style.New(style.Default(false), style.TrueColor, false)
	doc := strings.Repeat(documents[0]+"\n\n", 5000/32)
	for b.Loop() {
		Render(doc, Options{Width: 100, Sheet: sheet})
	}
}

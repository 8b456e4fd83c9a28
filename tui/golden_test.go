package tui_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/markdown"
	"github.com/patriceckhart/zot/tui/panel"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
	"github.com/patriceckhart/zot/tui/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenPalette gives every token a colour of its own, so that the files can
// say the token instead of the colour and do not change with a theme.
func goldenPalette() (style.Palette, map[string]string) {
	p, names := style.Palette{}, map[string]string{}
	for i, t := range theme.Tokens {
		if strings.HasPrefix(string(t), "ansi.") {
			continue
		}
		p[t] = theme.Style{FG: theme.Indexed(uint8(16 + i))}
		names[fmt.Sprintf("38;5;%d", 16+i)] = string(t)
	}
	return p, names
}

var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

func readable(rows []string, names map[string]string) string {
	text := sgr.ReplaceAllStringFunc(strings.Join(rows, "\n"), func(seq string) string {
		params := strings.TrimSuffix(strings.TrimPrefix(seq, "\x1b["), "m")
		if params == "" {
			return "</>"
		}
		if name, ok := names[params]; ok {
			return "<" + name + ">"
		}
		return "<" + params + ">"
	})
	return text
}

const goldenText = `# Title of it

Some **strong**, *soft*, ` + "`code`" + ` and ~~gone~~ text with a [link](https://example.com) and 宽 characters.

1. first
2. second
   - nested [x]
- [x] done

> quoted text that goes on and on until it has to be wrapped somewhere

` + "```go\nfunc f(x int) string { // why\n\treturn \"s\" + fmt.Sprint(1)\n}\n```" + `

| left | right |
|------|------:|
| a | 1 |
| longer cell | 22 |

---
`

const goldenDiff = "--- a/x.go\n+++ b/x.go\n@@ -9,3 +9,3 @@ func f()\n same\n-old line\n+new line that is longer than before\n"

func TestGolden(t *testing.T) {
	palette, names := goldenPalette()
	for _, look := range []struct {
		name    string
		profile style.Profile
		ascii   bool
	}{{"colour", style.TrueColor, false}, {"16", style.ANSI16, false}, {"mono", style.Mono, false}, {"ascii", style.Mono, true}} {
		sheet := style.New(palette, look.profile, look.ascii)
		for _, width := range []int{24, 60, 100} {
			name := fmt.Sprintf("%s-%d", look.name, width)
			t.Run(name, func(t *testing.T) {
				var out []string
				section := func(title string, rows []string) {
					out = append(append(out, "=== "+title), rows...)
				}
				section("markdown", markdown.Render(screen.Clean(goldenText), markdown.Options{Width: width, Sheet: sheet}))
				section("diff", transcript.DiffRows(goldenDiff, width, sheet))
				q := dialog.NewQuestion(dialog.Ask{From: "shell", Title: "run a command?", Command: "rm -rf \x1b[2K build", Cwd: "/work", Diff: goldenDiff,
					Options: []dialog.Option{{Label: "allow"}, {Label: "allow for session", Detail: "bash rm *"}, {Label: "deny"}}, Default: 1}, time.Time{})
				rows, _, _ := q.Rows(width, 12, sheet)
				section("question", rows)
				pick := &dialog.Picker{Title: "models", Items: []dialog.Item{{Label: "one", Detail: "a"}, {Label: "two", Note: "no key"}}}
				rows, _, _ = pick.Rows(width, 6, sheet)
				section("picker", rows)
				p := panel.New("todo", "1", "todos", []string{"▸ buy milk", "\x1b[31mred\x1b[m and plain"}, "a add, esc close", nil, true)
				section("panel", p.Rows(width, 8, "esc closes", sheet))
				compareGolden(t, filepath.Join("testdata", "golden", name+".txt"), readable(out, names)+"\n")
			})
		}
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./tui -run TestGolden -update writes it)", err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s differs; if that is meant, go test ./tui -run TestGolden -update\n%s", path, diff)
	}
}

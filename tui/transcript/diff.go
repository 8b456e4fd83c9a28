package transcript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// DiffRows draws a unified diff: line numbers, a sign, the text. The sign
// stands before every row, so that a diff can be read without colours.
func DiffRows(diff string, width int, s *style.Sheet) []string {
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	digits := numberWidth(lines)
	var rows []string
	old, cur := 0, 0
	for i, l := range lines {
		if m := hunk.FindStringSubmatch(l); m != nil {
			old, _ = strconv.Atoi(m[1])
			cur, _ = strconv.Atoi(m[2])
			rows = append(rows, screen.Fit(s.Paint(style.DiffHunk, l), width, s.Glyphs.Ellipsis))
			continue
		}
		if strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ ") {
			if next := i + 1; old == 0 && cur == 0 && (next < len(lines)) {
				rows = append(rows, screen.Fit(s.Paint(style.DiffHunk, l), width, s.Glyphs.Ellipsis))
				continue
			}
		}
		sign, text, token, n := " ", strings.TrimPrefix(l, " "), style.DiffContext, cur
		switch {
		case strings.HasPrefix(l, "+"):
			sign, text, token, n = "+", l[1:], style.DiffAdd, cur
			cur++
		case strings.HasPrefix(l, "-"):
			sign, text, token, n = "-", l[1:], style.DiffDel, old
			old++
		case strings.HasPrefix(l, `\`):
			n = 0
		default:
			old++
			cur++
		}
		rows = append(rows, diffLine(sign, text, token, n, digits, width, s)...)
	}
	return rows
}

func numberWidth(lines []string) int {
	most := 0
	for _, l := range lines {
		if m := hunk.FindStringSubmatch(l); m != nil {
			a, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[2])
			most = max(most, a, b)
		}
	}
	if most == 0 {
		return 0
	}
	return len(strconv.Itoa(most + len(lines)))
}

func diffLine(sign, text string, token style.Token, n, digits, width int, s *style.Sheet) []string {
	number := ""
	if digits > 0 && width > 30 {
		number = strings.Repeat(" ", digits+1)
		if n > 0 {
			number = fmt.Sprintf("%*d ", digits, n)
		}
	}
	room := max(width-screen.Width(number), 2)
	sgr := s.SGR(token)
	rows := screen.Wrapper{Width: room, Hard: true,
		First: screen.Span{Text: sign + " ", SGR: sgr}, Rest: screen.Span{Text: sign + " ", SGR: sgr}}.
		Rows([]screen.Span{{Text: text, SGR: sgr}})
	for i := range rows {
		if token != style.DiffContext && s.Profile > style.ANSI16 {
			if pad := room - screen.Width(rows[i]); pad > 0 {
				rows[i] += sgr + strings.Repeat(" ", pad) + screen.Reset
			}
		}
		rows[i] = s.Paint(style.DiffLineNo, number) + rows[i]
		number = strings.Repeat(" ", screen.Width(number))
	}
	return rows
}

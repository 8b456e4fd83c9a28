package doctorcmd

import (
	"fmt"
	"strings"
)

// Markdown is the report for the interface. What is well is left to the names
// of its subjects.
func Markdown(lines []Line) string {
	var b strings.Builder
	subject := ""
	for _, l := range lines {
		if l.Subject != subject {
			subject = l.Subject
			fmt.Fprintf(&b, "\n**%s**\n\n", subject)
		}
		mark := map[State]string{OK: "ok", Info: "", Hint: "**!**", Wrong: "**wrong**"}[l.State]
		fmt.Fprintf(&b, "- %s: %s\n", strings.TrimSpace(mark+" "+l.Name), literal(l.Value))
		for line := range strings.Lines(l.Advice) {
			fmt.Fprintf(&b, "  - %s\n", literal(strings.TrimSpace(line)))
		}
	}
	return strings.TrimSpace(b.String()) + "\n\n" + summary(lines)
}

// literal keeps a text from being read as Markdown.
func literal(s string) string {
	if strings.ContainsAny(s, "*_<>[]#|\\") && !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return s
}

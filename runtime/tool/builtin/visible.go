package builtin

import (
	"strconv"
	"strings"
	"unicode"
)

// visible makes one line of text whose every character can be seen: a command
// or a name that waits for a yes must not move the cursor, hide a part of
// itself or change its direction.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(" ⏎ ")
		case r == '\t':
			b.WriteString("    ")
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

package runcmd

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// clean removes terminal control sequences and control characters from text of
// a model, a tool or an extension; newlines and tabs stay.
func clean(text string) string {
	if !strings.ContainsFunc(text, control) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if control(r) {
			return -1
		}
		return r
	}, ansi.Strip(text))
}

func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

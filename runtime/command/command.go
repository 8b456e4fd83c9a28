// Package command says what a slash command is and how a typed line is cut
// into its name and arguments.
package command

import (
	"strings"
	"unicode"
)

// A Command can be typed after a slash.
type Command struct {
	Name        string // canonical spelling, without the slash
	Description string
	Extension   string // owner; empty for a built-in
	// Args is a short hint of what may follow the name: "[model]"; or empty.
	Args string
}

// Parse cuts text into the name of a command and its arguments. A head is
// letters, digits, '-', '_' and ':' after a slash and up to the first white
// space; the arguments are the rest, trimmed at both ends, inner white space
// kept. Text of any other form (a path, a regular expression) is no command.
func Parse(text string) (name, args string, ok bool) {
	text = strings.TrimSpace(text)
	rest, found := strings.CutPrefix(text, "/")
	if !found {
		return "", "", false
	}
	head, args := rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		head, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	if head == "" {
		return "", "", false
	}
	for _, r := range head {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != ':' {
			return "", "", false
		}
	}
	return head, args, true
}

// Fold returns the form under which names of commands are compared.
func Fold(name string) string { return strings.ToLower(name) }

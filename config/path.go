package config

import (
	"fmt"
	"strings"
)

// ParsePath cuts the name of a setting into its parts, as the command line
// takes it: parts are separated by dots. A part that holds a dot itself is
// written in double quotes, or with a backslash before the dot:
//
//	models."gpt-4.1".cost.input
//	models.gpt-4\.1.cost.input
func ParsePath(text string) ([]string, error) {
	var path []string
	rest := text
	for {
		part, after, err := nextPart(rest)
		if err != nil {
			return nil, fmt.Errorf("setting %q: %w", text, err)
		}
		path = append(path, part)
		if after == "" {
			return path, nil
		}
		rest = after[1:] // the dot
	}
}

// nextPart returns the first part, and what follows it: nothing, or a dot and
// more.
func nextPart(text string) (part, rest string, err error) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		part, rest, ok = cutUnescaped(quoted, '"')
		if !ok {
			return "", "", fmt.Errorf(`the double quote is not closed`)
		}
		rest = rest[1:]
		if rest != "" && rest[0] != '.' {
			return "", "", fmt.Errorf(`a dot belongs after the closing quote`)
		}
		return part, rest, nil
	}
	part, rest, _ = cutUnescaped(text, '.')
	if part == "" {
		return "", "", fmt.Errorf("a part of the name is empty")
	}
	return part, rest, nil
}

// cutUnescaped cuts before the first stop that no backslash precedes, and takes
// the backslashes out of what is before.
func cutUnescaped(text string, stop byte) (before, rest string, found bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
		case text[i] == stop:
			return b.String(), text[i:], true
		}
		b.WriteByte(text[i])
	}
	return b.String(), "", false
}

// MustPath is [ParsePath] for names in source code.
func MustPath(text string) []string {
	path, err := ParsePath(text)
	if err != nil {
		panic(err)
	}
	return path
}

// FormatPath is the inverse of [ParsePath].
func FormatPath(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		if part == "" || strings.ContainsAny(part, `."\`) {
			part = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(part) + `"`
		}
		parts[i] = part
	}
	return strings.Join(parts, ".")
}

package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/schemas"
)

// otherWords are what other programs call what zot does by another word.
var otherWords = map[string]string{
	"extension": "zot ext", "extensions": "zot ext", "models": "zot --list-models", "settings": "zot config",
}

// stray refuses a command that was mistyped, which would go to a model as a
// prompt. Any word may be a prompt, so one is refused only where it stands
// alone, without a flag, and is a slip away from a command.
func stray(args []string) error {
	if len(args) != 1 {
		return nil
	}
	word := args[0]
	meant := otherWords[strings.ToLower(word)]
	if meant == "" {
		if name := slipOf(word); name != "" {
			meant = "zot " + name
		}
	}
	if meant == "" {
		return nil
	}
	return &exit.UsageError{Err: fmt.Errorf("there is no command %q; did you mean %q?\nTo send the word to the model: zot -- %s", word, meant, word)}
}

// slipOf returns the command that word misspells: one letter off, or two in a
// long name. The first letter is seldom wrong, and short names are close to
// words that people say to a model: next, main, text.
func slipOf(word string) string {
	const shortest, long = 4, 8
	near := schemas.Nearest(word, commandNames)
	if near == "" || utf8.RuneCountInString(near) < shortest || !strings.EqualFold(near[:1], word[:1]) {
		return ""
	}
	slips := 1
	if len(near) >= long {
		slips = 2
	}
	if schemas.Distance(strings.ToLower(word), near) > slips {
		return ""
	}
	return near
}

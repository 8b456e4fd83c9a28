package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/schemas"
)

// checkWords makes words that a command does not take a fault of usage, for the
// command and all below it.
func checkWords(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, words []string) error { return misused(cmd, words, check(cmd, words)) }
	}
	for _, sub := range cmd.Commands() {
		checkWords(sub)
	}
}

func misused(cmd *cobra.Command, words []string, err error) error {
	var known *exit.UsageError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case cmd.HasSubCommands() && len(words) > 0:
		return &exit.UsageError{Err: errors.New(noCommand(cmd, words[0]))}
	}
	return &exit.UsageError{Err: fmt.Errorf("%w\nUsage: %s", err, cmd.UseLine())}
}

func noCommand(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	text := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), word)
	if near := schemas.Nearest(word, names); near != "" {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	return text + fmt.Sprintf("; see '%s --help'", cmd.CommandPath())
}

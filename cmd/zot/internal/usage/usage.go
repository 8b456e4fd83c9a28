// Package usage says what is wrong with the words of a command line, and what
// was meant: a command or flag that is not there, an argument that is missing or
// one too many. [Check] goes through the finished tree of commands, so that the
// commands themselves only say how many words they take.
//
// All its faults are [exit.UsageError].
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/schemas"
)

// Check makes words and flags that a command does not take a fault of usage,
// for the command and all below it.
func Check(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagFault)
	checkWords(cmd)
}

func checkWords(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, words []string) error { return wordsFault(cmd, words, check(cmd, words)) }
	}
	for _, sub := range cmd.Commands() {
		checkWords(sub)
	}
}

func wordsFault(cmd *cobra.Command, words []string, err error) error {
	var known *exit.UsageError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case cmd.HasSubCommands() && len(words) > 0:
		return NoCommand(cmd, words[0])
	}
	return fault("%s\n%s", miscounted(cmd, words, err), Howto(cmd))
}

// miscounted says which word is missing, or too many.
func miscounted(cmd *cobra.Command, words []string, err error) string {
	takes := strings.Fields(strings.TrimSuffix(cmd.Use, "[flags]"))[1:]
	switch {
	case len(words) < len(takes) && !strings.HasPrefix(takes[len(words)], "["):
		return fmt.Sprintf("%s: %s is missing", cmd.CommandPath(), strings.TrimRight(takes[len(words)], ".…"))
	case len(words) > len(takes) && len(takes) == 0:
		return fmt.Sprintf("%s takes no words; %q is one", cmd.CommandPath(), words[0])
	case len(words) > len(takes):
		return fmt.Sprintf("%s: %q is one word too many; quote what has spaces in it", cmd.CommandPath(), words[len(takes)])
	}
	return cmd.CommandPath() + ": " + err.Error()
}

// Howto shows how a command is used, with an example where it has one.
func Howto(cmd *cobra.Command) string {
	text := "Usage: " + cmd.UseLine()
	if first, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n"); first != "" {
		text += "\nFor example: " + first
	}
	return text
}

// NoCommand is the fault of a word where one of the commands below cmd stands.
func NoCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	meant := ""
	if near := schemas.Nearest(word, names); near != "" {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return fault("%s has no command %q%s\nIt has %s; see '%s --help'", cmd.CommandPath(), word, meant, strings.Join(names, ", "), cmd.CommandPath())
}

func fault(format string, args ...any) error {
	return &exit.UsageError{Err: fmt.Errorf(format, args...)}
}

package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/patriceckhart/zot/schemas"
)

// flagFault says what is wrong with a flag, and which was meant.
func flagFault(cmd *cobra.Command, err error) error {
	return fault("%s\nSee '%s --help'", flagText(cmd, err), cmd.CommandPath())
}

func flagText(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var needs *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &invalid):
		return fmt.Sprintf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag()))
	case errors.As(err, &needs):
		kind, _ := pflag.UnquoteUsage(needs.GetFlag())
		return fmt.Sprintf("--%s needs a value: --%s %s", needs.GetFlag().Name, needs.GetFlag().Name, strings.ToUpper(kind))
	}
	return err.Error()
}

func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) string {
	if err.GetSpecifiedShortnames() != "" {
		// -model means --model where there is one.
		if name, _, _ := strings.Cut(err.GetSpecifiedShortnames(), "="); cmd.Flags().Lookup(name) != nil {
			return fmt.Sprintf("unknown flag: -%s; did you mean --%s?", name, name)
		}
		return err.Error()
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	text := fmt.Sprintf("unknown flag: --%s", err.GetSpecifiedName())
	if near := schemas.Nearest(err.GetSpecifiedName(), names); near != "" {
		return text + fmt.Sprintf("; did you mean --%s?", near)
	}
	return text + others(cmd.Root(), cmd, err.GetSpecifiedName())
}

// others names the commands besides the one given that do have the flag.
func others(root, but *cobra.Command, name string) string {
	var have []string
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c != but && !c.Hidden && c.Flags().Lookup(name) != nil {
			have = append(have, "'"+c.CommandPath()+"'")
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	if visit(root); len(have) == 0 || len(have) > 2 {
		return ""
	}
	verb := " have it"
	if len(have) == 1 {
		verb = " has it"
	}
	return "; " + strings.Join(have, " and ") + verb
}

// wanted says in words what a flag takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint":
		return "give a whole number"
	case "float64":
		return "give a number"
	case "bool":
		return "give true or false, or the flag alone"
	case "duration":
		return "give a time such as 30s, 5m or 2h"
	}
	return "give a " + f.Value.Type()
}

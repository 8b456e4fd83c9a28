package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/usage"
)

// newHelp is "zot help", which says so where there is no such command.
func newHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "help [COMMAND…]", Short: "Help about any command",
		RunE: func(cmd *cobra.Command, words []string) error {
			about, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return usage.NoCommand(about, rest[0])
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, typed string) ([]string, cobra.ShellCompDirective) {
		about, rest, err := cmd.Root().Find(words)
		if err != nil || len(rest) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, sub := range about.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// shells makes "zot completion" ask for a shell that there is.
func shells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Use, cmd.Args = "completion", cobra.NoArgs
			cmd.Example = "  source <(zot completion bash)"
			cmd.RunE = func(cmd *cobra.Command, _ []string) error {
				return &exit.UsageError{Err: errors.New("name a shell: zot completion bash, zsh, fish or powershell\n" + usage.Howto(cmd))}
			}
		}
	}
}

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/authcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/completion"
	"github.com/patriceckhart/zot/cmd/zot/internal/democmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/mancmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/sessioncmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/skillcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
)

// commandNames are the words that are a command where they come first; any
// other first word begins a prompt.
var commandNames = []string{
	"rpc", "ext", "config", "policy", "trust", "doctor", "demo", "login", "logout", "help", "completion", "man", "sessions", "skills", "version",
}

// newRoot builds the tree of commands. Without routing it has no children, so
// that a prompt whose first word is the name of a command stays a prompt.
func newRoot(s *iostreams.Streams, withCommands bool) *cobra.Command {
	flags := &runcmd.Flags{}
	root := &cobra.Command{
		Use:   "zot [flags] [prompt]",
		Short: "A coding agent for the terminal whose extensions can be trusted",
		Long: strings.TrimSpace(`
zot talks with a model that can read, write, edit and run things in a folder,
and with extensions in any language that add commands, tools and guards.

  zot                        open the interface
  zot "fix the failing test" open it with a prompt filled in
  zot -p "what is here?"     answer on standard output and leave
  zot demo                   see it all work, without a key or a network`),
		Version:       version.String(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runcmd.Run(cmd.Context(), flags, args, s)
		},
	}
	root.SetVersionTemplate("zot {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version and leave")
	listModels := root.Flags().Bool("list-models", false, "list the known models and leave")
	flags.Bind(root.Flags())
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *listModels {
			return runcmd.ListModels(cmd.Context(), flags, s)
		}
		return run(cmd, args)
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	if withCommands {
		addCommands(root, s)
	}
	return root
}

func addCommands(root *cobra.Command, s *iostreams.Streams) {
	auth := authcmd.Deps{Streams: s, Open: func(home string) (*workspace.Workspace, error) {
		return workspace.Open(workspace.Options{Home: home})
	}}
	root.AddCommand(newRPC(s), newExt(s), newConfig(s), democmd.New(s), newPolicy(s), newTrust(s), newDoctor(s), newSessions(s), newSkills(s), mancmd.New(s), authcmd.NewLogin(auth), authcmd.NewLogout(auth), newVersion(s))
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	shells(root)
	completion.Add(root, completion.Deps{Version: version.Number, Open: func(home, cwd string) (*workspace.Workspace, error) {
		return workspace.Open(workspace.Options{Home: home, CWD: cwd})
	}})
}

// newVersion prints what --version prints.
func newVersion(s *iostreams.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and leave", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.Out, "zot %s\n", version.String())
			return err
		},
	}
}

func newSkills(s *iostreams.Streams) *cobra.Command {
	return skillcmd.New(skillcmd.Deps{Streams: s, Open: workspace.Open})
}

func newSessions(s *iostreams.Streams) *cobra.Command {
	return sessioncmd.New(sessioncmd.Deps{Streams: s, Open: func(home, cwd string) (*workspace.Workspace, error) {
		return workspace.Open(workspace.Options{Home: home, CWD: cwd})
	}})
}

func newRPC(s *iostreams.Streams) *cobra.Command {
	flags := &runcmd.Flags{}
	cmd := &cobra.Command{
		Use:   "rpc",
		Short: "Serve a program: commands on standard input, events on standard output",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.RPC = true
			return runcmd.Run(cmd.Context(), flags, nil, s)
		},
	}
	flags.Bind(cmd.Flags())
	return cmd
}

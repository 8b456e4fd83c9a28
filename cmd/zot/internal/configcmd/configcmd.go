// Package configcmd is "zot config": it shows what settings hold and who set
// them, changes one at a time, and checks files.
package configcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/names"
	"github.com/patriceckhart/zot/config"
)

// Deps is what the commands need from outside.
type Deps struct {
	Streams *iostreams.Streams
	// Options finds the places of the settings; home and cwd are the values of
	// the flags, or empty.
	Options func(home, cwd string) (config.Options, error)
	// Names opens the place where names in settings are looked up.
	// Nil looks none up.
	Names func(home, cwd string) (*names.Places, error)
	// Getenv is os.Getenv, for the name of the editor.
	Getenv func(string) string
	// Edit runs an editor on the terminal and waits for it.
	Edit func(ctx context.Context, argv []string) error
}

// A command is what the subcommands share: the dependencies and the flags.
type command struct {
	Deps
	home, cwd string
	json      bool
}

// New returns "zot config" and its subcommands.
func New(d Deps) *cobra.Command {
	c := &command{Deps: d}
	root := &cobra.Command{
		Use:   "config",
		Short: "Show, change and check settings",
		Long: `Settings come in layers: built in, managed, user, project, local, user-project,
environment, flags. The last layer that sets a key decides; "show --origin" says
which one did.

A name with a dot in it is written in double quotes or with a backslash:

  zot config get 'models."gpt-4.1".cost.input'
  zot config get 'models.gpt-4\.1.cost.input'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringVar(&c.home, "home", "", "folder of zot's state")
	root.PersistentFlags().StringVar(&c.cwd, "cwd", "", "folder to work in")
	root.AddCommand(c.showCmd(), c.getCmd(), c.setCmd(), c.unsetCmd(), c.editCmd(), c.validateCmd(), c.schemaCmd(), c.pathCmd())
	return root
}

func (c *command) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.json, "json", false, "answer in JSON")
}

func (c *command) options() (config.Options, error) { return c.Options(c.home, c.cwd) }

// load reads all layers, and says on standard error what is wrong with them.
func (c *command) load() (*config.Settings, config.Options, error) {
	o, err := c.options()
	if err != nil {
		return nil, o, err
	}
	s, err := config.Load(o)
	if err != nil {
		return nil, o, err
	}
	for _, p := range s.Problems {
		fmt.Fprint(c.Streams.Err, p.Render())
	}
	return s, o, nil
}

// path reads the name of a setting from the command line.
func path(name string) ([]string, error) {
	p, err := config.ParsePath(name)
	if err != nil {
		return nil, &exit.UsageError{Err: err}
	}
	return p, nil
}

// errTold ends the command with status 1 where all has been said already.
var errTold = &exit.Error{Code: exit.Failed, Err: errors.New("settings have faults"), Silent: true}

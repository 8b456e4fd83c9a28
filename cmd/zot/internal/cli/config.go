package cli

import (
	"context"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/configcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/names"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/config"
)

func newConfig(s *iostreams.Streams) *cobra.Command {
	return configcmd.New(configcmd.Deps{
		Streams: s,
		Options: func(home, cwd string) (config.Options, error) {
			return workspace.ConfigOptions(workspace.Options{Home: home, CWD: cwd})
		},
		Names: func(home, cwd string) (*names.Places, error) {
			w, err := workspace.Open(workspace.Options{Home: home, CWD: cwd})
			if err != nil {
				return nil, err
			}
			return &names.Places{Workspace: w, Version: version.Number, Catalogue: runcmd.Catalogue}, nil
		},
		Getenv: os.Getenv,
		Edit: func(ctx context.Context, argv []string) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		},
	})
}

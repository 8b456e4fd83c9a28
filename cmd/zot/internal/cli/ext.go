package cli

import (
	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/extcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
)

func newExt(s *iostreams.Streams) *cobra.Command {
	cmd := extcmd.New(extcmd.Deps{
		Streams: s,
		Open: func(home, cwd string) (*workspace.Workspace, error) {
			return workspace.Open(workspace.Options{Home: home, CWD: cwd})
		},
		Version: version.Number,
	})
	cmd.AddCommand(policycmd.Ext(policyDeps(s))...)
	return cmd
}

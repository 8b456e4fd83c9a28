package cli

import (
	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
)

func policyDeps(s *iostreams.Streams) policycmd.Deps {
	return policycmd.Deps{
		Streams: s,
		Open: func(home, cwd string) (*workspace.Workspace, error) {
			return workspace.Open(workspace.Options{Home: home, CWD: cwd})
		},
		Version: version.Number, Unenforced: workspace.Unenforced,
	}
}

func newPolicy(s *iostreams.Streams) *cobra.Command { return policycmd.New(policyDeps(s)) }

func newTrust(s *iostreams.Streams) *cobra.Command { return policycmd.Trust(policyDeps(s)) }

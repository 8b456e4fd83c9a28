package cli

import (
	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/doctorcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/version"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
)

func newDoctor(s *iostreams.Streams) *cobra.Command {
	return doctorcmd.New(doctorcmd.Deps{
		Streams: s,
		Open: func(home, cwd string) (*workspace.Workspace, error) {
			return workspace.Open(workspace.Options{Home: home, CWD: cwd})
		},
		Version:  version.Number,
		Provider: runcmd.ProviderOptions,
		Skills:   runcmd.Skills,
	})
}

package policycmd

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
)

func (c *command) initCmd() *cobra.Command {
	var mode, layer string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a policy section to start from, and say what it chose",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return c.init(mode, layer) },
	}
	cmd.Flags().StringVar(&mode, "mode", "pinned", "open, pinned or locked")
	cmd.Flags().StringVar(&layer, "layer", "project", "layer to write: user or project")
	return cmd
}

// chosen says what a mode means, for whoever has just chosen it.
var chosen = map[string][]string{
	"open": {
		"open: what a user installed runs; the project's extensions run once the user trusts the project",
		"next: zot policy check",
	},
	"pinned": {
		"pinned: only extensions run whose bytes the lock holds; the project's once the user trusts the project",
		"next: zot ext lock, then zot policy check, then commit .zot",
	},
	"locked": {
		"locked: only extensions run that a managed or user rule lists and whose bytes the lock holds",
		"next: zot ext lock, then an allow rule with match.digest in the managed or user policy (zot ext verify prints digests)",
	},
}

func (c *command) init(mode, layerName string) error {
	if chosen[mode] == nil {
		return usage("--mode %q: write open, pinned or locked", mode)
	}
	layer, ok := config.ParseLayer(layerName)
	if !ok || !slices.Contains([]config.Layer{config.User, config.Project}, layer) {
		return usage("--layer %q: write user or project", layerName)
	}
	p, err := c.open()
	if err != nil {
		return err
	}
	dir := p.Home.Dir()
	if layer == config.Project {
		dir = home.ProjectConfigDir(p.ProjectRoot)
	}
	file, err := config.LayerPath(dir)
	if err != nil {
		return err
	}
	if err := hasPolicy(file); err != nil {
		return err
	}
	section := map[string]any{"mode": mode}
	if err := config.Set(p.Home, file, []string{"policy"}, section); err != nil {
		return err
	}
	fmt.Fprintf(c.Streams.Out, "wrote policy to %s\n", file)
	for _, line := range chosen[mode] {
		fmt.Fprintln(c.Streams.Out, line)
	}
	return nil
}

// hasPolicy refuses a file that has a policy already.
func hasPolicy(file string) error {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := document.Parse(file, data)
	if err != nil {
		return err
	}
	if n := f.Root.Get("policy"); n != nil {
		return fmt.Errorf("%s: there is a policy already; change it with zot config edit", document.Place(file, n.Pos))
	}
	return nil
}

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
	kept, err := policyWithoutMode(file)
	if err != nil {
		return err
	}
	path, value, wrote := []string{"policy"}, any(map[string]any{"mode": mode}), "policy"
	if kept {
		path, value, wrote = []string{"policy", "mode"}, any(mode), "policy.mode"
	}
	if err := config.Set(p.Home, file, path, value); err != nil {
		return err
	}
	fmt.Fprintf(c.Streams.Out, "wrote %s to %s\n", wrote, file)
	for _, line := range chosen[mode] {
		fmt.Fprintln(c.Streams.Out, line)
	}
	return nil
}

// policyWithoutMode tells whether a file has a policy that names no mode, which
// then is all that is missing. It refuses a policy that has one.
func policyWithoutMode(file string) (bool, error) {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := document.Parse(file, data)
	if err != nil {
		return false, err
	}
	n := f.Root.Get("policy")
	if n == nil {
		return false, nil
	}
	if n.Kind != document.Object || n.Get("mode") != nil {
		return false, fmt.Errorf("%s: there is a policy already; change it with zot config edit", document.Place(file, n.Pos))
	}
	return true, nil
}

package policycmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/policies/commands"
	"github.com/patriceckhart/zot/schemas"
)

func (c *command) checkCmd() *cobra.Command {
	var layer string
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check policies: what cannot be read, rules that never decide, and the tables beside them",
		Long: `Without a file, the policies of all layers are checked together; with files, these
by themselves, each as its layer (--layer, or as its place says). Beside a policy
may stand policy.tests.json or policy.tests.yaml, a table of questions with the
answers that the policy must give.

Status 20 where a policy cannot be read, 1 where a test fails.`,
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) > 0 {
				return c.checkFiles(files, layer)
			}
			return c.checkAll()
		},
	}
	cmd.Flags().StringVar(&layer, "layer", "", "layer that the files are read as: managed, user, project, local or user-project")
	return cmd
}

func (c *command) checkAll() error {
	p, err := c.find()
	if err != nil {
		return err
	}
	sections := gate.Sections(gate.Options{Settings: p.Settings, Environ: p.Environ})
	var dirs []string
	for _, f := range p.Settings.Files {
		dirs = append(dirs, filepath.Dir(f.Path))
	}
	return c.verdict(sections, dirs)
}

func (c *command) checkFiles(files []string, layerName string) error {
	w, err := c.Open(c.home, c.cwd)
	if err != nil {
		return err
	}
	var sections []policies.Section
	var dirs []string
	for _, file := range files {
		s, err := fileSection(file, layerName, w.ConfigOptions())
		if err != nil {
			return err
		}
		sections, dirs = append(sections, s), append(dirs, filepath.Dir(file))
	}
	return c.verdict(sections, dirs)
}

// fileSection reads the policy section of a settings file, as the layer that is
// named or as the one that its place says.
func fileSection(file, layerName string, o config.Options) (policies.Section, error) {
	layer := o.LayerOf(file)
	if layerName != "" {
		var ok bool
		if layer, ok = config.ParseLayer(layerName); !ok || layer < config.Managed || layer > config.UserProject {
			return policies.Section{}, usage("--layer %q: write managed, user, project, local or user-project", layerName)
		}
	}
	found, err := config.CheckFile(layer, file, o)
	if err != nil {
		return policies.Section{}, err
	}
	section, _ := policies.SectionOf(found.Policy)
	return section, nil
}

// verdict checks sections together, and the tables in the folders.
func (c *command) verdict(sections []policies.Section, dirs []string) error {
	set := policies.Load(sections)
	for _, p := range set.Problems {
		fmt.Fprint(c.Streams.Out, p.Render())
	}
	for _, n := range set.Lint() {
		fmt.Fprintln(c.Streams.Out, schemas.Printable(n.String()))
	}
	lines, err := commands.Of(set)
	if err != nil {
		return coded(policies.ExitPolicyInvalid, "%w", err)
	}
	run, failed, err := c.tables(set, lines, dirs)
	if err != nil {
		return err
	}
	switch {
	case !set.Valid():
		return &exit.Error{Code: policies.ExitPolicyInvalid, Err: errors.New("a policy cannot be read"), Silent: true}
	case failed > 0:
		fmt.Fprintf(c.Streams.Err, "%d of %s failed\n", failed, iostreams.Count(run, "test"))
		return errFailed
	}
	mode, _ := set.Mode()
	fmt.Fprintf(c.Streams.Err, "%s, mode %s, %s passed\n", iostreams.Count(withPolicy(sections), "policy"), mode, iostreams.Count(run, "test"))
	return nil
}

func withPolicy(sections []policies.Section) int {
	n := 0
	for _, s := range sections {
		if s.Node != nil {
			n++
		}
	}
	return n
}

var tableNames = []string{"policy.tests.json", "policy.tests.yaml"}

func (c *command) tables(set *policies.Set, lines *commands.Layers, dirs []string) (run, failed int, err error) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		for _, name := range tableNames {
			file := filepath.Join(dir, name)
			data, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) || seen[file] {
				continue
			}
			if err != nil {
				return run, failed, err
			}
			seen[file] = true
			tests, err := policies.ParseTable(file, data)
			var faulty *schemas.FileError
			if errors.As(err, &faulty) {
				fmt.Fprint(c.Streams.Out, faulty.Render())
				return run, failed, errFailed
			}
			if err != nil {
				return run, failed, err
			}
			run += len(tests)
			for _, r := range set.RunTable(tests, lines.Decide) {
				failed++
				fmt.Fprintf(c.Streams.Out, "%s: %s\n", document.Place(file, r.Pos), schemas.Printable(r.String()))
			}
		}
	}
	return run, failed, nil
}

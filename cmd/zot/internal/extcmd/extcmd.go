// Package extcmd is "zot ext": it lists, installs, updates, removes and
// switches extensions, starts them to see what is wrong, and shows their logs.
// Each subcommand is a file.
//
// The answer goes to standard output, everything else to standard error. What
// is listed comes from the same search that a start makes.
package extcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// Deps is what the commands need from outside.
type Deps struct {
	Streams *iostreams.Streams
	// Open finds the place to work in; home and cwd are the values of the
	// flags, or empty.
	Open func(home, cwd string) (*workspace.Workspace, error)
	// Version is zot's own, which manifests may ask to be new enough.
	Version string
	// Check tries whether the new version of an extension starts, before an
	// update lets it in. Nil takes every version whose manifest is good.
	Check func(ctx context.Context, m *manifest.Manifest) error
	// FollowEvery is how often "logs -f" looks for more; 250 ms by default.
	FollowEvery time.Duration
}

// A command is what the subcommands share: the dependencies and the flags.
type command struct {
	Deps
	home, cwd string
	json      bool
	yes       bool
	scope     string
}

// New returns "zot ext" and its subcommands.
func New(d Deps) *cobra.Command {
	c := &command{Deps: d}
	root := &cobra.Command{
		Use:   "ext",
		Short: "List, install and manage extensions",
		Long: `Extensions live in folders: those of a project in .zot/extensions, your own in
zot's home. NAME below is the name in the manifest or that of the folder; where
it fits several, give --scope or the path of the folder.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(c.Streams.Err) // help that was not asked for is no answer
			return cmd.Help()
		},
	}
	root.PersistentFlags().StringVar(&c.home, "home", "", "folder of zot's state")
	root.PersistentFlags().StringVar(&c.cwd, "cwd", "", "folder to work in")
	root.AddCommand(c.listCmd(), c.installCmd(), c.updateCmd(), c.removeCmd(), c.switchCmd(true), c.switchCmd(false), c.logsCmd(), c.doctorCmd())
	return root
}

func (c *command) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.json, "json", false, "answer in JSON")
}

func (c *command) scopeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.scope, "scope", "", "where the extension is: project or global")
}

// open finds the place to work in, and says what is wrong with its settings.
func (c *command) open() (*workspace.Workspace, error) {
	w, err := c.Open(c.home, c.cwd)
	if err == nil {
		w.Show(c.Streams.Err)
	}
	return w, err
}

// everything finds the extensions of the project and of zot's home, whatever
// the settings say of loading them: those too can be removed or switched.
func (c *command) everything(w *workspace.Workspace) (discovery.Plan, error) {
	switches, err := discovery.ReadSwitches(w.Home.Dir(), w.ProjectRoot)
	if err != nil {
		return discovery.Plan{}, err
	}
	return discovery.Find(discovery.Options{
		Home: w.Home.Dir(), ProjectDir: w.ProjectRoot, CWD: w.CWD, Switches: switches, ZotVersion: c.Version,
		ExtraDirs: w.Settings.Config.Extensions.Dirs,
	}), nil
}

// pick finds the one extension that a name on the command line means.
func (c *command) pick(w *workspace.Workspace, name string) (*discovery.Candidate, error) {
	scope := discovery.Scope(c.scope)
	switch scope {
	case "", discovery.ScopeProject, discovery.ScopeGlobal:
	default:
		return nil, &exit.UsageError{Err: fmt.Errorf("--scope %q is neither project nor global", c.scope)}
	}
	plan, err := c.everything(w)
	if err != nil {
		return nil, err
	}
	return install.Pick(plan, asPath(w, name), scope)
}

// asPath makes what is spelled as a path of a folder absolute; a name stays.
func asPath(w *workspace.Workspace, name string) string {
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		return filepath.Join(w.CWD, name)
	}
	return name
}

// names completes the name of an extension.
func (c *command) names(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	w, err := c.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	plan, _ := c.everything(w)
	var names []string
	for _, candidate := range plan.Candidates {
		names = append(names, candidate.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (c *command) installOptions(w *workspace.Workspace) install.Options {
	return install.Options{Home: w.Home.Dir(), CWD: w.CWD, ZotVersion: c.Version, Greet: greet(w)}
}

// note tells the user something that is no part of the answer.
func (c *command) note(format string, args ...any) {
	fmt.Fprintf(c.Streams.Err, "%s\n", iostreams.Printable(fmt.Sprintf(format, args...)))
}

// confirm asks, unless --yes said it already.
func (c *command) confirm(question string) (bool, error) {
	if c.yes {
		return true, nil
	}
	return c.Streams.Confirm(question)
}

// shown is an error as it is printed: faults of a file with the line they are
// in.
func shown(err error) string {
	var file *schemas.FileError
	if errors.As(err, &file) {
		return strings.TrimSuffix(file.Render(), "\n")
	}
	return err.Error()
}

// failed hands an error on, with the faulty lines of a manifest where there
// are any.
func (c *command) failed(err error) error {
	var file *schemas.FileError
	if errors.As(err, &file) {
		return errors.New("the manifest has faults\n" + shown(err))
	}
	return err
}

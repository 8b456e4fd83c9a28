// Package policycmd is "zot policy", "zot trust" and the part of "zot ext" that
// pins: lock, sync and verify. Each subcommand is a file.
//
// Nothing here runs an extension. Only lock and sync fetch, and only what the
// user or the lock names.
package policycmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
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
	// Unenforced lists what this system cannot hold an extension to; nil: all
	// is enforced.
	Unenforced func(*discovery.Candidate, *policies.Grant) []string
	// Fetch brings an extension from its source to somewhere below into, an
	// empty folder, and returns its folder and where it came from; nil: package
	// install does.
	Fetch func(ctx context.Context, source, into string) (dir string, from install.Origin, err error)
	Now   func() time.Time // nil: time.Now
}

// A command is what the subcommands share: the dependencies and the flags.
type command struct {
	Deps
	home, cwd string
	json      bool
}

// New returns "zot policy" and its subcommands.
func New(d Deps) *cobra.Command {
	c := &command{Deps: d}
	root := &cobra.Command{
		Use:   "policy",
		Short: "Say who may load and what each may do, and why",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.placeFlags(root)
	root.AddCommand(c.initCmd(), c.checkCmd(), c.explainCmd(), c.showCmd(), c.auditCmd())
	return root
}

// Trust returns "zot trust" and its subcommands.
func Trust(d Deps) *cobra.Command {
	c := &command{Deps: d}
	status := c.statusCmd()
	root := &cobra.Command{
		Use:   "trust",
		Short: "Show and take back what you approved of this project",
		Args:  cobra.NoArgs,
		RunE:  status.RunE,
	}
	c.placeFlags(root)
	c.jsonFlag(root)
	root.AddCommand(status, c.digestCmd(), c.revokeCmd())
	return root
}

// Ext returns "lock", "sync" and "verify", which belong below "zot ext".
func Ext(d Deps) []*cobra.Command {
	c := &command{Deps: d}
	cmds := []*cobra.Command{c.lockCmd(), c.syncCmd(), c.verifyCmd()}
	for _, cmd := range cmds {
		cmd.PreRun = func(cmd *cobra.Command, _ []string) { // the flags of "zot ext"
			c.home, _ = cmd.Flags().GetString("home")
			c.cwd, _ = cmd.Flags().GetString("cwd")
		}
	}
	return cmds
}

func (c *command) placeFlags(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&c.home, "home", "", "folder of zot's state")
	cmd.PersistentFlags().StringVar(&c.cwd, "cwd", "", "folder to work in")
}

func (c *command) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.json, "json", false, "answer in JSON")
}

func usage(format string, args ...any) error {
	return &exit.UsageError{Err: fmt.Errorf(format, args...)}
}

// coded ends the command with an exit status of the policy.
func coded(code int, format string, args ...any) error {
	return &exit.Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// A place is where a command works, with all that it finds there.
type place struct {
	*workspace.Workspace
	plan discovery.Plan
	gate *gate.Gate
}

// open finds the place to work in, and says what is wrong with its settings.
func (c *command) open() (*place, error) {
	p, err := c.find()
	if err == nil {
		p.Show(c.Streams.Err)
	}
	return p, err
}

func (c *command) find() (*place, error) {
	w, err := c.Open(c.home, c.cwd)
	if err != nil {
		return nil, err
	}
	switches, err := discovery.ReadSwitches(w.Home.Dir(), w.ProjectRoot)
	if err != nil {
		return nil, err
	}
	p := &place{Workspace: w}
	p.gate = gate.Open(gate.Options{
		Home: w.Home, ProjectRoot: w.ProjectRoot, CWD: w.CWD, UserHome: w.UserHome, Settings: w.Settings,
		Environ: w.Environ, Unenforced: c.Unenforced,
	})
	p.plan = discovery.Find(discovery.Options{
		Home: w.Home.Dir(), ProjectDir: w.ProjectRoot, CWD: w.CWD, Switches: switches, ZotVersion: c.Version,
		ExtraDirs: w.Settings.Config.Extensions.Dirs, Pinned: p.gate.Pinned(),
	})
	p.gate.Judge(p.plan.Candidates)
	return p, nil
}

// pick finds the extension that a name means: of several the one that comes
// first.
func (p *place) pick(name string) (*discovery.Candidate, error) {
	for _, c := range p.plan.Lookup(name) {
		if _, judged := p.gate.Load(c); judged || c.Manifest != nil {
			return c, nil
		}
	}
	var names []string
	for _, c := range p.plan.Candidates {
		names = append(names, c.Name)
	}
	hint := "see zot ext list"
	if near := schemas.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, fmt.Errorf("no extension is called %q; %s", name, hint)
}

func (c *command) printJSON(v any) error {
	enc := json.NewEncoder(c.Streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// errFailed ends the command with status 1 where all has been said already.
var errFailed = &exit.Error{Code: exit.Failed, Err: errors.New("failed"), Silent: true}

// Package sessioncmd is "zot sessions": it lists the conversations that are
// kept, copies and names them, carries them in and out, and deletes old ones.
package sessioncmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/session"
)

// Deps is what the commands need from outside.
type Deps struct {
	Streams *iostreams.Streams
	// Open finds the place to work in; home and cwd are the values of the
	// flags, or empty.
	Open func(home, cwd string) (*workspace.Workspace, error)
}

// A command is what the subcommands share: the dependencies and the flags.
type command struct {
	Deps
	home, cwd      string
	json, all, yes bool
}

// New returns "zot sessions" and its subcommands.
func New(d Deps) *cobra.Command {
	c := &command{Deps: d}
	root := &cobra.Command{
		Use:   "sessions",
		Short: "List, copy, carry and delete conversations",
		Long: `Conversations are kept in zot's home, by the folder that they were held in.
ID below is the id that the list shows, its first four characters or more, the
path of a file, or "latest" for this folder's latest. Go on with one by "zot --session ID".`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.list() },
	}
	root.PersistentFlags().StringVar(&c.home, "home", "", "folder of zot's state")
	root.PersistentFlags().StringVar(&c.cwd, "cwd", "", "folder to work in")
	c.allFlag(root)
	c.jsonFlag(root)
	root.AddCommand(
		c.listCmd(), c.showCmd(), c.treeCmd(), c.forkCmd(), c.exportCmd(), c.importCmd(),
		c.renameCmd(), c.removeCmd(), c.pruneCmd(),
	)
	return root
}

func usage(format string, args ...any) error {
	return &exit.UsageError{Err: fmt.Errorf(format, args...)}
}

func (c *command) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.json, "json", false, "answer in JSON")
}

func (c *command) allFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.all, "all", false, "those of all folders, not of this one alone")
}

func (c *command) yesFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask")
}

// open finds the place to work in and the conversations.
func (c *command) open() (*workspace.Workspace, *session.Store, error) {
	w, err := c.Open(c.home, c.cwd)
	if err != nil {
		return nil, nil, err
	}
	return w, session.NewStore(w.Home.SessionsDir()), nil
}

// find returns the conversation that ref means.
func (c *command) find(ref string) (*workspace.Workspace, *session.Store, session.Info, error) {
	w, st, err := c.open()
	if err != nil {
		return nil, nil, session.Info{}, err
	}
	find := st.Find
	if ref == "latest" {
		find = func(string) (session.Info, error) { return st.Latest(w.CWD) }
	}
	info, err := find(ref)
	return w, st, info, err
}

// note says something that is no answer.
func (c *command) note(format string, args ...any) {
	fmt.Fprintf(c.Streams.Err, format+"\n", args...)
}

// confirm asks, unless --yes said it already.
func (c *command) confirm(question string) (bool, error) {
	if c.yes {
		return true, nil
	}
	return c.Streams.Confirm(question)
}

// bytes writes a size for people.
func bytes(n int64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if n < 1024 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n /= 1024
	}
	return fmt.Sprintf("%d GiB", n)
}

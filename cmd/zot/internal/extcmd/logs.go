package extcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

func (c *command) logsCmd() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:               "logs NAME",
		Short:             "Show what an extension wrote to its standard error, and zot about it",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.logFile(args[0])
			if err != nil {
				return err
			}
			f := follower{path: path, out: newCleaner(c.Streams.Out), every: c.FollowEvery}
			if f.every <= 0 {
				f.every = 250 * time.Millisecond
			}
			if follow {
				return f.follow(cmd.Context(), func() { c.note("waiting for %s", path) })
			}
			err = f.print()
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there is no log for %q yet: %s is made when the extension starts", args[0], path)
			}
			return err
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	return cmd
}

// logFile finds the log. Several folders of one name share one; an extension
// that is gone may have left its.
func (c *command) logFile(name string) (string, error) {
	w, err := c.open()
	if err != nil {
		return "", err
	}
	plan, err := c.everything(w)
	if err != nil {
		return "", err
	}
	found := plan.Lookup(name)
	if len(found) == 0 {
		return leftLog(w, name)
	}
	for _, candidate := range found[1:] {
		if manifest.Fold(candidate.Name) != manifest.Fold(found[0].Name) {
			return "", &install.AmbiguousError{Name: name, Candidates: found}
		}
	}
	return w.Home.ExtensionLog(logName(found)), nil
}

// logName is the name as the extension that loads spells it.
func logName(found []*discovery.Candidate) string {
	for _, candidate := range found {
		if candidate.State == discovery.Load {
			return candidate.Name
		}
	}
	return found[0].Name
}

func leftLog(w *workspace.Workspace, name string) (string, error) {
	if manifest.CheckName(name) == nil {
		path := w.Home.ExtensionLog(name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", &install.NotFoundError{Name: name}
}

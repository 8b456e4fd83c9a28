package extcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/policycmd/gate"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/policies/lock"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
)

func (c *command) removeCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "remove NAME",
		Aliases:           []string{"rm"},
		Short:             "Delete an extension and what it keeps in its folder",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names,
		RunE:              func(_ *cobra.Command, args []string) error { return c.remove(args[0]) },
	}
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	c.scopeFlag(cmd)
	return cmd
}

func (c *command) remove(name string) error {
	w, err := c.open()
	if err != nil {
		return err
	}
	candidate, err := c.pick(w, name)
	if err != nil {
		return err
	}
	what := "remove " + candidate.Dir + " and all that is in it?"
	if candidate.Link != "" {
		what = "remove the link " + candidate.Dir + "? " + candidate.Link + " stays."
	}
	yes, err := c.confirm(what)
	if err != nil {
		return err
	}
	if !yes {
		c.note("aborted")
		return nil
	}
	if err := install.Remove(w.Home.Dir(), candidate); err != nil {
		return err
	}
	fmt.Fprintln(c.Streams.Out, iostreams.Printable("removed "+candidate.Name+" from "+candidate.Dir))
	return nil
}

func (c *command) switchCmd(on bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "enable NAME",
		Short:             "Load an extension again that was disabled",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names,
		RunE:              func(_ *cobra.Command, args []string) error { return c.switchTo(args[0], on) },
	}
	if !on {
		cmd.Use, cmd.Short = "disable NAME", "Keep an extension and do not load it"
	}
	c.scopeFlag(cmd)
	return cmd
}

func (c *command) switchTo(name string, on bool) error {
	w, err := c.open()
	if err != nil {
		return err
	}
	candidate, err := c.pick(w, name)
	if err != nil {
		return err
	}
	if !on {
		if err := c.required(w, candidate); err != nil {
			return err
		}
	}
	change := install.SetEnabled
	if pinned(w, candidate) {
		change = install.Switch
	}
	changed, err := change(w.Home.Dir(), w.ProjectRoot, candidate, on)
	if err != nil {
		return c.failed(err)
	}
	word := "disabled"
	if on {
		word = "enabled"
	}
	text := word + " " + candidate.Name
	switch {
	case !changed:
		text = candidate.Name + " is " + word + " already"
	case candidate.Scope == discovery.ScopeProject:
		text += ", for you in this project"
	}
	fmt.Fprintln(c.Streams.Out, iostreams.Printable(text))
	if on {
		c.saysNo(w, candidate.Name)
	}
	return nil
}

// required refuses to switch off what a policy says must run.
func (c *command) required(w *workspace.Workspace, candidate *discovery.Candidate) error {
	_, g, err := w.Judge(nil, false, c.Version)
	if err != nil {
		return err
	}
	b := g.Bound(candidate)
	if b == nil {
		return nil
	}
	if r, required := g.Set.Required(b.Subject()); required {
		return fmt.Errorf("%s stays on: %s", candidate.Name, gate.Sentence(r.SwitchOff()))
	}
	return nil
}

// pinned tells whether the user's own lock names the extension: its bytes must
// stay as they are.
func pinned(w *workspace.Workspace, c *discovery.Candidate) bool {
	if c.Scope == discovery.ScopeProject {
		return false
	}
	f, err := lock.Load(w.Home.LockFile())
	if errors.Is(err, lock.ErrNone) {
		return false
	}
	if err != nil {
		return true // whatever it says
	}
	_, ok := f.Lookup(c.Name)
	return ok
}

// indent is a block of text four columns further in, in whole lines.
func indent(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("    " + iostreams.Printable(line) + "\n")
	}
	return b.String()
}

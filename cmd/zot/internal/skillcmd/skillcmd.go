// Package skillcmd is "zot skills": it lists the skills that a session would
// have, says which are broken, and pins those that go along with each new
// conversation.
package skillcmd

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/runcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/schemas"
)

// Deps is what the commands need from outside.
type Deps struct {
	Streams *iostreams.Streams
	// Open finds the place to work in.
	Open func(workspace.Options) (*workspace.Workspace, error)
}

type command struct {
	Deps
	workspace.Options
	json, global bool
}

// New returns "zot skills" and its subcommands.
func New(d Deps) *cobra.Command {
	c := &command{Deps: d}
	root := &cobra.Command{
		Use: "skills", Short: "List skills, say which are broken, and pin them",
		Long: `Lists the skills that a session in this folder has, by their rank, and below
them every SKILL.md that is none: what is broken, with the line and the reason,
and what another of the same name hides. The status is 1 where one is broken.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.list() },
	}
	root.PersistentFlags().StringVar(&c.Home, "home", "", "folder of zot's state")
	root.PersistentFlags().StringVar(&c.CWD, "cwd", "", "folder to work in")
	root.PersistentFlags().BoolVar(&c.Options.Trust, "trust", false, "look at those of the project as if it was trusted")
	root.Flags().BoolVar(&c.json, "json", false, "answer in JSON")
	root.AddCommand(c.pinCmd(true), c.pinCmd(false))
	return root
}

// A row is a SKILL.md in "zot skills --json".
type row struct {
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	State       string       `json:"state"` // ok, user only, shadowed or broken
	Source      skill.Source `json:"source,omitempty"`
	Path        string       `json:"path,omitempty"`
	Line        int          `json:"line,omitempty"` // of the fault
	Reason      string       `json:"reason,omitempty"`
	Allowed     []string     `json:"allowed_tools,omitempty"`
	Pinned      bool         `json:"pinned,omitempty"`
}

func rowsOf(set *skill.Set, pinned []string) (rows []row, broken int) {
	add := func(s skill.Skill, state, reason string) {
		r := row{Name: s.Name, Description: s.Description, State: state, Source: s.Source, Path: s.Path, Reason: reason, Allowed: s.AllowedTools}
		for _, name := range pinned {
			r.Pinned = r.Pinned || state != "shadowed" && strings.EqualFold(name, s.Name)
		}
		rows = append(rows, r)
	}
	for _, s := range set.Skills {
		if s.DisableModelInvocation {
			add(s, "user only", "")
			continue
		}
		add(s, "ok", "")
	}
	for _, s := range set.Shadowed {
		where := s.By.Path
		if where == "" {
			where = string(s.By.Source)
		}
		add(s.Skill, "shadowed", "another of this name ranks higher: "+where)
	}
	for _, p := range set.Problems {
		rows = append(rows, row{State: "broken", Path: p.Path, Line: p.Line, Reason: p.Reason})
	}
	return rows, len(set.Problems)
}

func (c *command) list() error {
	w, err := c.Open(c.Options)
	if err != nil {
		return err
	}
	pins, err := runcmd.LoadPins(w)
	if err != nil {
		fmt.Fprintln(c.Streams.Err, "zot: warn: "+schemas.Printable(err.Error()))
	}
	rows, broken := rowsOf(runcmd.Skills(w), pins.Of(w.CWD))
	if c.json {
		if rows == nil {
			rows = []row{}
		}
		err = c.Streams.WriteJSON(rows)
	} else {
		err = c.print(rows)
	}
	if err == nil && broken > 0 {
		return &exit.Error{Code: exit.Failed, Err: fmt.Errorf("%d broken", broken), Silent: true}
	}
	return err
}

func (c *command) print(rows []row) error {
	t := tabwriter.NewWriter(c.Streams.Out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		state, text := r.State, r.Description
		if r.Pinned {
			state += ", pinned"
		}
		switch r.State {
		case "broken":
			text = skill.Problem{Path: r.Path, Line: r.Line, Reason: r.Reason}.String()
		case "shadowed":
			text = r.Path + ": " + r.Reason
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", schemas.Printable(r.Name), state, r.Source, schemas.Printable(text))
	}
	return t.Flush()
}

func (c *command) pinCmd(on bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pin NAME", Short: "Send a skill's text along with the first prompt of each new conversation here",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.pin(args[0], on) },
	}
	if !on {
		cmd.Use, cmd.Short = "unpin NAME", "Take a pin out"
	}
	cmd.Flags().BoolVar(&c.global, "global", false, "in every folder")
	return cmd
}

func (c *command) pin(name string, on bool) error {
	w, err := c.Open(c.Options)
	if err != nil {
		return err
	}
	if on {
		s, ok := runcmd.Skills(w).Find(name)
		if !ok {
			return fmt.Errorf("there is no skill %q; zot skills lists them", name)
		}
		name = s.Name
	}
	changed, err := runcmd.Pin(w, name, c.global, on)
	if err == nil && !changed && !on {
		return fmt.Errorf("%q is not pinned", name)
	}
	return err
}

package sessioncmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/runtime/session"
	"github.com/patriceckhart/zot/schemas"
)

func (c *command) renameCmd() *cobra.Command {
	return &cobra.Command{
		Use: "rename ID TITLE...", Short: "Give a conversation a title",
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			_, st, info, err := c.find(args[0])
			if err != nil {
				return err
			}
			return st.Rename(info.Path, strings.Join(args[1:], " "))
		},
	}
}

func (c *command) removeCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove ID...", Aliases: []string{"rm"}, Short: "Delete conversations",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, ref := range args {
				if err := c.remove(ref); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.yesFlag(cmd)
	return cmd
}

func (c *command) remove(ref string) error {
	_, st, info, err := c.find(ref)
	if err != nil {
		return err
	}
	yes, err := c.confirm("delete " + info.ID + ", " + info.Name() + "?")
	if err != nil {
		return err
	}
	if !yes {
		c.note("aborted")
		return nil
	}
	return st.Remove(info.Path)
}

// A pruned is the answer of "zot sessions prune --json".
type pruned struct {
	Deleted []row `json:"deleted"`
	InUse   []row `json:"in_use"`
	Bytes   int64 `json:"bytes"`
	DryRun  bool  `json:"dry_run"`
}

func (c *command) pruneCmd() *cobra.Command {
	var older string
	o := session.PruneOptions{}
	cmd := &cobra.Command{
		Use: "prune", Short: "Delete conversations that nobody went on with for long",
		Long: `Deletes the conversations of this folder, or with --all of every folder, that
were not gone on with for a month, or for as long as --older-than says, and the
images and long texts that no conversation needs any more. It lists them and
asks first. What is open in another zot stays.`,
		Example: "  zot sessions prune --dry-run\n  zot sessions prune --all --older-than 90d --keep 10 --yes",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			age, err := parseAge(older)
			if err != nil {
				return usage("--older-than: %w", err)
			}
			if o.Keep < 0 {
				return usage("--keep %d: use 0 or more", o.Keep)
			}
			o.OlderThan = age
			return c.prune(o)
		},
	}
	cmd.Flags().StringVar(&older, "older-than", "30d", "how long ago: a number and h, d, w, mo or y")
	cmd.Flags().IntVar(&o.Keep, "keep", 0, "how many of the latest of each folder stay in any case")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be deleted, and delete nothing")
	c.allFlag(cmd)
	c.yesFlag(cmd)
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) prune(o session.PruneOptions) error {
	w, st, err := c.open()
	if err != nil {
		return err
	}
	if !c.all {
		o.Cwd = w.CWD
	}
	if !o.DryRun && !c.yes {
		would := o
		would.DryRun = true
		plan, err := st.Prune(would)
		if err != nil {
			return err
		}
		if len(plan.Sessions) > 0 {
			c.say(plan, "would be deleted")
			if yes, err := c.confirm("delete them?"); err != nil || !yes {
				c.note("aborted")
				return err
			}
		}
	}
	done, err := st.Prune(o)
	if err != nil {
		return err
	}
	if c.json {
		return c.Streams.WriteJSON(pruned{Deleted: rows(done.Sessions), InUse: rows(done.InUse), Bytes: done.Bytes, DryRun: o.DryRun})
	}
	verb := "deleted"
	if o.DryRun {
		verb = "would be deleted"
		c.say(done, verb)
	}
	for _, i := range done.InUse {
		c.note("%s stays: it is open", i.ID)
	}
	fmt.Fprintf(c.Streams.Out, "%s %s, %s\n", iostreams.Count(len(done.Sessions), "conversation"), verb, bytes(done.Bytes))
	return nil
}

func (c *command) say(p session.Pruned, what string) {
	for _, i := range p.Sessions {
		c.note("%s  %s  %s  %s", what, i.ID, i.Modified.Local().Format(time.DateOnly), schemas.Printable(i.Name()))
	}
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// ages are the units of an age. A month has 30 days.
var ages = []struct {
	unit string
	is   time.Duration
}{{"mo", 30 * day}, {"h", time.Hour}, {"d", day}, {"w", 7 * day}, {"y", year}}

// maxAge is in years, so that no age is more than a duration holds.
const maxAge = 100

// parseAge reads an age such as 4h, 30d, 2w, 1mo or 1y.
func parseAge(s string) (time.Duration, error) {
	for _, a := range ages {
		number, ok := strings.CutSuffix(s, a.unit)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(number)
		if err == nil && n > 0 && n <= maxAge*int(year/a.is) {
			return time.Duration(n) * a.is, nil
		}
	}
	return 0, fmt.Errorf("%q is no age; write a number and h, d, w, mo or y, such as 30d", s)
}

package policycmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/policies/audit"
)

func (c *command) auditCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check that the log of decisions is as it was written; status 1 where it is not",
		Long: `Each line of the log holds the hash of the line before. This follows that chain
through the log and the older files beside it, and names the first line that was
changed, taken out or put in. What was cut off at the end shows only where the
hash of the last line, which is printed, is kept elsewhere.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.audit() },
	}
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) audit() error {
	w, err := c.Open(c.home, c.cwd)
	if err != nil {
		return err
	}
	chain, err := audit.VerifyAll(w.Home.AuditFile())
	var broken *audit.ChainError
	switch {
	case err != nil && !errors.As(err, &broken):
		return err
	case c.json:
		if jsonErr := c.printJSON(chain); jsonErr != nil {
			return jsonErr
		}
	case broken != nil:
	case chain.Records == 0:
		fmt.Fprintln(c.Streams.Out, "no decision has been logged yet")
	default:
		for _, f := range chain.Files {
			fmt.Fprintln(c.Streams.Out, f)
		}
		fmt.Fprintf(c.Streams.Out, "%s, as written; the last is %s\n", iostreams.Count(chain.Records, "decision"), chain.Last)
	}
	return err
}

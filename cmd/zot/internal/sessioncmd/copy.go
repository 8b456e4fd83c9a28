package sessioncmd

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/schemas"
)

func (c *command) forkCmd() *cobra.Command {
	at := -1
	cmd := &cobra.Command{
		Use: "fork ID", Short: "Begin a conversation of this folder with a copy of another",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at") && at < 1 {
				return usage("--at %d: use the number of a message after the first", at)
			}
			w, st, info, err := c.find(args[0])
			if err != nil {
				return err
			}
			made, err := st.Fork(info.Path, at, w.CWD)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.Streams.Out, made.ID)
			c.note("go on with it: zot --session %s", made.ID)
			return nil
		},
	}
	cmd.Flags().IntVar(&at, "at", at, "copy only what is before the message with this `number`, as show lists them")
	return cmd
}

func (c *command) exportCmd() *cobra.Command {
	return &cobra.Command{
		Use: "export ID [FILE]", Short: "Write a conversation to a file, or with - to standard output",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			w, st, info, err := c.find(args[0])
			if err != nil {
				return err
			}
			to := info.ID + ".zotsession"
			if len(args) == 2 {
				to = args[1]
			}
			if to == "-" {
				return st.Export(info.Path, c.Streams.Out)
			}
			to = w.Path(to)
			if err := st.ExportFile(info.Path, to); err != nil {
				return err
			}
			fmt.Fprintln(c.Streams.Out, schemas.Printable(to))
			return nil
		},
	}
}

func (c *command) importCmd() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Take in a conversation that was exported, as one of this folder",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			w, st, err := c.open()
			if err != nil {
				return err
			}
			info, notices, err := st.ImportFile(w.Path(args[0]), w.CWD)
			if err != nil {
				return err
			}
			for _, n := range notices {
				c.note("zot: warn: %s", n)
			}
			fmt.Fprintln(c.Streams.Out, info.ID)
			c.note("go on with it: zot --session %s", cmp.Or(info.ID, info.Path))
			return nil
		},
	}
}

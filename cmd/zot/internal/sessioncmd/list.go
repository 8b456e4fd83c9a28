package sessioncmd

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/runtime/session"
	"github.com/patriceckhart/zot/schemas"
)

// A row is a conversation in "zot sessions list --json".
type row struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"` // or how it began
	Folder   string    `json:"folder"`
	Modified time.Time `json:"modified"`
	Messages int       `json:"messages"` // -1 where the file is too long to know
	Size     int64     `json:"size"`
	Model    string    `json:"model,omitempty"`
	Provider string    `json:"provider,omitempty"`
	Parent   string    `json:"parent,omitempty"` // what it was forked from
	Path     string    `json:"path"`
}

func rowOf(i session.Info) row {
	return row{
		ID: i.ID, Title: i.Name(), Folder: i.Cwd, Modified: i.Modified.UTC().Truncate(time.Second), Messages: i.Messages,
		Size: i.Size, Model: i.Model, Provider: i.Provider, Parent: i.Parent, Path: i.Path,
	}
}

func rows(infos []session.Info) []row {
	out := []row{}
	for _, i := range infos {
		out = append(out, rowOf(i))
	}
	return out
}

func (c *command) listCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List this folder's conversations, the latest first",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.list() },
	}
	c.allFlag(cmd)
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) list() error {
	infos, err := c.infos()
	if err != nil {
		return err
	}
	if c.json {
		return c.Streams.WriteJSON(rows(infos))
	}
	if len(infos) == 0 {
		c.note("no conversations; those of other folders are listed by --all")
		return nil
	}
	t := tabwriter.NewWriter(c.Streams.Out, 0, 0, 2, ' ', 0)
	for _, i := range infos {
		c.line(t, "", i)
	}
	return t.Flush()
}

// infos lists the conversations that the flags mean, and says which files
// could not be read.
func (c *command) infos() ([]session.Info, error) {
	w, st, err := c.open()
	if err != nil {
		return nil, err
	}
	infos, errs := st.List(w.CWD)
	if c.all {
		infos, errs = st.ListAll()
	}
	for _, err := range errs {
		c.note("zot: warn: %s", schemas.Printable(err.Error()))
	}
	if len(infos) == 0 && len(errs) > 0 {
		return nil, errors.New("no conversation could be read")
	}
	return infos, nil
}

// shortID is how much of an id a list for people shows; it is what the name of
// the file has of it, too.
const shortID = 8

func short(id string) string { return id[:min(len(id), shortID)] }

func (c *command) line(t *tabwriter.Writer, indent string, i session.Info) {
	messages := "many"
	if i.Messages >= 0 {
		messages = strconv.Itoa(i.Messages)
	}
	cells := []string{short(i.ID), i.Modified.Local().Format("2006-01-02 15:04"), messages, indent + i.Name()}
	if c.all {
		cells = append(cells, i.Cwd)
	}
	for k, cell := range cells {
		cells[k] = schemas.Printable(cell)
	}
	fmt.Fprintln(t, strings.Join(cells, "\t"))
}

func (c *command) treeCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tree", Short: "List conversations below those that they were forked from",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			infos, err := c.infos()
			if err != nil {
				return err
			}
			t := tabwriter.NewWriter(c.Streams.Out, 0, 0, 2, ' ', 0)
			c.branches(t, "", session.Tree(infos))
			return t.Flush()
		},
	}
	c.allFlag(cmd)
	return cmd
}

func (c *command) branches(t *tabwriter.Writer, indent string, nodes []*session.Node) {
	for _, n := range nodes {
		c.line(t, indent, n.Info)
		c.branches(t, indent+"  ", n.Forks)
	}
}

func (c *command) showCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: "List the messages of a conversation, with the numbers that fork takes",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.show(args[0]) },
	}
	c.jsonFlag(cmd)
	return cmd
}

// A shown is a message in "zot sessions show --json".
type shown struct {
	Number int       `json:"number"`
	Role   string    `json:"role"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text,omitempty"` // its beginning
	Calls  []string  `json:"calls,omitempty"`
}

func (c *command) show(ref string) error {
	_, st, info, err := c.find(ref)
	if err != nil {
		return err
	}
	entries, err := st.History(info.Path)
	if err != nil {
		return err
	}
	rows := []shown{}
	for _, e := range entries {
		rows = append(rows, shown{Number: e.Ordinal, Role: string(e.Role), Time: e.Time, Text: e.Preview, Calls: e.Calls})
	}
	if c.json {
		return c.Streams.WriteJSON(rows)
	}
	c.note("%s  %s  %s", info.ID, info.Cwd, cmp.Or(info.Model, "no model"))
	t := tabwriter.NewWriter(c.Streams.Out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		text := r.Text
		for _, name := range r.Calls {
			text = strings.TrimSpace(text + " [" + name + "]")
		}
		fmt.Fprintf(t, "%d\t%s\t%s\n", r.Number, r.Role, schemas.Printable(text))
	}
	return t.Flush()
}

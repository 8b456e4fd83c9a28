package configcmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/schemas"
)

func (c *command) showCmd() *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [PREFIX]",
		Short: "Print the settings that hold, and with --origin who set them",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var prefix []string
			if len(args) == 1 {
				var err error
				if prefix, err = path(args[0]); err != nil {
					return err
				}
			}
			return c.show(prefix, origin)
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "name the layer, file, line and column of each value")
	c.jsonFlag(cmd)
	return cmd
}

// entryJSON is a setting as --json prints it.
type entryJSON struct {
	Key      string       `json:"key"`
	Value    any          `json:"value"`
	Layer    config.Layer `json:"layer"`
	Source   string       `json:"source,omitempty"`
	Line     int          `json:"line,omitempty"`
	Column   int          `json:"column,omitempty"`
	Appended bool         `json:"appended,omitempty"`
	Below    []originJSON `json:"below,omitempty"`
	// Held says that the value does not hold: its project is not trusted.
	Held bool `json:"held,omitempty"`
}

type originJSON struct {
	Layer  config.Layer `json:"layer"`
	Source string       `json:"source,omitempty"`
	Line   int          `json:"line,omitempty"`
	Column int          `json:"column,omitempty"`
}

func toJSON(e config.Entry, held bool) entryJSON {
	j := entryJSON{
		Key: config.FormatPath(e.Path), Value: e.JSON(), Layer: e.Layer, Source: e.Source,
		Line: e.Pos.Line, Column: e.Pos.Column, Appended: e.Appended, Held: held,
	}
	for _, o := range e.Below {
		j.Below = append(j.Below, originJSON{o.Layer, o.Source, o.Pos.Line, o.Pos.Column})
	}
	return j
}

func (c *command) show(prefix []string, origin bool) error {
	s, _, err := c.load()
	if err != nil {
		return err
	}
	entries, held := s.Entries(prefix...), s.Held()
	if len(prefix) > 0 && len(entries) == 0 && !config.Known(prefix) {
		return &exit.UsageError{Err: &config.UnknownKeyError{Path: prefix}}
	}
	if c.json {
		out := []entryJSON{}
		for _, e := range entries {
			out = append(out, toJSON(e, false))
		}
		for _, e := range held {
			out = append(out, toJSON(e, true))
		}
		return c.printJSON(out)
	}
	w := tabwriter.NewWriter(c.Streams.Out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		printEntry(w, e, origin)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, e := range held {
		fmt.Fprintf(c.Streams.Err, "held back until the project is trusted: %s = %s (%s)\n",
			schemas.Printable(config.FormatPath(e.Path)), schemas.Printable(e.Literal()), e.Origin)
	}
	return nil
}

func printEntry(w *tabwriter.Writer, e config.Entry, origin bool) {
	line := schemas.Printable(config.FormatPath(e.Path)) + "\t" + schemas.Printable(e.Literal())
	if origin {
		line += "\t" + e.Layer.String() + "\t" + document.Place(e.Source, e.Pos)
		for _, o := range e.Below {
			line += "; and " + o.String()
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line, "\t"))
}

func (c *command) printJSON(v any) error {
	enc := json.NewEncoder(c.Streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (c *command) getCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get KEY",
		Short: "Print the value of one setting; status 1 where it has none",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := path(args[0])
			if err != nil {
				return err
			}
			return c.get(p)
		},
	}
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) get(p []string) error {
	s, _, err := c.load()
	if err != nil {
		return err
	}
	if !config.Known(p) {
		return &exit.UsageError{Err: &config.UnknownKeyError{Path: p}}
	}
	e, ok := s.Effective(p)
	switch {
	case ok && c.json:
		return c.printJSON(toJSON(e, false))
	case ok:
		fmt.Fprintln(c.Streams.Out, bare(e))
		return nil
	}
	below := s.Entries(p...)
	if len(below) == 0 {
		return fmt.Errorf("%s is not set", config.FormatPath(p))
	}
	tree := map[string]any{}
	for _, e := range below {
		put(tree, e.Path[len(p):], e.JSON())
	}
	return c.printJSON(tree)
}

// bare is the value for scripts: a string without quotes, a list one per line.
func bare(e config.Entry) string {
	switch v := e.Value.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, "\n")
	}
	return strings.Trim(e.Literal(), `"`)
}

func put(m map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, ok := m[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
}

func (c *command) pathCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "path",
		Short: "List the settings files, lowest layer first",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, _, err := c.load()
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(s.Files)
			}
			w := tabwriter.NewWriter(c.Streams.Out, 0, 0, 2, ' ', 0)
			for _, f := range s.Files {
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Layer, f.Path, state(f))
			}
			return w.Flush()
		},
	}
	c.jsonFlag(cmd)
	return cmd
}

func state(f config.LayerFile) string {
	switch {
	case !f.Found:
		return "not there"
	case f.Broken:
		return "not read: it has faults"
	case f.Held:
		return "held back until the project is trusted"
	}
	return "read"
}

package extcmd

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
	"github.com/patriceckhart/zot/schemas"
)

// A row is one extension in "zot ext list", and its form in JSON.
type row struct {
	Name        string             `json:"name"`
	Scope       discovery.Scope    `json:"scope"`
	Version     string             `json:"version,omitempty"`
	Enabled     bool               `json:"enabled"`
	State       discovery.State    `json:"state"`
	Reason      string             `json:"reason,omitempty"`
	Error       string             `json:"error,omitempty"`
	Kind        manifest.Kind      `json:"kind,omitempty"`
	Transport   manifest.Transport `json:"transport,omitempty"`
	Language    string             `json:"language,omitempty"`
	Description string             `json:"description,omitempty"`
	Source      string             `json:"source,omitempty"`
	RefKind     install.RefKind    `json:"refKind,omitempty"`
	Commit      string             `json:"commit,omitempty"`
	Dir         string             `json:"dir"`
	Link        string             `json:"link,omitempty"`
	Warnings    []schemas.Problem  `json:"warnings,omitempty"`
	candidate   *discovery.Candidate
}

func (c *command) listCmd() *cobra.Command {
	var explicit []string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List extensions, and say why one does not load",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return c.list(explicit) },
	}
	c.jsonFlag(cmd)
	cmd.Flags().StringArrayVarP(&explicit, "ext", "e", nil, "a folder to look at as if given to zot itself")
	return cmd
}

func (c *command) list(explicit []string) error {
	w, err := c.open()
	if err != nil {
		return err
	}
	plan, err := w.Extensions(explicit, false, c.Version)
	if err != nil {
		c.note("zot: %v", err)
	}
	for _, problem := range plan.Problems {
		c.note("zot: %v", problem)
	}
	for _, dir := range plan.Bare {
		c.note("%s", bareText(dir))
	}
	rows := make([]row, len(plan.Candidates))
	for i, candidate := range plan.Candidates {
		rows[i] = c.row(w, candidate)
	}
	if c.json {
		return c.Streams.WriteJSON(rows)
	}
	c.hintSettings(w)
	switch {
	case len(rows) == 0 && len(w.LeftOut()) > 0:
		return nil // that says why there is none to list
	case len(rows) == 0:
		c.note("no extensions installed\ninstall one with: zot ext install FOLDER-OR-GIT-ADDRESS")
		return nil
	}
	return printRows(c.Streams.Out, rows)
}

// bareText is what there is to say of a folder among the extensions that is
// none.
func bareText(dir string) string {
	return fmt.Sprintf("%s is no extension: it has no %s", dir, manifest.FileName)
}

// hintSettings says which places the settings leave out.
func (c *command) hintSettings(w *workspace.Workspace) {
	for _, line := range w.LeftOut() {
		c.note("%s", line)
	}
}

func (c *command) row(w *workspace.Workspace, candidate *discovery.Candidate) row {
	r := row{Name: candidate.Name, Scope: candidate.Scope, State: candidate.State, Reason: candidate.Reason,
		Dir: candidate.Dir, Link: candidate.Link, Warnings: candidate.Warnings, candidate: candidate}
	if candidate.Err != nil {
		r.Error = candidate.Err.Error()
	}
	if m := candidate.Manifest; m != nil {
		r.Version, r.Language, r.Description, r.Kind, r.Transport = m.Version, m.Language, m.Description, m.Kind(), m.Transport
		r.Enabled = candidate.State != discovery.Disabled
	}
	if candidate.Scope != discovery.ScopeGlobal {
		return r
	}
	origin, known, err := install.OriginOf(w.Home.Dir(), candidate.Folder)
	if err != nil {
		c.note("zot: %v", err)
	}
	if known {
		r.Source, r.RefKind, r.Commit = origin.Source, origin.RefKind, origin.Commit
	}
	return r
}

// printRows prints a table, and below it why what does not load does not.
func printRows(out io.Writer, rows []row) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCOPE\tNAME\tVERSION\tENABLED\tSTATE\tLANGUAGE\tSOURCE\tDIR\tDESCRIPTION")
	for _, r := range rows {
		enabled := "yes"
		if !r.Enabled {
			enabled = "no"
		}
		if r.candidate.Manifest == nil {
			enabled = "-" // nobody knows
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Scope, cell(r.Name), cell(r.Version), enabled, r.State,
			cell(r.Language), cell(r.shortSource()), cell(r.Dir), cell(r.Description))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	first := true
	for _, r := range rows {
		if text := r.why(); text != "" {
			if first {
				fmt.Fprintln(out)
				first = false
			}
			fmt.Fprint(out, text)
		}
	}
	return nil
}

func cell(text string) string {
	if text = schemas.Printable(text); text == "" {
		return "-"
	}
	return text
}

// shortSource is the source with the commit that is installed.
func (r row) shortSource() string {
	if r.Commit == "" {
		return r.Source
	}
	return r.Source + " at " + r.Commit[:min(len(r.Commit), 12)]
}

// why is what there is to say of an extension beyond its row, in whole lines.
func (r row) why() string {
	text := ""
	if r.State != discovery.Load {
		text = iostreams.Printable(fmt.Sprintf("%s (%s) does not load: %s", r.Name, r.Scope, r.Reason)) + "\n"
	}
	if err := r.candidate.Err; err != nil {
		text += indent(shown(err))
	}
	if m := r.candidate.Manifest; m != nil {
		for _, p := range r.Warnings {
			text += indent(schemas.Render(p, m.File, m.Text))
		}
	}
	return text
}

package runcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/provider"
	"github.com/patriceckhart/zot/schemas"
)

// A modelRow is a line of the listing of models.
type modelRow struct {
	Provider  string          `json:"provider"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Context   int             `json:"context_window"`
	MaxOutput int             `json:"max_output"`
	Reasoning bool            `json:"reasoning"`
	Source    string          `json:"source"` // catalogue, live, settings, or a file
	Price     *provider.Price `json:"price,omitempty"`
}

// ListModels prints the models that can be chosen: provider, id, context, most
// output, a mark for reasoning, source, name, and the price of a million tokens
// in and out. Numbers that nobody stated are 0, and prices a dash.
func ListModels(ctx context.Context, f *Flags, s *iostreams.Streams) error {
	w, err := workspace.Open(workspace.Options{CWD: f.CWD, Home: f.Home, Flags: overrides(f)})
	if err != nil {
		return err
	}
	c := newConnector(f, w)
	catalogue, complaints, err := c.listing(ctx)
	if err != nil {
		return err
	}
	for _, text := range complaints {
		fmt.Fprintln(s.Err, "zot: warn: "+schemas.Printable(text))
	}
	want := w.Settings.Config.Provider
	if info, ok := catalogue.Provider(want); ok {
		want = info.ID
	}
	rows := modelRows(catalogue, want)
	if f.JSON {
		return s.WriteJSON(rows)
	}
	return printModels(s.Out, rows)
}

// modelRows lists the models of one service, or of all where want is empty, in
// the order of the services.
func modelRows(catalogue *provider.Catalogue, want string) []modelRow {
	rank := map[string]int{}
	for i, p := range catalogue.Providers() {
		rank[p.ID] = i - len(catalogue.Providers()) // those that are no service of the catalogue come last
	}
	models := catalogue.Models(want)
	slices.SortStableFunc(models, func(a, b provider.Model) int { return rank[a.Provider] - rank[b.Provider] })
	rows := []modelRow{}
	for _, m := range models {
		rows = append(rows, modelRow{
			Provider: m.Provider, ID: m.ID, Name: m.Name, Context: m.Context, MaxOutput: m.MaxOutput,
			Reasoning: m.Reasoning, Source: m.Source, Price: m.Price,
		})
	}
	return rows
}

func printModels(out io.Writer, rows []modelRow) error {
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		mark, price := "-", "-"
		if r.Reasoning {
			mark = "reasoning"
		}
		if r.Price != nil {
			price = "$" + dollars(r.Price.Input) + "/$" + dollars(r.Price.Output)
		}
		cells := []string{r.Provider, r.ID, strconv.Itoa(r.Context), strconv.Itoa(r.MaxOutput), mark, r.Source, r.Name, price}
		for i, cell := range cells {
			cells[i] = schemas.Printable(cell)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

func dollars(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

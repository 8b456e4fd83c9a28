package extcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/extension/discovery"
	"github.com/patriceckhart/zot/runtime/extension/install"
)

func (c *command) installCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install FOLDER|MODULE.wasm|GIT-ADDRESS",
		Short: "Copy an extension into zot's home",
		Long: `Copy an extension into zot's home, from a folder or from a git repository. Nothing
of it is run or built. A WebAssembly module may come without a folder: it is then
run with nothing granted, until it has said its name. A git address is https://…,
ssh://…, user@host:path or a path that ends in .git; //FOLDER after it selects a
folder inside, and #REF pins a branch (which updates follow), a tag or a commit
(which stay).`,
		Example: `  zot ext install ./hello
  zot ext install ./weather.wasm
  zot ext install https://example.com/tools/zot-weather
  zot ext install git@example.com:tools/extensions.git//weather#v1.2.0`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.install(cmd.Context(), args[0]) },
	}
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) install(ctx context.Context, source string) error {
	w, err := c.open()
	if err != nil {
		return err
	}
	limited, cancel := w.FetchTime(ctx)
	defer cancel()
	result, err := install.Install(limited, c.installOptions(w), source)
	if late := context.Cause(limited); err != nil && late != nil {
		return fmt.Errorf("installing %q: %w", source, late)
	}
	if err != nil {
		return c.failed(err)
	}
	c.compile(ctx, w, &result)
	c.report(result)
	if c.json {
		return c.Streams.WriteJSON(result)
	}
	fmt.Fprintln(c.Streams.Out, iostreams.Printable(strings.TrimSpace("installed "+result.Name+" "+result.Version)+" in "+result.Dir))
	c.note("it is there the next time zot starts; in a running one type /reload-ext")
	c.saysNo(w, result.Name)
	return nil
}

// saysNo tells that an extension is there now and does not load all the same.
func (c *command) saysNo(w *workspace.Workspace, name string) {
	plan, err := w.Extensions(nil, false, c.Version)
	if err != nil {
		return
	}
	for _, candidate := range plan.Candidates {
		if candidate.Name == name && candidate.State == discovery.Load {
			return
		}
	}
	for _, candidate := range plan.Candidates {
		if candidate.Name == name {
			c.note("it does not load: %s", candidate.Reason)
			return
		}
	}
	c.hintSettings(w)
}

// report tells what was left out of a copy or kept through an update.
func (c *command) report(r install.Result) {
	for _, s := range r.Skipped {
		c.note("not copied: %s (%s)", s.Path, s.Reason)
	}
	for _, k := range r.Kept {
		c.note("kept: %s", k)
	}
	for _, warning := range r.Warnings {
		c.note("warning: %s", warning)
	}
}

func (c *command) updateCmd() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "update [NAME…]",
		Short: "Bring installed extensions up to date",
		Long: `Bring extensions to what their source holds now: all, or those named. One that
was pinned to a tag or a commit stays there. The old version stays in place until
the new one has been checked. Files that the extension has written are kept; one
of its own that was changed stops its update, unless --force keeps the changed
file beside the new one as NAME.local.`,
		ValidArgsFunction: c.names,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.update(cmd.Context(), args, force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace files of the extension that were changed")
	c.jsonFlag(cmd)
	return cmd
}

func (c *command) update(ctx context.Context, names []string, force bool) error {
	w, err := c.open()
	if err != nil {
		return err
	}
	c.scope = string(discovery.ScopeGlobal)
	chosen, err := c.updatable(w, names)
	if err != nil {
		return err
	}
	results := []install.Result{}
	failures := 0
	for _, candidate := range chosen {
		result, err := c.updateOne(ctx, w, candidate, force)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failures++
			c.note("%s stays as it is: %s", candidate.Name, shown(err))
			continue
		}
		c.compile(ctx, w, &result)
		c.report(result)
		results = append(results, result)
		if !c.json {
			c.sayUpdate(candidate, result)
		}
	}
	if c.json {
		if err := c.Streams.WriteJSON(results); err != nil {
			return err
		}
	}
	if failures > 0 {
		return &exit.Error{Code: exit.Failed, Err: fmt.Errorf("%d of %d updates failed", failures, len(chosen)), Silent: true}
	}
	return nil
}

// updateOne updates an extension in the time that one fetch may take.
func (c *command) updateOne(ctx context.Context, w *workspace.Workspace, candidate *discovery.Candidate, force bool) (install.Result, error) {
	ctx, cancel := w.FetchTime(ctx)
	defer cancel()
	o := install.UpdateOptions{Options: c.installOptions(w), Force: force, Check: c.Check}
	result, err := install.Update(ctx, o, candidate)
	if late := context.Cause(ctx); err != nil && late != nil {
		err = late
	}
	return result, err
}

// updatable are the extensions named, or all that zot installed.
func (c *command) updatable(w *workspace.Workspace, names []string) ([]*discovery.Candidate, error) {
	var chosen []*discovery.Candidate
	for _, name := range names {
		candidate, err := c.pick(w, name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, candidate)
	}
	if len(names) > 0 {
		return chosen, nil
	}
	plan := discovery.Find(discovery.Options{Home: w.Home.Dir()})
	for _, candidate := range plan.Candidates {
		_, known, err := install.OriginOf(w.Home.Dir(), candidate.Folder)
		switch {
		case err != nil:
			return nil, err
		case known:
			chosen = append(chosen, candidate)
		default:
			c.note("%s was not installed from a source that zot knows; it is left alone", candidate.Name)
		}
	}
	if len(chosen) == 0 {
		c.note("nothing to update")
	}
	return chosen, nil
}

func (c *command) sayUpdate(before *discovery.Candidate, r install.Result) {
	if !r.Changed {
		fmt.Fprintln(c.Streams.Out, iostreams.Printable(r.Name+" "+r.Note))
		return
	}
	was, is := "", r.Version
	if before.Manifest != nil {
		was = before.Manifest.Version
	}
	if commit := r.Origin.ShortCommit(); commit != "" {
		is = strings.TrimSpace(is + " (" + commit + ")")
	}
	fmt.Fprintln(c.Streams.Out, iostreams.Printable(fmt.Sprintf("updated %s from %s to %s", r.Name, cell(was), cell(is))))
}

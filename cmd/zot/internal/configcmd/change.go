package configcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/shell"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/schemas"
)

// writable are the layers that the command line may write.
var writable = []config.Layer{config.User, config.Project, config.Local, config.UserProject}

// layerFlag adds --layer and returns the function that reads it.
func layerFlag(cmd *cobra.Command) func() (config.Layer, error) {
	name := cmd.Flags().String("layer", config.User.String(), "layer to write: user, project, local or user-project")
	return func() (config.Layer, error) {
		layer, ok := config.ParseLayer(*name)
		if !ok || !slices.Contains(writable, layer) {
			return 0, &exit.UsageError{Err: fmt.Errorf("--layer %q: write user, project, local or user-project", *name)}
		}
		return layer, nil
	}
}

// target returns the file of a layer and makes ready what a first write needs.
func (c *command) target(layer config.Layer) (file string, o config.Options, err error) {
	if o, err = c.options(); err != nil {
		return "", o, err
	}
	if file, err = o.FileOf(layer); err != nil {
		return "", o, err
	}
	if layer == config.Local {
		err = config.PrepareLocal(o.ProjectRoot)
	}
	return file, o, err
}

func (c *command) setCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Save one setting and leave the rest of the file as it is",
		Long: `Save one setting. A list is written with commas, or as JSON; a plus before the
name of a list appends to the layers below:

  zot config set model gpt-4.1
  zot config set tools read,edit
  zot config set --layer project +extensions.disabled noisy`,
		Args: cobra.ExactArgs(2),
	}
	layer := layerFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		l, err := layer()
		if err != nil {
			return err
		}
		p, err := path(args[0])
		if err != nil {
			return err
		}
		return c.set(l, plusLast(p), args[1])
	}
	return cmd
}

// plusLast moves a plus from the start of the whole name to its last part,
// where it belongs in a file.
func plusLast(p []string) []string {
	if first, ok := strings.CutPrefix(p[0], "+"); ok && len(p) > 1 {
		p = slices.Clone(p)
		p[0] = first
		p[len(p)-1] = "+" + p[len(p)-1]
	}
	return p
}

// withoutPlus is the name without the plus that appends, before the part at i.
func withoutPlus(p []string, i int) []string {
	p = slices.Clone(p)
	p[i] = strings.TrimPrefix(p[i], "+")
	return p
}

func (c *command) set(layer config.Layer, p []string, text string) error {
	value, err := config.FileValue(layer, p, text)
	var unknown *config.UnknownKeyError
	if errors.As(err, &unknown) {
		return &exit.UsageError{Err: err}
	}
	if err != nil {
		return err
	}
	doubt, err := c.lookUp(p, value)
	if err != nil {
		return err
	}
	file, o, err := c.target(layer)
	if err != nil {
		return err
	}
	if err := config.Set(o.Home, file, p, value); err != nil {
		return c.unsaved(err)
	}
	fmt.Fprintf(c.Streams.Err, "saved %s in %s\n", config.FormatPath(p), file)
	if doubt != nil {
		fmt.Fprintf(c.Streams.Err, "warning: %s\n", schemas.Printable(doubt.Error()))
	}
	return c.noteDecider(layer, p, o)
}

// noteDecider says when another layer than the one just written decides.
func (c *command) noteDecider(layer config.Layer, p []string, o config.Options) error {
	s, err := config.Load(o)
	if err != nil {
		return err
	}
	if e, ok := s.Effective(p); ok && e.Layer > layer {
		fmt.Fprintf(c.Streams.Err, "note: %s still holds, from %s\n", e.Literal(), e.Origin)
	}
	waits := func(e config.Entry) bool { return e.Layer == layer && slices.Equal(e.Path, withoutPlus(p, len(p)-1)) }
	if slices.ContainsFunc(s.Held(), waits) {
		fmt.Fprintln(c.Streams.Err, "note: it takes effect once the project is trusted")
	}
	return nil
}

func (c *command) unsetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unset KEY",
		Short: "Remove one setting from a layer; status 1 where it was not there",
		Args:  cobra.ExactArgs(1),
	}
	layer := layerFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		l, err := layer()
		if err != nil {
			return err
		}
		p, err := path(args[0])
		if err != nil {
			return err
		}
		file, o, err := c.target(l)
		if err != nil {
			return err
		}
		found, err := config.Unset(o.Home, file, plusLast(p))
		if err != nil {
			return c.unsaved(err)
		}
		switch {
		case !found && !config.Known(withoutPlus(p, 0)):
			return &exit.UsageError{Err: &config.UnknownKeyError{Path: p}}
		case !found:
			return fmt.Errorf("%s does not set %s", file, args[0])
		}
		fmt.Fprintf(c.Streams.Err, "removed %s from %s\n", args[0], file)
		return nil
	}
	return cmd
}

func (c *command) editCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Open a settings file in $VISUAL or $EDITOR, and check it afterwards",
		Args:  cobra.NoArgs,
	}
	layer := layerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := layer()
		if err != nil {
			return err
		}
		return c.edit(cmd.Context(), l)
	}
	return cmd
}

func (c *command) edit(ctx context.Context, layer config.Layer) error {
	editor, err := c.editor()
	if err != nil {
		return err
	}
	file, o, err := c.target(layer)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		if err := config.Create(o.Home, file); err != nil {
			return err
		}
	}
	switch err := c.Edit(ctx, append(editor, file)); {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no editor %q; set VISUAL or EDITOR to the name of one", editor[0])
	case err != nil:
		return fmt.Errorf("running editor %q: %w", editor[0], err)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(c.Streams.Err, "note: %s is not there any more, so the %s layer sets nothing\n", schemas.Printable(file), layer)
		return nil
	}
	return c.check(layer, file, o)
}

// editor is the command line of $VISUAL or $EDITOR.
func (c *command) editor() ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words, err := cutWords(c.Getenv(name), c.Getenv)
		if err != nil {
			return nil, fmt.Errorf("%s is %q, which is no command line: %w", name, c.Getenv(name), err)
		}
		if len(words) > 0 {
			return words, nil
		}
	}
	return nil, errors.New("no editor is known; set VISUAL or EDITOR to the name of one")
}

// cutWords cuts a command line as a shell does. On Windows, where backslashes
// are part of paths, it is cut at spaces.
func cutWords(line string, getenv func(string) string) ([]string, error) {
	if runtime.GOOS == "windows" {
		return strings.Fields(line), nil
	}
	return shell.Fields(line, getenv)
}

// Package mancmd is "zot man": it writes manual pages of the command line, one
// for each command, for whoever packages zot.
//
// The same package keeps the tables of docs/ that come from code: its test
// compares them, and writes them anew with -update.
package mancmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/muesli/mango"
	mcobra "github.com/muesli/mango-cobra"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
)

// New returns "zot man", which no help shows.
func New(s *iostreams.Streams) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages of all commands to a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := Write(args[0], cmd.Root())
			if err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "wrote %d manual pages to %s\n", n, args[0])
			return nil
		},
	}
}

// Write writes a page for root and every command below it that help shows, and
// returns how many that were.
func Write(dir string, root *cobra.Command) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	written := 0
	for _, cmd := range all(root) {
		text, err := Page(cmd)
		if err != nil {
			return written, fmt.Errorf("manual page of %q: %w", cmd.CommandPath(), err)
		}
		if err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(text), 0o644); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// all lists a command and those below it that help shows.
func all(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			out = append(out, all(sub)...)
		}
	}
	return out
}

// pageName is the name of a command's page: "zot-config-set".
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the manual page of a command, with those below it in short.
func Page(cmd *cobra.Command) (string, error) {
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	page, err := mcobra.NewManPage(1, cmd)
	if err != nil {
		return "", err
	}
	page.WithLongDescription(long)
	tidy(&page.Root, cmd)
	page.Root.Name = pageName(cmd)
	for _, s := range sections(cmd) {
		page.WithSection(s.Name, s.Text)
	}
	return page.Build(&roff{usage: strings.TrimSuffix(cmd.UseLine(), " [flags]")}), nil
}

// tidy takes out what help does not show, and writes usages as help does.
func tidy(item *mango.Command, cmd *cobra.Command) {
	for name, f := range item.Flags {
		flag := cmd.Flags().Lookup(name)
		if flag == nil {
			flag = cmd.PersistentFlags().Lookup(name)
		}
		if flag == nil || flag.Hidden {
			delete(item.Flags, name)
			continue
		}
		value, usage := pflag.UnquoteUsage(flag)
		f.Usage = strings.ToUpper(usage[:min(1, len(usage))]) + usage[min(1, len(usage)):] + "."
		delete(item.Flags, name)
		if value != "" {
			f.Name += " " + value // the tag of the paragraph
		}
		item.Flags[name] = f
	}
	for _, sub := range cmd.Commands() {
		below := item.Commands[sub.Name()]
		if below == nil {
			continue
		}
		if sub.Name() == "help" {
			delete(item.Commands, sub.Name())
			continue
		}
		below.Usage = strings.TrimSuffix(sub.Use, " [flags]")
		tidy(below, sub)
	}
}

// sections end a page.
func sections(cmd *cobra.Command) []mango.Section {
	var out []mango.Section
	if !cmd.HasParent() {
		out = append(out,
			mango.Section{Name: "Environment", Text: "ZOT_HOME is the folder of zot's state. Every setting has a variable; zot config show --origin tells which decide."},
			mango.Section{Name: "Files", Text: "Settings are config.json or config.yaml in the managed folder, in ZOT_HOME, and in .zot of a project. zot config path lists them."},
			mango.Section{Name: "Exit status", Text: exitStatus},
		)
	}
	var see []string
	if cmd.HasParent() {
		see = append(see, pageName(cmd.Parent())+"(1)")
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			see = append(see, pageName(sub)+"(1)")
		}
	}
	if len(see) > 0 {
		out = append(out, mango.Section{Name: "See also", Text: strings.Join(see, ", ")})
	}
	return out
}

const exitStatus = `0 when all went well, 1 when something failed, 2 when the words of the command are off.
A policy ends with: 20 it cannot be read, 21 a required extension is missing, 22 bytes do not match the lock, 23 the project is not trusted, 24 an approval is needed and nobody can be asked, 25 this system cannot enforce a bound, 27 the lock is out of date.
A signal ends with 128 and its number.`

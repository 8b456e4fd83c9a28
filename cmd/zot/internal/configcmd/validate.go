package configcmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patriceckhart/zot/cmd/zot/internal/exit"
	"github.com/patriceckhart/zot/config"
	"github.com/patriceckhart/zot/config/document"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/schemas"
)

func (c *command) validateCmd() *cobra.Command {
	var schema string
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a file, or all settings; status 1 where there are faults",
		Long: `Without a file, all layers of settings are checked. A file is checked as what its
name says (config.json, config.yaml, extension.json, extensions.lock.json,
trust.json, theme.json, policy.tests.json), or as --schema says.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.validateAll()
			}
			return c.validateFile(args[0], schema)
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "name of the schema to check against; see zot config schema --list")
	return cmd
}

func (c *command) validateAll() error {
	o, err := c.options()
	if err != nil {
		return err
	}
	s, err := config.Load(o)
	if err != nil {
		return err
	}
	wrong, err := c.vain(config.Managed, config.User, config.Project, config.Local, config.UserProject)
	if err != nil {
		return err
	}
	return c.tell(append(faultsOf(s.Problems, s.Policy...), wrong...))
}

// schemaNames tells by a file's name what it must hold.
var schemaNames = map[string]string{
	"config.json": "config", "config.yaml": "config",
	"extension.json": "manifest", "theme.json": "theme",
	"extensions.lock.json": "lock", "trust.json": "trust",
	"policy.tests.json": "policy-tests", "policy.tests.yaml": "policy-tests",
}

// maxFile is how long a file may be that is checked: far more than any of them is.
const maxFile = 16 << 20

func (c *command) validateFile(file, schema string) error {
	if schema == "" {
		if schema = schemaNames[filepath.Base(file)]; schema == "" {
			return &exit.UsageError{Err: fmt.Errorf("%q: the name does not say what the file holds; name it with --schema", file)}
		}
	}
	if schema == "config" {
		o, err := c.options()
		if err != nil {
			return err
		}
		return c.check(o.LayerOf(file), file, o)
	}
	if _, ok := schemas.Get(schema); !ok {
		return unknownSchema(schema)
	}
	data, err := home.ReadFile(file, maxFile)
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("%s: holds more than %d bytes, which no such file does", file, maxFile)
	}
	problems := validate(schema, file, data)
	for _, p := range problems {
		fmt.Fprint(c.Streams.Out, schemas.Render(p, file, data))
	}
	if len(problems) > 0 {
		return errTold
	}
	return nil
}

func validate(schema, file string, data []byte) []schemas.Problem {
	if !document.IsYAML(file) {
		return schemas.Validate(schema, data)
	}
	f, err := document.Parse(file, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return []schemas.Problem{{
			Kind: schemas.KindSyntax, Line: syntax.Pos.Line, Column: syntax.Pos.Column, Message: syntax.Msg, Remedy: syntax.Remedy,
		}}
	}
	return f.Validate(schema)
}

func (c *command) schemaCmd() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of a file or frame; without a name, that of settings",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if list {
				fmt.Fprintln(c.Streams.Out, strings.Join(schemas.Names(), "\n"))
				return nil
			}
			name := "config"
			if len(args) == 1 {
				name = args[0]
			}
			text, ok := schemas.Get(name)
			if !ok {
				return unknownSchema(name)
			}
			_, err := c.Streams.Out.Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the names instead")
	return cmd
}

func unknownSchema(name string) error {
	hint := "see zot config schema --list"
	if near := schemas.Nearest(name, schemas.Names()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &exit.UsageError{Err: fmt.Errorf("no schema is called %q; %s", name, hint)}
}

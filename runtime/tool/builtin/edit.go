package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/tool"
)

//go:embed edit.md
var editText string

const editSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to change"},
    "edits": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "properties": {
          "oldText": {"type": "string", "description": "Text in the file, found exactly once"},
          "newText": {"type": "string", "description": "Text to put there instead"}
        },
        "required": ["oldText", "newText"]
      }
    },
    "replaceAll": {"type": "boolean", "description": "Replace every occurrence of each oldText"}
  },
  "required": ["path", "edits"]
}`

type editTool struct{ files *files }

func (t *editTool) Spec() tool.Spec {
	return tool.Spec{Name: "edit", Description: fill(editText), Schema: json.RawMessage(editSchema)}
}

func (t *editTool) Accesses(raw json.RawMessage) []tool.Access { return t.files.accesses(raw, true) }

func (t *editTool) Paths(raw []byte) ([]paths.Use, error) {
	return t.files.uses(raw, paths.Read, paths.Write)
}

func (t *editTool) Preview(raw json.RawMessage) string {
	line := "edit " + t.files.name(raw)
	if a, err := parseArgs(raw); err == nil {
		if edits, err := a.edits(); err == nil {
			line += fmt.Sprintf(" (%s)", count(len(edits), "edit"))
		}
	}
	return line
}

func (t *editTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	return onFile(ctx, "edit", call.Args, t.run)
}

func (t *editTool) run(a args, given string) (tool.Result, error) {
	edits, err := a.edits()
	if err != nil {
		return tool.Result{}, err
	}
	p, err := t.files.existing(given, paths.Read, paths.Write)
	if err != nil {
		return tool.Result{}, err
	}
	pl, err := t.files.hold(paths.Write, p, false)
	if err != nil {
		return tool.Result{}, err
	}
	defer pl.Close()
	return t.apply(pl, p, edits)
}

// apply reads, changes and replaces the file.
func (t *editTool) apply(pl *paths.Place, p paths.Path, edits []replacement) (tool.Result, error) {
	before, err := readEditable(pl, p)
	if err != nil {
		return tool.Result{}, err
	}
	pln, err := planEdits(before, edits)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%q: %w; nothing was changed", p.Real, err)
	}
	after := pln.apply(before)
	if bytes.Equal(before, after) {
		return tool.Result{}, fmt.Errorf("%q already is as the edits would make it; nothing was changed", p.Real)
	}
	if err := pl.Replace(after, func() error { return unchanged(pl, before) }); err != nil {
		return tool.Result{}, err
	}
	name := relative(t.files.cwd, p.Real)
	d := diffText(name, name, before, after)
	var b strings.Builder
	fmt.Fprintf(&b, "edited %q: %s (%s)\n", p.Real, pln.summary(), d.stat())
	for _, n := range pln.notes {
		b.WriteString(n + "\n")
	}
	b.WriteString(shortDiff(before, after))
	res := tool.TextResult(strings.TrimSuffix(b.String(), "\n"))
	res.Diff = d.text
	return res, nil
}

// readEditable loads a text file that may be edited, with the same idea of text
// as the read tool.
func readEditable(pl *paths.Place, p paths.Path) ([]byte, error) {
	f, info, err := pl.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.IsDir() {
		return nil, fmt.Errorf("%q is a folder: give the path of a file in it", p.Real)
	}
	if info.Size() > maxWhole {
		return nil, fmt.Errorf("%q has %s and edit takes files up to %s: use bash, for example sed -i", p.Real, size(info.Size()), size(maxWhole))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	if err != nil {
		return nil, err
	}
	if kind := binaryKind(data); kind != "" {
		return nil, errBinary(p.Real, kind, info.Size())
	}
	return data, nil
}

// unchanged checks at the last moment that nobody else wrote the file since it
// was read: their change must not be lost.
func unchanged(pl *paths.Place, before []byte) error {
	f, _, err := pl.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it was removed while it was being edited; nothing was written")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		return errors.New("it changed while it was being edited: read it again; nothing was written")
	}
	return nil
}

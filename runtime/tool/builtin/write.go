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

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/tool"
)

//go:embed write.md
var writeText string

const writeSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to write"},
    "content": {"type": "string", "description": "The whole new content"}
  },
  "required": ["path", "content"]
}`

type writeTool struct{ files *files }

func (t *writeTool) Spec() tool.Spec {
	return tool.Spec{Name: "write", Description: fill(writeText), Schema: json.RawMessage(writeSchema)}
}

func (t *writeTool) Accesses(raw json.RawMessage) []tool.Access { return t.files.accesses(raw, true) }

func (t *writeTool) Paths(raw []byte) ([]paths.Use, error) { return t.files.uses(raw, paths.Write) }

func (t *writeTool) Preview(raw json.RawMessage) string {
	line := "write " + t.files.name(raw)
	if a, err := parseArgs(raw); err == nil {
		if content, err := a.content(); err == nil {
			line += fmt.Sprintf(" (%s, %s", count(countLines([]byte(content)), "line"), size(int64(len(content))))
			if p, err := t.files.pathOf(raw); err == nil && p.Exists {
				line += ", replaces the file"
			}
			line += ")"
		}
	}
	return line
}

func (t *writeTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	return onFile(ctx, "write", call.Args, t.run)
}

func (t *writeTool) run(a args, given string) (tool.Result, error) {
	content, err := a.content()
	if err != nil {
		return tool.Result{}, err
	}
	p, err := t.files.resolve(given, paths.Write)
	if err != nil {
		return tool.Result{}, err
	}
	if p.Folder || p.Exists && p.Info.IsDir() {
		return tool.Result{}, fmt.Errorf("%q is a folder: give the path of a file in it", p.Real)
	}
	pl, err := t.files.hold(paths.Write, p, true)
	if err != nil {
		return tool.Result{}, err
	}
	defer pl.Close()
	return t.put(pl, p, []byte(content))
}

// put replaces what is at the place and words what that changed.
func (t *writeTool) put(pl *paths.Place, p paths.Path, data []byte) (tool.Result, error) {
	old, existed, err := t.before(pl)
	if err != nil {
		return tool.Result{}, err
	}
	measure := fmt.Sprintf("%s, %s", count(countLines(data), "line"), size(int64(len(data))))
	if existed && old != nil && bytes.Equal(old, data) {
		return tool.TextResult(fmt.Sprintf("%q already had exactly this content (%s); nothing was written", p.Real, measure)), nil
	}
	if err := pl.Replace(data, nil); err != nil {
		return tool.Result{}, err
	}
	name := relative(t.files.cwd, p.Real)
	if !existed {
		res := tool.TextResult(fmt.Sprintf("created %q: %s", p.Real, measure))
		res.Diff = diffText("/dev/null", name, nil, data).text
		return res, nil
	}
	text := fmt.Sprintf("replaced %q: %s", p.Real, measure)
	res := tool.TextResult("")
	if old != nil {
		d := diffText(name, name, old, data)
		res.Diff = d.text
		text += fmt.Sprintf(" (%s)", d.stat())
		text += endingsNote(old, data)
	}
	res.Content = tool.TextResult(text).Content
	return res, nil
}

// before reads what will be replaced, to show the difference; nil if there is
// nothing, or if it is too large or not text, in which case there is none.
func (t *writeTool) before(pl *paths.Place) (old []byte, existed bool, err error) {
	f, info, err := pl.Open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, fs.ErrPermission): // may be written and not read
		return nil, true, nil
	case err != nil:
		return nil, true, err
	}
	defer f.Close()
	if info.Size() > maxWhole {
		return nil, true, nil
	}
	old, err = io.ReadAll(io.LimitReader(f, maxWhole))
	if err != nil {
		return nil, true, err
	}
	if binaryKind(old) != "" {
		return nil, true, nil
	}
	if old == nil {
		old = []byte{}
	}
	return old, true, nil
}

// endingsNote warns when a file that had CRLF throughout lost it, which the
// difference of the lines does not show.
func endingsNote(old, data []byte) string {
	crlf := bytes.Count(old, []byte("\r\n"))
	if crlf > 0 && crlf == bytes.Count(old, []byte{'\n'}) && !bytes.Contains(data, []byte("\r\n")) {
		return "; the line ends were CRLF and are LF now"
	}
	return ""
}

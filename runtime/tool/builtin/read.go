package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/policies/paths"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/tool"
)

//go:embed read.md
var readText string

const readSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to read"},
    "offset": {"type": "integer", "minimum": 1, "description": "First line to return, counting from 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "Number of lines to return"}
  },
  "required": ["path"]
}`

type readTool struct {
	files *files
	opts  Options
}

func (t *readTool) Spec() tool.Spec {
	text := fill(readText, "lines", fmt.Sprint(t.opts.MaxLines), "bytes", size(int64(t.opts.MaxBytes)), "line", fmt.Sprint(maxLine))
	return tool.Spec{Name: "read", Description: text, Schema: json.RawMessage(readSchema)}
}

func (t *readTool) Accesses(raw json.RawMessage) []tool.Access { return t.files.accesses(raw, false) }

func (t *readTool) Paths(raw []byte) ([]paths.Use, error) { return t.files.uses(raw, paths.Read) }

func (t *readTool) Preview(raw json.RawMessage) string {
	line := "read " + t.files.name(raw)
	if a, err := parseArgs(raw); err == nil {
		if offset, err := a.whole("offset", 0); err == nil && offset > 1 {
			line += fmt.Sprintf(" from line %d", offset)
		}
	}
	return line
}

func (t *readTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	return onFile(ctx, "read", call.Args, func(a args, given string) (tool.Result, error) { return t.run(ctx, a, given) })
}

func (t *readTool) run(ctx context.Context, a args, given string) (tool.Result, error) {
	win, err := a.window(t.opts)
	if err != nil {
		return tool.Result{}, err
	}
	p, err := t.files.existing(given, paths.Read)
	if err != nil {
		return tool.Result{}, err
	}
	f, info, err := t.open(p)
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close()
	if info.IsDir() {
		return t.folder(p, f, win)
	}
	return t.file(ctx, p, f, info, win)
}

func (t *readTool) open(p paths.Path) (*os.File, fs.FileInfo, error) {
	pl, err := t.files.hold(paths.Read, p, false)
	if err != nil {
		return nil, nil, err
	}
	defer pl.Close()
	return pl.Open()
}

// file returns the image or the text in f.
func (t *readTool) file(ctx context.Context, p paths.Path, f io.Reader, info fs.FileInfo, win window) (tool.Result, error) {
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return tool.Result{}, err
	}
	head = head[:n]
	rest := io.MultiReader(bytes.NewReader(head), f)
	kind := binaryKind(head)
	if imageKinds[kind] {
		return t.image(p, rest, kind, info.Size())
	}
	if kind != "" {
		return tool.Result{}, fmt.Errorf("%w; look at it with bash, for example: file, strings, xxd | head", errBinary(p.Real, kind, info.Size()))
	}
	enc := utf8Text
	if info.Size() <= maxWhole {
		data, err := io.ReadAll(io.LimitReader(rest, maxWhole))
		if err != nil {
			return tool.Result{}, err
		}
		enc, rest = detect(data), bytes.NewReader(data)
	}
	pg, err := readPage(ctx, rest, win)
	if err != nil {
		return tool.Result{}, err
	}
	if pg.first == 0 && win.offset > 1 {
		return tool.Result{}, fmt.Errorf("offset %d is after the end of %q, which has %s", win.offset, p.Real, count(pg.total, "line"))
	}
	return tool.TextResult(t.page(p, pg, enc)), nil
}

// page writes the text and the notes about what cannot be seen in it.
func (t *readTool) page(p paths.Path, pg page, enc encoding) string {
	var notes []string
	if p.Changed(t.files.cwd) {
		notes = append(notes, fmt.Sprintf("this is %q", p.Real))
	}
	if pg.total == 0 && pg.whole {
		notes = append(notes, "the file is empty")
	}
	notes = append(notes, pg.notes()...)
	if n := enc.note(); n != "" {
		notes = append(notes, n)
	}
	text := enc.decode(bytes.TrimPrefix(pg.text, []byte("\ufeff")))
	if len(notes) == 0 {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + strings.Join(notes, "; ") + "]"
}

// folder lists the entries of a folder: someone who reads a folder wants to
// know what is in it.
func (t *readTool) folder(p paths.Path, f *os.File, win window) (tool.Result, error) {
	entries, err := f.ReadDir(-1)
	if err != nil {
		return tool.Result{}, err
	}
	var lines []string
	for _, e := range entries {
		lines = append(lines, entryLine(e))
	}
	slices.Sort(lines)
	from := min(max(win.offset-1, 0), len(lines))
	shown := lines[from:min(from+win.lines, len(lines))]
	text := fmt.Sprintf("%q is a folder of %s:\n", p.Real, plural(len(lines), "entry", "entries"))
	bytesLeft := win.bytes
	n := 0
	for ; n < len(shown) && len(shown[n]) < bytesLeft; n++ {
		text += shown[n] + "\n"
		bytesLeft -= len(shown[n]) + 1
	}
	if from+n < len(lines) {
		text += fmt.Sprintf("[entries %d-%d of %d; continue with offset %d]\n", from+1, from+n, len(lines), from+n+1)
	}
	text += "[read one of these, or use bash for more: ls -la, find, rg]"
	return tool.Result{Content: []message.Block{message.Text{Text: text}}, Status: tool.Completed}, nil
}

func entryLine(e fs.DirEntry) string {
	name := e.Name()
	if visible(name) != name {
		name = fmt.Sprintf("%q", name)
	}
	switch {
	case e.IsDir():
		return name + "/"
	case e.Type().IsRegular():
		return name
	}
	return name + " (" + paths.Kind(e.Type()) + ")"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

package guard

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/patriceckhart/zot/runtime/tool"
)

// maxPreview is the length of a preview in bytes.
const maxPreview = 120

// Preview tells in one line what a call would do: what the tool itself says,
// else the first of the arguments people know calls by, else all of them.
func Preview(t tool.Tool, args json.RawMessage) string {
	text := ""
	if p, ok := t.(tool.Previewer); ok {
		text = p.Preview(args)
	}
	if text == "" {
		text = telling(args)
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxPreview {
		return text
	}
	cut := maxPreview - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

func telling(args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) == nil {
		for _, key := range []string{"command", "path", "file_path", "url", "query", "name"} {
			if s, ok := fields[key].(string); ok && s != "" {
				return s
			}
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}

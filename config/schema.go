package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/patriceckhart/zot/schemas"
)

// Schema is the JSON Schema of a settings file, made from the table of keys. It
// is what schemas/config.schema.json holds; a test compares the two.
func Schema() []byte {
	top := objectSchema(root, "")
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["$id"] = schemas.ID("config")
	top["title"] = "zot settings"
	top["description"] = "A layer of settings: config.json (comments and trailing commas are allowed) or config.yaml. x-zot-layers lists the layers that may set a key."
	props := top["properties"].(map[string]any)
	props["$schema"] = map[string]any{"type": "string", "description": "Address of this schema, for editors."}
	props["policy"] = map[string]any{"description": "What may load and what each may do; layers meet here, and the most restrictive answer holds.", "$ref": "policy.schema.json", "x-zot-layers": anyone.Names()}

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(top); err != nil { // maps, strings and numbers cannot fail
		panic(err)
	}
	return b.Bytes()
}

// groupDocs describes the objects that hold settings.
var groupDocs = map[string]string{
	"keymap":              "Chords of keys and the slash commands they run.",
	"extensions":          "Where extensions are looked for.",
	"skills":              "Where skills are looked for.",
	"contextFiles":        "What of AGENTS.md files the model sees.",
	"timeouts":            "What zot waits for, in seconds or with a unit.",
	"retry":               "How model calls are tried again.",
	"limits":              "What extensions may send and leave behind.",
	"bash":                "Bounds of the bash tool.",
	"read":                "Bounds of the read tool.",
	"compaction":          "When a conversation is shortened.",
	"sessions":            "What of conversations is kept.",
	"ui":                  "The interactive face.",
	"providers":           "Settings for providers, by their id.",
	"providers.*":         "Settings for one provider.",
	"providers.*.headers": "Headers to send along, by name.",
	"models":              "What zot should know of models, by their id.",
	"models.*":            "What zot should know of one model.",
	"models.*.cost":       "Prices in US dollars for a million tokens.",
}

func objectSchema(b *branch, name string) map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": false}
	if doc := groupDocs[name]; doc != "" {
		s["description"] = doc
	}
	props := map[string]any{}
	for part, next := range b.children {
		props[part] = branchSchema(next, join(name, part))
		if next.key != nil && next.key.Type.isList() {
			plus := keySchema(next.key)
			plus["description"] = "Appends to " + part + " of the layers below."
			props["+"+part] = plus
		}
	}
	if b.star != nil {
		s["additionalProperties"] = branchSchema(b.star, join(name, "*"))
		return s
	}
	s["properties"] = props
	s["patternProperties"] = map[string]any{"^x-": map[string]any{"description": "A comment; zot does not read it."}}
	return s
}

func join(name, part string) string { return strings.TrimPrefix(name+"."+part, ".") }

func branchSchema(b *branch, name string) map[string]any {
	if b.key != nil {
		return keySchema(b.key)
	}
	return objectSchema(b, name)
}

func keySchema(k *Key) map[string]any {
	s := map[string]any{"description": k.Doc, "x-zot-layers": k.Layers.Names()}
	if k.Default != nil {
		s["default"] = json.RawMessage(k.literal(k.Default))
	}
	if k.Enum != nil {
		s["enum"] = k.Enum
	}
	switch k.Type {
	case Bool:
		s["type"] = "boolean"
	case Int:
		s["type"], s["minimum"], s["maximum"] = "integer", k.Min, k.Max
	case Number:
		s["type"], s["minimum"], s["maximum"] = "number", k.Min, k.Max
	case Duration:
		s["type"] = []string{"number", "string"}
		s["minimum"], s["maximum"] = time.Duration(k.Min).Seconds(), time.Duration(k.Max).Seconds()
		s["pattern"] = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h)?)+$`
	case Bytes:
		s["type"], s["minimum"], s["maximum"] = []string{"integer", "string"}, k.Min, k.Max
		s["pattern"] = `^[0-9]+ *(|B|KB|MB|GB|KiB|MiB|GiB)$`
	case URL:
		s["type"], s["pattern"] = "string", "^(http|https|socks5)://."
	case Path:
		s["type"], s["minLength"], s["maxLength"] = "string", 1, maxText
	case Text:
		s["type"], s["maxLength"] = "string", maxText
	case List, PathList:
		s["type"], s["maxItems"] = "array", maxItems
		s["items"] = map[string]any{"type": "string", "minLength": 1, "maxLength": maxText}
	}
	return s
}

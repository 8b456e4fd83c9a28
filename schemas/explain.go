package schemas

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// An explainer turns the failures of one validation into problems. Where a
// schema has more to say than its keyword, it says so itself: "x-remedy" is
// the remedy for a value that does not fit, "examples" show one that does,
// "writeOnly" keeps the value out of messages.
type explainer struct {
	root     any // the value that was checked
	raw      any // text of a schema that is not embedded, or nil
	locate   Locator
	problems []Problem
}

// A fault is one failed keyword.
type fault struct {
	pointer string         // of the value
	keyword string         // last part of the failed keyword's path
	schema  map[string]any // the schema that holds the keyword; may be nil
	named   string         // for "propertyNames": the keyword inside it
	text    string         // the library's words, the last resort
	types   []string       // for "type": what was allowed
}

// explain appends the problems of one fault.
func (x *explainer) explain(f fault) {
	switch f.keyword {
	case "additionalProperties", "unevaluatedProperties", "false":
		x.unknownKeys(f)
	case "propertyNames":
		x.wrongName(f)
	case "required", "dependentRequired":
		x.missingKeys(f)
	case "type":
		x.wrongType(f)
	case "enum", "const":
		x.wrongChoice(f)
	default:
		value, _ := lookup(x.root, f.pointer)
		x.add(KindValue, f.pointer, false, describe(f, value), remedyOf(f.schema))
	}
}

func (x *explainer) add(kind Kind, pointer string, key bool, message, remedy string) {
	pos := x.locate(pointer, key)
	x.problems = append(x.problems, Problem{Kind: kind, Pointer: pointer, Line: pos.Line, Column: pos.Column,
		Message: message, Remedy: remedy})
}

// unknownKeys reports each key of an object that the schema does not name.
func (x *explainer) unknownKeys(f fault) {
	known := x.knownKeys(f.schema, 0)
	for _, pointer := range x.strangers(f, known) {
		tokens := splitPointer(pointer)
		key := tokens[len(tokens)-1]
		message := fmt.Sprintf("unknown key %q", key)
		if parent := Dotted(Pointer(tokens[:len(tokens)-1]...)); parent != "" {
			message += " in " + parent
		}
		x.add(KindUnknownKey, pointer, true, message, keyRemedy(key, known))
	}
}

// strangers lists the pointers of the keys a fault is about.
func (x *explainer) strangers(f fault, known []string) []string {
	if f.keyword != "additionalProperties" || f.schema == nil {
		return []string{f.pointer} // these keywords fail once for each key, at the key
	}
	value, _ := lookup(x.root, f.pointer)
	object, _ := value.(map[string]any)
	patterns, _ := f.schema["patternProperties"].(map[string]any)
	var pointers []string
	for key := range object {
		if !slices.Contains(known, key) && !matchesAny(patterns, key) {
			pointers = append(pointers, f.pointer+"/"+escapeToken(key))
		}
	}
	sort.Strings(pointers)
	return pointers
}

// wrongName reports a key whose own spelling is at fault.
func (x *explainer) wrongName(f fault) {
	tokens := splitPointer(f.pointer)
	key := tokens[len(tokens)-1]
	where := Dotted(Pointer(tokens[:len(tokens)-1]...))
	words := keywordText(f.named, f.schema)
	if words == "" {
		words = f.text
	}
	x.add(KindValue, f.pointer, true, strings.TrimSpace("key "+quoteValue(key)+" "+inside(where)+words), remedyOf(f.schema))
}

func inside(where string) string {
	if where == "" {
		return ""
	}
	return "in " + where + " "
}

func keyRemedy(key string, known []string) string {
	if near := Nearest(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "remove it"
	}
	if len(known) > 16 {
		return "remove it, or correct the spelling"
	}
	return "known keys: " + strings.Join(known, ", ")
}

func (x *explainer) missingKeys(f fault) {
	value, _ := lookup(x.root, f.pointer)
	object, _ := value.(map[string]any)
	for _, key := range requiredKeys(f, object) {
		message := fmt.Sprintf("%q is missing", key)
		if where := Dotted(f.pointer); where != "" {
			message += " in " + where
		}
		properties, _ := f.schema["properties"].(map[string]any)
		property, _ := properties[key].(map[string]any)
		x.add(KindMissing, f.pointer, false, message, missingRemedy(key, property))
	}
}

func requiredKeys(f fault, object map[string]any) []string {
	var missing []string
	add := func(list any) {
		names, _ := list.([]any)
		for _, n := range names {
			name, _ := n.(string)
			if _, ok := object[name]; !ok && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	if f.keyword == "required" {
		add(f.schema["required"])
		return missing
	}
	dependent, _ := f.schema["dependentRequired"].(map[string]any)
	for key, list := range dependent {
		if _, ok := object[key]; ok {
			add(list)
		}
	}
	sort.Strings(missing)
	return missing
}

func missingRemedy(key string, property map[string]any) string {
	if example, ok := exampleOf(property); ok {
		return fmt.Sprintf("add it, for example %q: %s", key, example)
	}
	if what, _ := property["description"].(string); what != "" {
		return "add it: " + what
	}
	return "add it"
}

func (x *explainer) wrongType(f fault) {
	value, _ := lookup(x.root, f.pointer)
	want := make([]string, len(f.types))
	for i, t := range f.types {
		want[i] = typeWords[t]
	}
	got := typeOf(value)
	message := fmt.Sprintf("%s must be %s, not %s", subject(f.pointer), orList(want), typeWords[got])
	x.add(KindType, f.pointer, false, message, typeRemedy(f, value, got))
}

func typeRemedy(f fault, value any, got string) string {
	text, isText := value.(string)
	switch {
	case isText && slices.Contains(f.types, "array"):
		return fmt.Sprintf("write it as a list: [%s]", quoteValue(text))
	case isText && slices.Contains(f.types, "boolean") && (text == "true" || text == "false"),
		isText && slices.Contains(f.types, "integer") && isIndex(text):
		return "write " + text + " without quotes"
	case slices.Contains(f.types, "string") && (got == "number" || got == "boolean"):
		return fmt.Sprintf("write it in quotes: \"%v\"", value)
	}
	return remedyOf(f.schema)
}

func (x *explainer) wrongChoice(f fault) {
	value, _ := lookup(x.root, f.pointer)
	choices, _ := f.schema["enum"].([]any)
	if f.keyword == "const" {
		choices = []any{f.schema["const"]}
	}
	shown := make([]string, len(choices))
	var words []string
	for i, c := range choices {
		shown[i] = quoteValue(c)
		if w, ok := c.(string); ok {
			words = append(words, w)
		}
	}
	message := fmt.Sprintf("%s must be %s", subject(f.pointer), orList(shown))
	if secret, _ := f.schema["writeOnly"].(bool); !secret {
		message += ", not " + quoteValue(value)
	}
	remedy := remedyOf(f.schema)
	if word, ok := value.(string); ok {
		if near := Nearest(word, words); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
	}
	x.add(KindValue, f.pointer, false, message, remedy)
}

// schemaAt returns the part of a schema at an absolute location, a URL with a
// JSON pointer whose parts are escaped as in URLs.
func (x *explainer) schemaAt(location string) map[string]any {
	address, pointer, _ := strings.Cut(location, "#")
	raw := x.raw
	if name, ok := nameOf(address); ok {
		raw = rawSchema(name)
	}
	part, _ := lookup(raw, plainPointer(pointer))
	object, _ := part.(map[string]any)
	return object
}

// knownKeys collects the keys that a schema names, also through references and
// combinations. depth ends schemas that refer to themselves.
func (x *explainer) knownKeys(schema map[string]any, depth int) []string {
	if schema == nil || depth > 8 {
		return nil
	}
	var keys []string
	properties, _ := schema["properties"].(map[string]any)
	for key := range properties {
		keys = append(keys, key)
	}
	for _, combiner := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := schema[combiner].([]any)
		for _, b := range branches {
			branch, _ := b.(map[string]any)
			keys = append(keys, x.knownKeys(branch, depth+1)...)
		}
	}
	if ref, _ := schema["$ref"].(string); strings.HasPrefix(ref, BaseURL) {
		keys = append(keys, x.knownKeys(x.schemaAt(ref), depth+1)...)
	}
	sort.Strings(keys)
	return slices.Compact(keys)
}

// plainPointer undoes the URL escaping that the library lays over pointers.
func plainPointer(pointer string) string {
	if plain, err := url.PathUnescape(pointer); err == nil {
		return plain
	}
	return pointer
}

var typeWords = map[string]string{
	"string": "a string", "array": "a list", "object": "an object", "number": "a number",
	"integer": "a whole number", "boolean": "true or false", "null": "null",
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func subject(pointer string) string {
	if s := Dotted(pointer); s != "" {
		return s
	}
	return "the document"
}

func orList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " or " + items[last]
}

// quoteValue is a value as it stands in JSON, cut to what fits in a message.
func quoteValue(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 60
	if runes := []rune(string(raw)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(raw)
}

func exampleOf(schema map[string]any) (string, bool) {
	examples, _ := schema["examples"].([]any)
	if len(examples) == 0 {
		return "", false
	}
	return quoteValue(examples[0]), true
}

func remedyOf(schema map[string]any) string {
	if remedy, _ := schema["x-remedy"].(string); remedy != "" {
		return remedy
	}
	if example, ok := exampleOf(schema); ok {
		return "for example " + example
	}
	return ""
}

// keywordText puts the keywords about size, form and number into words.
func keywordText(keyword string, schema map[string]any) string {
	limit := func() string { return quoteValue(schema[keyword]) }
	switch keyword {
	case "minimum":
		return "must be at least " + limit()
	case "maximum":
		return "must be at most " + limit()
	case "exclusiveMinimum":
		return "must be more than " + limit()
	case "exclusiveMaximum":
		return "must be less than " + limit()
	case "multipleOf":
		return "must be a multiple of " + limit()
	case "minLength":
		if limit() == "1" {
			return "must not be empty"
		}
		return "must have at least " + limit() + " characters"
	case "maxLength":
		return "must have at most " + limit() + " characters"
	case "minItems":
		return "must have at least " + limit() + " elements"
	case "maxItems":
		return "must have at most " + limit() + " elements"
	case "minProperties":
		return "must have at least " + limit() + " keys"
	case "maxProperties":
		return "must have at most " + limit() + " keys"
	case "uniqueItems":
		return "must not have the same element twice"
	case "pattern":
		return "must match " + strings.Trim(limit(), `"`)
	case "format":
		return "must be a valid " + strings.Trim(limit(), `"`)
	}
	return ""
}

// describe is the message of a fault that has no rule of its own.
func describe(f fault, value any) string {
	words := keywordText(f.keyword, f.schema)
	if words == "" {
		return subject(f.pointer) + ": " + strings.TrimPrefix(f.text, "jsonschema: ")
	}
	secret, _ := f.schema["writeOnly"].(bool)
	switch typeOf(value) {
	case "string", "number":
		if !secret && f.keyword != "minLength" {
			words += ", not " + quoteValue(value)
		}
	}
	return subject(f.pointer) + " " + words
}

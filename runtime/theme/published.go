package theme

import (
	"maps"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/schemas"
)

// publishedTokens maps the colour keys of earlier theme files to tokens: the
// first is what the key means, and the others follow it unless they are styled
// by themselves.
var publishedTokens = map[string][]Token{
	"fg":             {"fg"},
	"muted":          {"muted", "thinking", "note", "status", "md.url", "md.quote", "diff.lineno", "syn.comment", "ctx.ok"},
	"accent":         {"accent", "caret", "md.heading", "md.link", "md.list", "panel.title"},
	"background":     {"background"},
	"user":           {"user"},
	"user_bubble_bg": {"user.bg"},
	"user_bubble_fg": {"user.bg"},
	"assistant":      {"assistant"},
	"tool":           {"tool", "tool.ok", "diff.hunk"},
	"tool_out":       {"tool.out"},
	"error":          {"error", "tool.error", "ctx.full"},
	"warning":        {"warn", "queue", "dialog.title", "ctx.warn"},
	"spinner":        {"spinner"},
	"thinking_max":   {"thinking.max"},
	"thinkingMax":    {"thinking.max"},
	"selection_bg":   {"selection"},
	"selection_fg":   {"selection"},
}

// backgrounds are the keys whose colour is a ground.
var backgrounds = []string{"background", "user_bubble_bg", "selection_bg"}

// published reads the keys of earlier theme files: at the top, in "colors", and
// in "colors.dark" and "colors.light", the later over the earlier.
func (r *reader) published(f *File) {
	colours := r.object(r.root, "", "colors")
	for _, v := range []Variant{Dark, Light} {
		r.publishedBlock(f, v, r.root, "")
		r.publishedBlock(f, v, colours, "/colors")
	}
	given := map[Variant]map[string]any{}
	for _, v := range []Variant{Dark, Light} {
		given[v] = r.object(colours, "/colors", string(v))
	}
	for v, other := range map[Variant]Variant{Dark: Light, Light: Dark} {
		block, from := given[v], v
		if block == nil {
			block, from = given[other], other
		}
		r.publishedBlock(f, v, block, "/colors/"+string(from))
		f.has[v] = f.has[v] || given[v] != nil
	}
	for _, key := range slices.Sorted(maps.Keys(colours)) {
		if publishedTokens[key] == nil && key != string(Dark) && key != string(Light) {
			r.problem(schemas.KindUnknownKey, schemas.Pointer("colors", key), "", "colors: there is no colour %q", key)
		}
	}
	r.syntax(f)
}

// publishedBlock reads one object of such keys for one variant.
func (r *reader) publishedBlock(f *File, v Variant, block map[string]any, pointer string) {
	p := f.styles[v]
	for _, key := range slices.Sorted(maps.Keys(publishedTokens)) {
		value, ok := block[key]
		if !ok {
			continue
		}
		c, ok := r.once(v, value, pointer+schemas.Pointer(key), key)
		if !ok {
			continue
		}
		if pointer == "" || pointer == "/colors" {
			f.has[v] = true
		}
		for i, t := range publishedTokens[key] {
			s := p[t]
			switch {
			case i > 0:
				s = Style{FG: c}
			case slices.Contains(backgrounds, key):
				s.BG = c
			default:
				s.FG = c
			}
			p[t] = s
		}
	}
}

// once reads a colour and reports its problems with the dark variant alone:
// the same value is read for both.
func (r *reader) once(v Variant, value any, pointer, key string) (Colour, bool) {
	before := len(r.problems)
	c, ok := r.colour(value, pointer, key)
	if v == Light && !strings.HasSuffix(pointer, "/light/"+key) {
		r.problems = r.problems[:before]
	}
	return c, ok
}

// syntaxTokens maps the keys of "syntax" to tokens.
var syntaxTokens = map[string]Token{
	"keyword": "syn.keyword", "keyword_constant": "syn.keyword.constant", "keyword_declaration": "syn.keyword.declaration",
	"keyword_namespace": "syn.keyword.namespace", "keyword_reserved": "syn.keyword.reserved", "keyword_type": "syn.type.keyword",
	"name_builtin": "syn.func.builtin", "name_function": "syn.func", "name_class": "syn.type", "name_decorator": "syn.func.decorator",
	"literal_string": "syn.string", "literal_string_escape": "syn.string.escape", "literal_number": "syn.number",
	"comment": "syn.comment", "comment_preproc": "syn.comment.preproc",
	"operator": "syn.operator", "punctuation": "syn.operator.punctuation", "text": "md.codeblock",
}

// syntax reads entries such as "#81a1c1 bold", which hold for both variants.
func (r *reader) syntax(f *File) {
	block := r.object(r.root, "", "syntax")
	for _, key := range slices.Sorted(maps.Keys(block)) {
		pointer := schemas.Pointer("syntax", key)
		token, ok := syntaxTokens[key]
		if !ok {
			r.problem(schemas.KindUnknownKey, pointer, "", "syntax: there is no kind of text %q", key)
			continue
		}
		text, ok := block[key].(string)
		if !ok {
			r.problem(schemas.KindType, pointer, "", "syntax: %s must be a string such as \"#81a1c1 bold\"", key)
			continue
		}
		if s, ok := r.entry(text, pointer, key); ok {
			f.styles[Dark][token], f.styles[Light][token] = s, s
		}
	}
}

func (r *reader) entry(text, pointer, key string) (Style, bool) {
	var s Style
	for _, word := range strings.Fields(text) {
		ground, isGround := strings.CutPrefix(word, "bg:")
		c, isColour := parseColour(ground)
		switch {
		case isColour && isGround:
			s.BG = c
		case isColour:
			s.FG = c
		case word == "bold":
			s.Bold = true
		case word == "italic":
			s.Italic = true
		case word == "underline":
			s.Underline = true
		case word == "nobold", word == "noitalic", word == "nounderline", word == "noinherit":
		default:
			r.problem(schemas.KindValue, pointer, "", "syntax: %s: %q is neither a colour nor bold, italic or underline", key, word)
			return Style{}, false
		}
	}
	return s, true
}

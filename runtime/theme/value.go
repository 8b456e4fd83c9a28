package theme

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/schemas"
)

// checkVars refuses variables that a colour would hide.
func (r *reader) checkVars() {
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		if _, isColour := parseColour(name); isColour {
			r.problem(schemas.KindValue, schemas.Pointer("vars", name), "give the variable another name", "vars: %q is the name of a colour", name)
			delete(r.vars, name)
		}
	}
}

// grounds are the tokens of which a single colour is the background.
var grounds = []Token{"background", "user.bg", "selection"}

// style reads the value of a token: a colour, or an object.
func (r *reader) style(v any, pointer, token string) (Style, bool) {
	o, ok := v.(map[string]any)
	if !ok || o["mode"] != nil {
		c, ok := r.colour(v, pointer, token)
		if slices.Contains(grounds, Token(token)) {
			return Style{BG: c}, ok
		}
		return Style{FG: c}, ok
	}
	var s Style
	good := true
	colours := map[string]*Colour{"fg": &s.FG, "bg": &s.BG, "ansi16": &s.ANSI16, "ansi256": &s.ANSI256}
	switches := map[string]*bool{
		"bold": &s.Bold, "dim": &s.Dim, "italic": &s.Italic,
		"underline": &s.Underline, "reverse": &s.Reverse, "strike": &s.Strike,
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		at := pointer + schemas.Pointer(key)
		if c := colours[key]; c != nil {
			var ok bool
			*c, ok = r.colour(o[key], at, token+"."+key)
			good = good && ok
			continue
		}
		b, isBool := o[key].(bool)
		switch dest := switches[key]; {
		case dest == nil:
			r.problem(schemas.KindUnknownKey, at, "", "%s: a style has no %q", token, key)
		case !isBool:
			r.problem(schemas.KindType, at, "", "%s: %s must be true or false", token, key)
		default:
			*dest = b
		}
	}
	if s.ANSI16.kind == indexedColour && s.ANSI16.index < 16 {
		s.ANSI16.kind = namedColour
	}
	if !s.ANSI16.IsZero() && s.ANSI16.kind != namedColour && s.ANSI16.kind != terminalDefault {
		r.problem(schemas.KindValue, pointer+"/ansi16", "write one of "+strings.Join(Names, ", "), "%s: ansi16 is %s, which is none of the sixteen colours", token, s.ANSI16)
		s.ANSI16 = Colour{}
	}
	return s, good
}

// colour reads a colour, and follows variables.
func (r *reader) colour(v any, pointer, token string) (Colour, bool) {
	const forms = "write #rgb, #rrggbb, 0 to 255, a colour's name, a variable, or default"
	seen := map[string]bool{}
	for {
		switch val := v.(type) {
		case json.Number:
			if c, ok := parseColour(val.String()); ok {
				return c, true
			}
		case map[string]any:
			if c, ok := modeColour(val); ok {
				return c, true
			}
		case string:
			if c, ok := parseColour(val); ok {
				return c, true
			}
			next, isVar := r.vars[val]
			switch {
			case isVar && seen[val]:
				r.problem(schemas.KindValue, pointer, "", "%s: the variable %q leads back to itself", token, val)
				return Colour{}, false
			case isVar:
				seen[val] = true
				v = next
				continue
			case strings.HasPrefix(val, "#"):
			default:
				r.problem(schemas.KindValue, pointer, r.nearestVar(val, forms), "%s: %q is neither a colour nor a variable", token, val)
				return Colour{}, false
			}
		}
		r.problem(schemas.KindValue, pointer, forms, "%s: %s is no colour", token, shown(v))
		return Colour{}, false
	}
}

func (r *reader) nearestVar(name, otherwise string) string {
	if near := schemas.Nearest(name, append(slices.Collect(maps.Keys(r.vars)), Names...)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// shown is a bad value as a message shows it.
func shown(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return schemas.Printable(fmt.Sprintf("%.60s", raw))
}

// modeColour reads the object form of earlier theme files:
// {"mode":"256","index":n}, {"mode":"ansi","index":sgr}, {"mode":"rgb","r":…}.
func modeColour(o map[string]any) (Colour, bool) {
	mode, _ := o["mode"].(string)
	switch mode {
	case "256", "color256", "xterm256":
		n, ok := byteOf(o["index"])
		return Indexed(n), ok
	case "ansi":
		n, ok := byteOf(o["index"])
		switch {
		case !ok:
		case n == 39 || n == 49:
			return Colour{kind: terminalDefault}, true
		case n >= 30 && n <= 37:
			return Colour{kind: namedColour, index: n - 30}, true
		case n >= 40 && n <= 47:
			return Colour{kind: namedColour, index: n - 40}, true
		case n >= 90 && n <= 97:
			return Colour{kind: namedColour, index: n - 90 + 8}, true
		case n >= 100 && n <= 107:
			return Colour{kind: namedColour, index: n - 100 + 8}, true
		}
	case "rgb", "truecolor":
		r, okR := byteOf(o["r"])
		g, okG := byteOf(o["g"])
		b, okB := byteOf(o["b"])
		return RGB(r, g, b), okR && okG && okB
	}
	return Colour{}, false
}

func byteOf(v any) (uint8, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return uint8(i), err == nil && i >= 0 && i <= 255
}

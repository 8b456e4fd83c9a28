package theme

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/schemas"
)

// DefaultName is the theme that completes all others.
const DefaultName = "zot"

// Resolve completes a file. A token that it does not have comes from the
// token's parent in the file, else from the file that it inherits, else from
// the built-in theme. Lookup finds the inherited files by name; nil knows the
// built-in ones alone. Problems are about what is inherited.
func Resolve(f *File, lookup func(name string) (*File, bool)) (*Theme, []schemas.Problem) {
	chain, problems := lineage(f, lookup)
	t := &Theme{
		Name: f.Name, Description: f.Description, Path: f.Path,
		Dark: Palette{}, Light: Palette{}, Only: f.only(),
	}
	for _, v := range []Variant{Dark, Light} {
		p := t.Palette(v)
		for _, token := range allTokens(chain) {
			p[token] = chainStyle(chain, v, token)
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		t.complete(chain[i])
	}
	return t, problems
}

// complete takes what is not a style.
func (t *Theme) complete(f *File) {
	if len(f.Spinner.Frames) > 0 {
		t.Spinner.Frames = f.Spinner.Frames
	}
	if len(f.Spinner.Messages) > 0 {
		t.Spinner.Messages = f.Spinner.Messages
	}
	if f.Spinner.Interval != DefaultInterval || t.Spinner.Interval == 0 {
		t.Spinner.Interval = f.Spinner.Interval
	}
	if f.SyntaxBase != "" {
		t.SyntaxBase = f.SyntaxBase
	}
}

// only is the one variant that the file has, or empty.
func (f *File) only() Variant {
	switch {
	case f.has[Dark] && !f.has[Light]:
		return Dark
	case f.has[Light] && !f.has[Dark]:
		return Light
	}
	return ""
}

// lineage returns the file and what it inherits, in order, the built-in theme
// last.
func lineage(f *File, lookup func(string) (*File, bool)) ([]*File, []schemas.Problem) {
	chain := []*File{f}
	var problems []schemas.Problem
	seen := []string{strings.ToLower(f.Name)}
	for at := f; at.Inherits != ""; at = chain[len(chain)-1] {
		name := strings.ToLower(at.Inherits)
		why := ""
		next, ok := find(name, lookup)
		switch {
		case slices.Contains(seen, name):
			why = fmt.Sprintf("the theme inherits itself: %s", strings.Join(append(seen, name), " from "))
		case !ok:
			why = fmt.Sprintf("there is no theme %q to inherit", at.Inherits)
		}
		if why != "" {
			problems = append(problems, inheritProblem(at, why))
			break
		}
		seen = append(seen, name)
		chain = append(chain, next)
	}
	if base := builtinFile(DefaultName); chain[len(chain)-1] != base {
		chain = append(chain, base)
	}
	return chain, problems
}

func inheritProblem(f *File, why string) schemas.Problem {
	p := schemas.Problem{Kind: schemas.KindValue, Pointer: "/inherits", Message: why, Remedy: "inherit one of " + strings.Join(Builtins(), ", ")}
	if f.at != nil {
		pos := f.at("/inherits")
		p.Line, p.Column = pos.Line, pos.Column
	}
	return p
}

func find(name string, lookup func(string) (*File, bool)) (*File, bool) {
	if lookup != nil {
		if f, ok := lookup(name); ok && f != nil {
			return f, true
		}
	}
	f := builtinFile(name)
	return f, f != nil
}

// allTokens lists Tokens and what the files style besides.
func allTokens(chain []*File) []Token {
	all := slices.Clone(Tokens)
	for _, f := range chain {
		for _, p := range f.styles {
			for t := range p {
				all = append(all, t)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// chainStyle is the style of a token for a variant.
func chainStyle(chain []*File, v Variant, t Token) Style {
	for _, f := range chain {
		p := f.styles[v]
		if only := f.only(); only != "" && only != v {
			p = f.styles[only]
		}
		for name := t; name != ""; name = parent(name) {
			if s, ok := p[name]; ok {
				return s
			}
			if slices.Contains(standsAlone, name) {
				break
			}
		}
	}
	return Style{}
}

// Package theme reads theme files and resolves them to styles by name. It
// knows colours and not terminals: who draws turns a [Style] into what a
// terminal understands.
//
//	file, problems := theme.Parse(path, data)
//	t, more := theme.Resolve(file, themes.Lookup)
//	t.Dark.Style("md.heading.1")
//	t.Dark.For(theme.ANSI256)
//	theme.Check(t, nil)
//
// A problem never spoils more than the value that has it: what is wrong is
// named with its place, and what would have been without it is used.
package theme

import (
	"strings"
	"time"
)

// A Token names a style. One that a theme does not have takes that of its
// parent by dots, "md.heading" for "md.heading.1".
type Token string

// A Variant is the kind of background that colours are meant for.
type Variant string

// The variants.
const (
	Dark  Variant = "dark"
	Light Variant = "light"
)

// A Style is how text of a token looks. The zero value looks like its
// surroundings.
type Style struct {
	FG, BG                                        Colour
	Bold, Dim, Italic, Underline, Reverse, Strike bool
	// ANSI16 and ANSI256 replace FG on terminals of so many colours.
	ANSI16, ANSI256 Colour
}

// A Palette is a theme for one variant. After [Resolve] it has every token of
// [Tokens]; treat it as read-only.
type Palette map[Token]Style

// Style returns the style of a token, or that of its nearest parent, or of "fg".
func (p Palette) Style(t Token) Style {
	for name := t; name != ""; name = parent(name) {
		if s, ok := p[name]; ok {
			return s
		}
	}
	return p["fg"]
}

// parent is the token without its last part; empty where it has one part.
func parent(t Token) Token {
	i := strings.LastIndexByte(string(t), '.')
	if i < 0 {
		return ""
	}
	return t[:i]
}

// A Theme is a file made complete: by what it inherits, and by the built-in
// theme.
type Theme struct {
	Name        string
	Description string
	// Path is the theme's file; empty for a built-in.
	Path        string
	Dark, Light Palette
	// Only, if not empty, is the one variant that the file has: it is used for
	// both.
	Only    Variant
	Spinner Spinner
	// SyntaxBase names a Chroma style for what the syn tokens do not say.
	SyntaxBase string
}

// Palette returns the palette of a variant.
func (t *Theme) Palette(v Variant) Palette {
	if v == Light {
		return t.Light
	}
	return t.Dark
}

// A Spinner is what turns while something works. Empty lists leave the choice
// to who draws.
type Spinner struct {
	Frames   []string
	Messages []string // one is shown at a time
	Interval time.Duration
}

// DefaultInterval is how long a frame of a spinner stays.
const DefaultInterval = 80 * time.Millisecond

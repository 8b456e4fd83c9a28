package theme

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Colour is a colour of a terminal. The zero value is none: the colour of
// the surroundings.
type Colour struct {
	kind    colourKind
	index   uint8 // of a named or indexed colour
	r, g, b uint8
}

type colourKind uint8

const (
	noColour colourKind = iota
	terminalDefault
	trueColour
	indexedColour // one of the 256
	namedColour   // one of the first 16, by its name
)

// Names lists the names of the sixteen colours, in their order.
var Names = []string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow",
	"bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

// RGB returns the colour of these parts.
func RGB(r, g, b uint8) Colour { return Colour{kind: trueColour, r: r, g: g, b: b} }

// Indexed returns one of the 256 colours.
func Indexed(n uint8) Colour { return Colour{kind: indexedColour, index: n} }

func named(name string) Colour {
	c, ok := parseColour(name)
	if !ok {
		panic("no colour is named " + name)
	}
	return c
}

// IsZero reports whether c is none.
func (c Colour) IsZero() bool { return c.kind == noColour }

// String is the colour as a theme file writes it: "#rrggbb", "0" to "255", a
// name, "default", or nothing.
func (c Colour) String() string {
	switch c.kind {
	case terminalDefault:
		return "default"
	case trueColour:
		return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b)
	case indexedColour:
		return strconv.Itoa(int(c.index))
	case namedColour:
		return Names[c.index]
	}
	return ""
}

// Parts returns red, green and blue. It is false for what the terminal decides:
// its default, and the first sixteen colours.
func (c Colour) Parts() (r, g, b uint8, ok bool) {
	switch {
	case c.kind == trueColour:
		return c.r, c.g, c.b, true
	case c.kind == indexedColour && c.index >= 232:
		v := 8 + 10*(c.index-232)
		return v, v, v, true
	case c.kind == indexedColour && c.index >= 16:
		n := c.index - 16
		return cube[n/36], cube[n/6%6], cube[n%6], true
	}
	return 0, 0, 0, false
}

// cube holds the steps of the 6×6×6 colours.
var cube = [6]uint8{0, 95, 135, 175, 215, 255}

// parseColour reads "#rgb", "#rrggbb", "0" to "255", a name or "default".
func parseColour(s string) (Colour, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "default" {
		return Colour{kind: terminalDefault}, true
	}
	for i, name := range Names {
		if s == name || s == "gray" && name == "bright-black" || s == "grey" && name == "bright-black" {
			return Colour{kind: namedColour, index: uint8(i)}, true
		}
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return parseHex(hex)
	}
	n, err := strconv.ParseUint(s, 10, 8)
	return Indexed(uint8(n)), err == nil
}

func parseHex(hex string) (Colour, bool) {
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil || len(hex) != 6 {
		return Colour{}, false
	}
	return RGB(uint8(n>>16), uint8(n>>8), uint8(n)), true
}

// A Profile is what a terminal can show.
type Profile string

// The profiles.
const (
	TrueColor Profile = "truecolor"
	ANSI256   Profile = "256"
	ANSI16    Profile = "16"
	Mono      Profile = "mono"
)

// For returns the palette as a terminal of that profile shows it.
func (p Palette) For(profile Profile) Palette {
	if profile == TrueColor {
		return p
	}
	out := make(Palette, len(p))
	for t, s := range p {
		switch profile {
		case ANSI256:
			out[t] = s.to256()
		case ANSI16:
			out[t] = s.to16(ansi16.own(t))
		default:
			out[t] = mono.own(t)
		}
	}
	return out
}

// own is the style of a token or of its parents; plain where there is none.
func (p Palette) own(t Token) Style {
	for name := t; name != ""; name = parent(name) {
		if s, ok := p[name]; ok {
			return s
		}
	}
	return Style{}
}

func (s Style) to256() Style {
	s.FG, s.BG = s.FG.nearest(), s.BG.nearest()
	if !s.ANSI256.IsZero() {
		s.FG = s.ANSI256
	}
	return s
}

// to16 keeps what the theme says in terms of the sixteen colours, and takes
// the rest from usual, which is how the token looks on them.
func (s Style) to16(usual Style) Style {
	out := usual
	out.Bold = s.Bold || usual.Bold
	out.Underline = s.Underline || usual.Underline
	out.Italic, out.Strike = s.Italic, s.Strike
	if s.FG.kind == namedColour {
		out.FG = s.FG
	}
	if !s.ANSI16.IsZero() {
		out.FG = s.ANSI16
	}
	if s.BG.kind == namedColour {
		out.BG = s.BG
	}
	return out
}

// nearest is the closest of the colours 16 to 255, which are the same on all
// terminals. Colours that are not made of red, green and blue stay.
func (c Colour) nearest() Colour {
	if c.kind != trueColour {
		return c
	}
	best, at := math.MaxInt, Colour{}
	for n := 16; n < 256; n++ {
		i := Indexed(uint8(n))
		r, g, b, _ := i.Parts()
		dr, dg, db := int(c.r)-int(r), int(c.g)-int(g), int(c.b)-int(b)
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < best { // weighed as the eye does
			best, at = d, i
		}
	}
	return at
}

package theme

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Backgrounds are those that a theme is checked on where it has none of its
// own: common ones of each kind.
var Backgrounds = map[Variant][]Colour{
	Dark:  {RGB(0, 0, 0), RGB(0x1e, 0x1e, 0x1e), RGB(0x28, 0x2c, 0x34)},
	Light: {RGB(0xff, 0xff, 0xff), RGB(0xfd, 0xf6, 0xe3)},
}

// Contrast that text needs on its background, as WCAG 2 measures it.
const (
	bodyContrast       = 7   // "fg"
	textContrast       = 4.5 // all other text
	decorationContrast = 1.5 // lines
)

// A Finding is a token that is hard to read.
type Finding struct {
	Variant    Variant
	Profile    Profile
	Token      Token
	Text       Colour
	Background Colour
	Ratio      float64
	Need       float64
	// Suggest is the colour nearest to Text that is readable on each of the
	// backgrounds, or none where there is no such colour.
	Suggest Colour
}

func (f Finding) String() string {
	s := fmt.Sprintf("%s, %s colours: %s is %s on %s, contrast %.2f of %.1f", f.Variant, f.Profile, f.Token, f.Text, f.Background, f.Ratio, f.Need)
	if !f.Suggest.IsZero() {
		s += "; try " + f.Suggest.String()
	}
	return s
}

// Check measures the contrast of every token in full and in 256 colours, on
// the theme's own background, else on the common ones and on those of more,
// such as the terminal's. It returns what is hard to read, the worst first and
// each token once per variant and profile. What a terminal's own sixteen
// colours look like is not known, and is not checked.
func Check(t *Theme, more map[Variant][]Colour) []Finding {
	var out []Finding
	for _, v := range []Variant{Dark, Light} {
		for _, profile := range []Profile{TrueColor, ANSI256} {
			p := t.Palette(v).For(profile)
			on := slices.Concat(Backgrounds[v], more[v])
			if own := p["background"].BG; !own.IsZero() {
				on = []Colour{own}
			}
			for _, token := range Tokens {
				if f, ok := check(p, token, on); ok {
					f.Variant, f.Profile = v, profile
					out = append(out, f)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Ratio/a.Need, b.Ratio/b.Need) })
	return out
}

// check returns the worst contrast of a token, if it is below what it needs.
func check(p Palette, token Token, grounds []Colour) (Finding, bool) {
	if token == "background" || strings.HasPrefix(string(token), "ansi.") {
		return Finding{}, false
	}
	s := p.Style(token)
	f := Finding{Token: token, Text: s.FG, Need: need(token), Ratio: math.Inf(1)}
	if f.Text.IsZero() {
		if f.Text = p["fg"].FG; s.BG.IsZero() && !s.Reverse {
			return Finding{}, false // it is as readable as "fg", which is checked
		}
	}
	if !s.BG.IsZero() {
		grounds = []Colour{s.BG}
	}
	for _, ground := range grounds {
		text, on := f.Text, ground
		if s.Reverse {
			text, on = on, text
		}
		if ratio, ok := Contrast(text, on); ok && ratio < f.Ratio {
			f.Ratio, f.Background = ratio, on
		}
	}
	if f.Ratio >= f.Need || math.IsInf(f.Ratio, 1) {
		return Finding{}, false
	}
	f.Suggest = readable(f.Text, grounds, f.Need)
	return f, true
}

func need(t Token) float64 {
	switch t {
	case "fg":
		return bodyContrast
	case "border", "md.rule":
		return decorationContrast
	}
	return textContrast
}

// Contrast is the ratio between two colours, from 1 to 21. It is false where
// one of them is the terminal's to decide.
func Contrast(a, b Colour) (float64, bool) {
	la, okA := a.luminance()
	lb, okB := b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05), okA && okB
}

func (c Colour) luminance() (float64, bool) {
	r, g, b, ok := c.Parts()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b), ok
}

func linear(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

// readable mixes c with white or black, as little as it takes to reach need on
// every ground.
func readable(c Colour, grounds []Colour, need float64) Colour {
	r, g, b, ok := c.Parts()
	if !ok {
		return Colour{}
	}
	for step := 1; step <= 100; step++ {
		for _, to := range []uint8{255, 0} {
			mixed := RGB(mix(r, to, step), mix(g, to, step), mix(b, to, step))
			if !slices.ContainsFunc(grounds, func(ground Colour) bool {
				ratio, ok := Contrast(mixed, ground)
				return ok && ratio < need
			}) {
				return mixed
			}
		}
	}
	return Colour{}
}

func mix(from, to uint8, percent int) uint8 {
	return uint8((int(from)*(100-percent) + int(to)*percent + 50) / 100)
}

package style

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var names = []string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow",
	"bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

// sequence is the SGR of the look, without a reset before it.
func (l Look) sequence(p Profile) string {
	var codes []string
	for _, a := range []struct {
		on   bool
		code string
	}{{l.Bold, "1"}, {l.Dim, "2"}, {l.Italic, "3"}, {l.Underline, "4"}, {l.Reverse, "7"}, {l.Strike, "9"}} {
		if a.on {
			codes = append(codes, a.code)
		}
	}
	fg := l.FG
	if p == ANSI256 && l.ANSI256 != "" {
		fg = l.ANSI256
	}
	if c := colorCode(fg, p, false); c != "" {
		codes = append(codes, c)
	}
	if c := colorCode(l.BG, p, true); c != "" {
		codes = append(codes, c)
	}
	if len(codes) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// colorCode is the SGR parameter of a colour, or nothing where the profile
// cannot show it.
func colorCode(c string, p Profile, background bool) string {
	if c == "" || c == "default" || p == Mono {
		return ""
	}
	base, bright, ext := 30, 90, 38
	if background {
		base, bright, ext = 40, 100, 48
	}
	if i := nameIndex(c); i >= 0 {
		if i < 8 {
			return strconv.Itoa(base + i)
		}
		return strconv.Itoa(bright + i - 8)
	}
	if p == ANSI16 {
		return "" // the nearest colour would lie about a palette nobody knows
	}
	if n, err := strconv.Atoi(c); err == nil && n >= 0 && n <= 255 {
		return fmt.Sprintf("%d;5;%d", ext, n)
	}
	r, g, b, ok := parseHex(c)
	if !ok {
		return ""
	}
	if p == ANSI256 {
		return fmt.Sprintf("%d;5;%d", ext, nearest256(r, g, b))
	}
	return fmt.Sprintf("%d;2;%d;%d;%d", ext, r, g, b)
}

func nameIndex(c string) int {
	for i, n := range names {
		if n == c {
			return i
		}
	}
	return -1
}

func parseHex(c string) (r, g, b int, ok bool) {
	h, found := strings.CutPrefix(c, "#")
	if !found {
		return 0, 0, 0, false
	}
	if len(h) == 3 {
		h = string([]byte{h[0], h[0], h[1], h[1], h[2], h[2]})
	}
	n, err := strconv.ParseUint(h, 16, 32)
	if err != nil || len(h) != 6 {
		return 0, 0, 0, false
	}
	return int(n >> 16), int(n >> 8 & 255), int(n & 255), true
}

// nearest256 looks among the colour cube and the greys; the first sixteen
// depend on the user's palette.
func nearest256(r, g, b int) int {
	levels := []int{0, 95, 135, 175, 215, 255}
	best, at := math.MaxInt, 16
	try := func(i, cr, cg, cb int) {
		dr, dg, db := r-cr, g-cg, b-cb
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < best {
			best, at = d, i
		}
	}
	near := func(v int) int {
		k := 0
		for i, l := range levels {
			if abs(v-l) < abs(v-levels[k]) {
				k = i
			}
		}
		return k
	}
	i, j, k := near(r), near(g), near(b)
	try(16+36*i+6*j+k, levels[i], levels[j], levels[k])
	for n := range 24 {
		v := 8 + 10*n
		try(232+n, v, v, v)
	}
	return at
}

func abs(n int) int { return max(n, -n) }

// look16 is the look of a token on sixteen colours: what the theme says for
// that case, else our own choice. Colours of the theme itself are not rounded.
func look16(t Token, l Look) Look {
	d := default16[t]
	out := Look{Bold: l.Bold || d.Bold, Dim: d.Dim, Italic: l.Italic, Underline: l.Underline || d.Underline,
		Reverse: l.Reverse || d.Reverse, Strike: l.Strike, FG: d.FG}
	if l.ANSI16 != "" {
		out.FG = l.ANSI16
	} else if nameIndex(l.FG) >= 0 {
		out.FG = l.FG
	}
	if nameIndex(l.BG) >= 0 {
		out.BG = l.BG
	}
	return out
}

var default16 = map[Token]Look{
	Accent: {FG: "cyan"}, Success: {FG: "green"}, Warn: {FG: "yellow"}, Error: {FG: "red"},
	Muted: {FG: "bright-black"}, Border: {FG: "bright-black"}, Selection: {Reverse: true},
	User: {Bold: true}, Thinking: {FG: "bright-black"}, Tool: {FG: "cyan"}, ToolOK: {FG: "green"}, ToolError: {FG: "red"},
	PanelTitle: {FG: "cyan", Bold: true}, DialogTitle: {FG: "yellow", Bold: true}, Status: {FG: "bright-black"}, Queue: {FG: "yellow"},
	Heading: {FG: "cyan", Bold: true}, Strong: {Bold: true}, Em: {Underline: true}, Code: {FG: "yellow"},
	Link: {FG: "blue", Underline: true}, URL: {FG: "bright-black"}, Quote: {FG: "bright-black"}, List: {FG: "cyan"}, Rule: {FG: "bright-black"},
	DiffAdd: {FG: "green"}, DiffDel: {FG: "red"}, DiffHunk: {FG: "cyan"}, DiffLineNo: {FG: "bright-black"}, DiffContext: {},
	SynComment: {FG: "bright-black"}, SynKeyword: {FG: "magenta"}, SynFunc: {FG: "blue"}, SynType: {FG: "cyan"},
	SynString: {FG: "green"}, SynNumber: {FG: "yellow"}, SynOperator: {},
	ContextWarn: {FG: "yellow"}, ContextFull: {FG: "red", Bold: true},
}

// monoLook is the look of a token without colours.
func monoLook(t Token) Look {
	switch t {
	case Selection:
		return Look{Reverse: true}
	case Accent, Heading, Strong, PanelTitle, DialogTitle, Error, Warn, User, ToolError, ContextFull:
		return Look{Bold: true}
	case Link, Em:
		return Look{Underline: true}
	}
	return Look{}
}

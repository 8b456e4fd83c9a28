package style

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/runtime/theme"
)

// sequence is the SGR of a look, without a reset before it.
func sequence(l theme.Style, p Profile) string {
	var codes []string
	for _, a := range []struct {
		on   bool
		code string
	}{{l.Bold, "1"}, {l.Dim, "2"}, {l.Italic, "3"}, {l.Underline, "4"}, {l.Reverse, "7"}, {l.Strike, "9"}} {
		if a.on {
			codes = append(codes, a.code)
		}
	}
	if c := colorCode(l.FG.String(), p, false); c != "" {
		codes = append(codes, c)
	}
	if c := colorCode(l.BG.String(), p, true); c != "" {
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

func nameIndex(c string) int { return slices.Index(theme.Names, c) }

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

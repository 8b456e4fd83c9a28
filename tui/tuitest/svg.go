package tuitest

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/patriceckhart/zot/tui/screen"
)

// Cell sizes of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
)

// SVG draws rows with their sequences as a picture of a terminal of that width.
// It knows what the interface writes: 24-bit colours and the usual attributes.
func SVG(rows []string, width int) string {
	var b strings.Builder
	w, h := float64(width)*cellWidth+24, len(rows)*cellHeight+24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", w, h, w, h)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#14171c"/>` + "\n")
	b.WriteString(`<g font-family="ui-monospace, 'JetBrains Mono', Menlo, Consolas, monospace" font-size="14" xml:space="preserve">` + "\n")
	for y, row := range rows {
		col := 0
		spans, _ := screen.Spans(row, "")
		for _, s := range spans {
			n := screen.Width(s.Text)
			look := readLook(s.SGR)
			x := 12 + float64(col)*cellWidth
			if look.bg != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, 12+y*cellHeight, float64(n)*cellWidth, cellHeight, look.bg)
			}
			if text := strings.TrimRight(s.Text, " "); text != "" {
				var esc strings.Builder
				_ = xml.EscapeText(&esc, []byte(text)) // a builder takes all
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", x, 12+y*cellHeight+13, float64(screen.Width(text))*cellWidth, look.attrs(), esc.String())
			}
			col += n
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

type svgLook struct {
	fg, bg                  string
	bold, italic, underline bool
}

func (l svgLook) attrs() string {
	s := fmt.Sprintf(` fill="%s"`, l.fg)
	if l.bold {
		s += ` font-weight="bold"`
	}
	if l.italic {
		s += ` font-style="italic"`
	}
	if l.underline {
		s += ` text-decoration="underline"`
	}
	return s
}

func readLook(sgr string) svgLook {
	l := svgLook{fg: "#d7dbe0"}
	for _, seq := range strings.Split(sgr, "\x1b[") {
		ps := strings.Split(strings.TrimSuffix(seq, "m"), ";")
		for i := 0; i < len(ps); i++ {
			switch ps[i] {
			case "1":
				l.bold = true
			case "3":
				l.italic = true
			case "4":
				l.underline = true
			case "7":
				l.fg, l.bg = "#14171c", l.fg
			case "38", "48":
				if i+4 < len(ps) && ps[i+1] == "2" {
					var r, g, b int
					_, _ = fmt.Sscanf(strings.Join(ps[i+2:i+5], " "), "%d %d %d", &r, &g, &b) // written by ourselves
					c := fmt.Sprintf("#%02x%02x%02x", r, g, b)
					if ps[i] == "38" {
						l.fg = c
					} else {
						l.bg = c
					}
					i += 4
				}
			}
		}
	}
	return l
}

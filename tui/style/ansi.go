package style

import (
	"strconv"
	"strings"

	"github.com/patriceckhart/zot/runtime/theme"
)

func ansiToken(i int) Token { return Token("ansi." + strconv.Itoa(i)) }

func (s *Sheet) resolveANSI(p Palette) {
	for i := range s.ansi {
		look, ok := p[ansiToken(i)]
		if ok && s.Profile > ANSI16 && !look.FG.IsZero() {
			s.ansi[i] = colorCode(look.FG.String(), s.Profile, false)
		}
	}
}

// Program turns the SGR sequences of a program's output into ones that this
// sheet's terminal should see: none of colour without colours, the sixteen
// colours as the theme has them, and 24-bit ones rounded where needed.
func (s *Sheet) Program(sgr string) string {
	if sgr == "" {
		return ""
	}
	var out []string
	for _, seq := range strings.Split(sgr, "\x1b[") {
		seq = strings.TrimSuffix(seq, "m")
		if seq != "" {
			out = append(out, s.mapParams(strings.Split(strings.ReplaceAll(seq, ":", ";"), ";"))...)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(out, ";") + "m"
}

func (s *Sheet) mapParams(ps []string) []string {
	var out []string
	for i := 0; i < len(ps); i++ {
		n, err := strconv.Atoi(ps[i])
		if err != nil {
			n = 0
		}
		switch {
		case n == 5 || n == 6 || n == 8: // blinking and hidden text are not for others to ask for
		case n < 30 || (n >= 39 && n < 40) || n == 49 || (n >= 50 && n < 90):
			if n == 38 || n == 48 || n == 58 {
				break
			}
			if s.Profile > Mono || n < 30 {
				out = append(out, strconv.Itoa(n))
			}
		case n == 38 || n == 48:
			code, used := s.extended(ps[i:], n == 48)
			i += used
			if code != "" {
				out = append(out, code)
			}
		case s.Profile == Mono:
		case n >= 30 && n <= 37 && s.ansi[n-30] != "":
			out = append(out, s.ansi[n-30])
		case n >= 90 && n <= 97 && s.ansi[n-90+8] != "":
			out = append(out, s.ansi[n-90+8])
		default:
			out = append(out, strconv.Itoa(n))
		}
	}
	return out
}

// extended reads a 256 or 24-bit colour at ps[0] and says how many of the
// following parameters belong to it.
func (s *Sheet) extended(ps []string, background bool) (code string, used int) {
	if len(ps) >= 3 && ps[1] == "5" {
		if n, err := strconv.Atoi(ps[2]); err == nil && n < 16 && n >= 0 {
			return colorCode(theme.Names[n], s.Profile, background), 2
		}
		return colorCode(ps[2], s.Profile, background), 2
	}
	if len(ps) >= 5 && ps[1] == "2" {
		hex := "#"
		for _, p := range ps[2:5] {
			n, _ := strconv.Atoi(p)
			hex += string("0123456789abcdef"[n>>4&15]) + string("0123456789abcdef"[n&15])
		}
		return colorCode(hex, s.Profile, background), 4
	}
	return "", len(ps) - 1
}

package paint

import "strings"

// A writer of text keeps the looks it writes short: rows are made of pieces that
// each begin and end their own, and most of those sequences say what holds
// already.
type writer struct {
	b    []byte
	have string // the look in force on the terminal, as sequences since the last reset
	want string // the look that the next text is to have
}

// text appends a row's text, sequences included.
func (w *writer) text(s string) {
	for s != "" {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			i = len(s)
		}
		if i > 0 {
			w.turn()
			w.b = append(w.b, s[:i]...)
			s = s[i:]
			continue
		}
		end := strings.IndexByte(s, 'm') + 1
		if end == 0 {
			return // no row has half a sequence
		}
		w.look(s[:end])
		s = s[end:]
	}
}

func (w *writer) look(seq string) {
	switch {
	case seq == plain || seq == "\x1b[0m":
		w.want = ""
	case w.want != "" && onlyColours(w.want) && colours(seq):
		w.want = seq
	default:
		w.want += seq
	}
}

// turn changes the look in force to the one that is wanted.
func (w *writer) turn() {
	switch {
	case w.have == w.want:
		return
	case strings.HasPrefix(w.want, w.have):
		w.b = append(w.b, w.want[len(w.have):]...)
	case w.want == "":
		w.b = append(w.b, plain...)
	case onlyColours(w.have) && colours(w.want):
		w.b = append(w.b, w.want...)
	default: // reset and begin in one
		w.b = append(w.b, "\x1b[;"...)
		w.b = append(w.b, w.want[2:]...)
	}
	w.have = w.want
}

// end is the plain look again.
func (w *writer) end() []byte {
	w.want = ""
	w.turn()
	return w.b
}

// onlyColours reports whether seq is one sequence that sets the foreground and
// nothing else, so that another foreground replaces it.
func onlyColours(seq string) bool {
	n, fg := params(seq)
	return fg && n == 1
}

// colours reports whether the first sequence of seq sets the foreground.
func colours(seq string) bool {
	_, fg := params(seq)
	return fg
}

// params counts what the first sequence of seq sets, and reports whether the
// foreground is among it. More than one sequence counts as more than one thing.
func params(seq string) (n int, fg bool) {
	end := strings.IndexByte(seq, 'm')
	if end < 2 {
		return 0, false
	}
	if end+1 < len(seq) {
		n++
	}
	for body := seq[2:end]; body != ""; {
		var p string
		p, body, _ = strings.Cut(body, ";")
		n++
		switch {
		case p == "38" || p == "48" || p == "58":
			skip := 1 // 5;n
			if strings.HasPrefix(body, "2;") {
				skip = 3
			}
			_, body, _ = strings.Cut(body, ";")
			for range skip {
				_, body, _ = strings.Cut(body, ";")
			}
			fg = fg || p == "38"
		case len(p) == 2 && (p[0] == '3' || p[0] == '9') && p[1] <= '7':
			fg = true
		}
	}
	return n, fg
}

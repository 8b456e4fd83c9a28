package screen

import (
	"strings"
)

// A Span is text of one look. SGR holds the sequences that begin the look
// ("\x1b[1m"), or nothing.
type Span struct{ Text, SGR string }

// Spans cuts one line with SGR sequences, as CleanSGR leaves it, into spans.
// Each span carries everything in force since the last reset. The second
// result is what is in force at the end, to start the next line with.
func Spans(line, sgr string) ([]Span, string) {
	var spans []Span
	for line != "" {
		i := strings.Index(line, "\x1b[")
		if i < 0 {
			return append(spans, Span{line, sgr}), sgr
		}
		if i > 0 {
			spans = append(spans, Span{line[:i], sgr})
		}
		line = line[i+2:]
		end := strings.IndexByte(line, 'm')
		if end < 0 {
			return spans, sgr
		}
		sgr = addSGR(sgr, line[:end])
		line = line[end+1:]
	}
	return spans, sgr
}

// maxSGR bounds what a line may pile up; output that never resets would grow
// every row otherwise.
const maxSGR = 96

func addSGR(sgr, params string) string {
	if params == "" || params == "0" {
		return ""
	}
	if rest, ok := strings.CutPrefix(params, "0;"); ok {
		return "\x1b[" + rest + "m"
	}
	if next := "\x1b[" + params + "m"; len(sgr)+len(next) <= maxSGR {
		return sgr + next
	}
	return "\x1b[" + params + "m"
}

// Paint joins spans to a row that begins and ends without a look.
func Paint(spans []Span) string {
	var p painter
	for _, s := range spans {
		p.add(s.Text, s.SGR)
	}
	return p.end()
}

// painter writes one row and changes the look only where it differs.
type painter struct {
	b   strings.Builder
	sgr string
}

func (p *painter) add(text, sgr string) {
	if text == "" {
		return
	}
	if sgr != p.sgr {
		if p.sgr != "" {
			p.b.WriteString(Reset)
		}
		p.b.WriteString(sgr)
		p.sgr = sgr
	}
	p.b.WriteString(Display(text))
}

func (p *painter) end() string {
	if p.sgr != "" {
		p.b.WriteString(Reset)
		p.sgr = ""
	}
	s := p.b.String()
	p.b.Reset()
	return s
}

// A Wrapper breaks spans into rows of at most Width columns, at spaces where
// there are any. First and Rest stand before the first and the other rows and
// count towards the width.
type Wrapper struct {
	Width       int
	First, Rest Span
	// Hard breaks at the edge only and keeps all white space: for code, where
	// the column of a character means something.
	Hard bool
}

// Rows returns at least one row.
func (w Wrapper) Rows(spans []Span) []string {
	s := wrapState{w: w}
	s.start(w.First)
	for _, sp := range spans {
		s.span(sp)
	}
	s.flushWord()
	s.rows = append(s.rows, s.p.end())
	return s.rows
}

type piece struct {
	text, sgr string
}

type wrapState struct {
	w      Wrapper
	rows   []string
	p      painter
	col    int // columns used in the row
	base   int // columns of the row's prefix
	word   []piece
	wordW  int
	spaces []piece
	spaceW int
}

func (s *wrapState) start(prefix Span) {
	s.p.add(prefix.Text, prefix.SGR)
	s.base = Width(prefix.Text)
	if s.base >= s.w.Width {
		// A prefix that fills the row would leave no room for text, for ever.
		s.p = painter{}
		s.base = 0
	}
	s.col = s.base
}

func (s *wrapState) newline() {
	s.rows = append(s.rows, s.p.end())
	s.start(s.w.Rest)
}

func (s *wrapState) span(sp Span) {
	text := Display(sp.Text)
	for text != "" {
		if text[0] == '\n' {
			s.flushWord()
			s.spaces, s.spaceW = s.spaces[:0], 0
			s.newline()
			text = text[1:]
			continue
		}
		if s.w.Hard {
			text = s.hard(text, sp.SGR)
			continue
		}
		n := 0
		if text[0] == ' ' {
			for n < len(text) && text[n] == ' ' {
				n++
			}
			s.flushWord()
			s.spaces = append(s.spaces, piece{text[:n], sp.SGR})
			s.spaceW += n
		} else {
			for n < len(text) && text[n] != ' ' && text[n] != '\n' {
				n++
			}
			s.word = append(s.word, piece{text[:n], sp.SGR})
			s.wordW += Width(text[:n])
		}
		text = text[n:]
	}
}

// hard puts as much of text on the row as fits and returns the rest.
func (s *wrapState) hard(text, sgr string) string {
	rest, col, n := text, s.col, 0
	for rest != "" && rest[0] != '\n' {
		c, r, cw := Cluster(rest)
		if col+cw > s.w.Width && (n > 0 || col > s.base) {
			break
		}
		if cw > s.w.Width-s.base {
			if n == 0 {
				return r // wider than any row: leave it out
			}
			break
		}
		n += len(c)
		col += cw
		rest = r
	}
	s.p.add(text[:n], sgr)
	s.col = col
	if rest != "" && rest[0] != '\n' {
		s.newline()
	}
	return rest
}

func (s *wrapState) flushWord() {
	if len(s.word) == 0 {
		return
	}
	if s.col+s.spaceW+s.wordW > s.w.Width && s.col > s.base {
		s.newline()
	} else {
		for _, p := range s.spaces {
			if room := s.w.Width - s.col; len(p.text) > room {
				p.text = p.text[:max(room, 0)]
			}
			s.p.add(p.text, p.sgr)
			s.col += len(p.text)
		}
	}
	s.spaces, s.spaceW = s.spaces[:0], 0
	for _, p := range s.word {
		s.put(p)
	}
	s.word, s.wordW = s.word[:0], 0
}

// put writes a piece of a word, breaking it where the row is full.
func (s *wrapState) put(p piece) {
	if w := Width(p.text); s.col+w <= s.w.Width {
		s.p.add(p.text, p.sgr)
		s.col += w
		return
	}
	for text := p.text; text != ""; {
		text = s.hard(text, p.sgr)
	}
}

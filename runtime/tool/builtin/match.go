package builtin

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A span is a part of the file, in bytes.
type span struct{ start, end int }

// how says by which rule text was found. The strictest rule that finds
// anything is the one that counts: a text that is there once exactly and twice
// loosely is there once.
type how int

const (
	exactly  how = iota // CRLF and LF are the same if the text has LF only, as it is read
	byEnds              // CRLF and LF are the same
	byBlanks            // and white space at line ends, kinds of spaces, quotes and dashes do not matter
	byIndent            // and nor does the indentation, as long as it differs in one consistent way
)

func (h how) words() string {
	switch h {
	case byEnds:
		return " when CRLF and LF count as the same"
	case byBlanks:
		return " when white space at line ends and kinds of quotes, dashes and spaces do not count"
	case byIndent:
		return " when the indentation does not count"
	}
	return ""
}

type matches struct {
	by    how
	spans []span
}

// find looks for old in data, rule by rule.
func find(data, old []byte) matches {
	exact := findAll
	if !bytes.Contains(old, []byte{'\r'}) && bytes.Contains(old, []byte{'\n'}) && bytes.Contains(data, []byte("\r\n")) {
		// A read shows all line ends alike, so "once" has to mean once in that view.
		exact = func(data, old []byte) []span { return findFolded(data, old, byEnds) }
	}
	if spans := exact(data, old); len(spans) > 0 {
		return matches{exactly, spans}
	}
	for _, by := range []how{byEnds, byBlanks} {
		if spans := findFolded(data, old, by); len(spans) > 0 {
			return matches{by, spans}
		}
	}
	return matches{byIndent, findIndented(data, old)}
}

// findAll finds all occurrences that do not overlap.
func findAll(data, old []byte) []span {
	var spans []span
	for at := 0; len(old) > 0; {
		i := bytes.Index(data[at:], old)
		if i < 0 {
			break
		}
		spans = append(spans, span{at + i, at + i + len(old)})
		at += i + len(old)
	}
	return spans
}

// findFolded finds old when both are seen through the rule, and returns where
// that is in the real bytes.
func findFolded(data, old []byte, by how) []span {
	want := folded(old, by)
	if len(want) == 0 || by >= byBlanks && len(bytes.TrimSpace(want)) == 0 {
		return nil
	}
	found := findAll(folded(data, by), want)
	if len(found) == 0 {
		return nil
	}
	// Walk once more to translate the places, instead of keeping a table as
	// large as the file.
	var spans []span
	next, at := 0, 0
	cur := span{-1, -1}
	fold(data, by, func(piece []byte, start, end int) {
		if next < len(found) && at == found[next].start {
			cur.start = start
		}
		at += len(piece)
		if next < len(found) && at >= found[next].end {
			if cur.start >= 0 && at == found[next].end {
				spans = append(spans, span{cur.start, end})
			}
			cur.start = -1
			next++
		}
	})
	return spans
}

func folded(b []byte, by how) []byte {
	out := make([]byte, 0, len(b))
	fold(b, by, func(piece []byte, _, _ int) { out = append(out, piece...) })
	return out
}

// fold walks b and hands out what each piece of it counts as under the rule,
// with the place it came from. What counts as nothing is left out.
func fold(b []byte, by how, visit func(piece []byte, start, end int)) {
	for i := 0; i < len(b); {
		if n := lineEnd(b[i:], by); n > 0 {
			visit([]byte{'\n'}, i+n-newlineLen(b[i:i+n]), i+n)
			i += n
			continue
		}
		if by >= byBlanks && blanksToEnd(b[i:]) {
			return
		}
		r, n := utf8.DecodeRune(b[i:])
		if p := plainRune(r); by >= byBlanks && p != r {
			visit([]byte{byte(p)}, i, i+n)
		} else {
			visit(b[i:i+n], i, i+n)
		}
		i += n
	}
}

// lineEnd is the length of the line end that b starts with, with the white
// space before it where that does not count; 0 if it starts with none.
func lineEnd(b []byte, by how) int {
	i := 0
	if by >= byBlanks {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
	}
	switch {
	case i < len(b) && b[i] == '\n':
		return i + 1
	case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
		return i + 2
	}
	return 0
}

func newlineLen(b []byte) int {
	if bytes.HasSuffix(b, []byte("\r\n")) {
		return 2
	}
	return 1
}

func blanksToEnd(b []byte) bool {
	return b[0] != '\n' && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r') && len(bytes.TrimLeft(b, " \t\r")) == 0
}

// plainRune is the character on a keyboard that a typographic one stands for.
func plainRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r == '‘' || r == '’' || r == '‚' || r == 'ʼ':
		return '\''
	case r == '“' || r == '”' || r == '„':
		return '"'
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
		return '-'
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// findIndented finds whole lines that are those of old but for an indentation
// that differs in one way only: each indentation of old stands for one of the
// file throughout.
func findIndented(data, old []byte) []span {
	want := splitLines(old)
	open := len(want[len(want)-1]) > 0 // old ends within its last line
	if !open {
		want = want[:len(want)-1]
	}
	for i := range want {
		want[i] = folded(want[i], byBlanks)
	}
	if len(bytes.TrimSpace(bytes.Join(want, nil))) == 0 {
		return nil
	}
	rows := bytes.SplitAfter(data, []byte{'\n'})
	starts := make([]int, len(rows)+1)
	for i, r := range rows {
		starts[i+1] = starts[i] + len(r)
	}
	var spans []span
	for i := 0; i+len(want) <= len(rows); i++ {
		if !sameButIndent(rows[i:i+len(want)], want) {
			continue
		}
		last := i + len(want) - 1
		end := starts[last+1]
		if open {
			end -= len(endOf(rows[last]))
		} else if endOf(rows[last]) == "" {
			continue // old wants a line end that is not there
		}
		spans = append(spans, span{starts[i], end})
		i = last
	}
	return spans
}

func sameButIndent(rows, want [][]byte) bool {
	indents := map[string]string{}
	for i, row := range rows {
		row = bytes.TrimSuffix(folded(row, byBlanks), []byte{'\n'})
		a, b := bytes.TrimLeft(row, " \t"), bytes.TrimLeft(want[i], " \t")
		if !bytes.Equal(a, b) {
			return false
		}
		if len(a) == 0 {
			continue
		}
		is, in := string(row[:len(row)-len(a)]), string(want[i][:len(want[i])-len(b)])
		if known, ok := indents[in]; ok && known != is {
			return false
		}
		indents[in] = is
	}
	return true
}

// indentShift returns what to do to each new line: nothing, or for a match by
// indentation, put the file's in place of oldText's. A deeper line keeps what
// it has beyond the deepest known indentation that it starts with.
func indentShift(by how, rows, was [][]byte) func([]byte) []byte {
	if by != byIndent || len(rows) != len(was) {
		return func(line []byte) []byte { return line }
	}
	indents := map[string]string{}
	for i, row := range rows {
		if body := bytes.TrimLeft(was[i], " \t"); len(bytes.TrimSpace(body)) > 0 {
			in := string(was[i][:len(was[i])-len(body)])
			indents[in] = string(row[:len(row)-len(bytes.TrimLeft(row, " \t"))])
		}
	}
	return func(line []byte) []byte {
		body := bytes.TrimLeft(line, " \t")
		if len(body) == 0 {
			return line
		}
		indent := string(line[:len(line)-len(body)])
		for n := len(indent); n >= 0; n-- {
			if is, ok := indents[indent[:n]]; ok {
				return append([]byte(is+indent[n:]), body...)
			}
		}
		return line
	}
}

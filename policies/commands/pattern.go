package commands

import (
	"errors"
	"path"
	"strings"

	"github.com/patriceckhart/zot/policies"
)

// A pattern is what a rule matches, word by word.
type pattern []element

// An element is one word of a pattern: any number of words if many, else the
// pieces of text that stand in it with anything between them.
type element struct {
	many   bool
	pieces []string
}

func parsePattern(text string) (pattern, error) {
	var p pattern
	var pieces []string
	var piece strings.Builder
	inWord, escaped := false, false
	end := func() {
		if !inWord {
			return
		}
		e := element{pieces: append(pieces, piece.String())}
		e.many = len(e.pieces) == 2 && e.pieces[0] == "" && e.pieces[1] == ""
		p = append(p, e)
		pieces, inWord = nil, false
		piece.Reset()
	}
	for _, r := range text {
		switch {
		case escaped:
			piece.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped, inWord = true, true
		case r == ' ' || r == '\t':
			end()
		case r == '\n' || r == '\r' || r == 0:
			return nil, errors.New("it holds a line end or a zero byte")
		case r == '*':
			pieces, inWord = append(pieces, piece.String()), true
			piece.Reset()
		default:
			piece.WriteRune(r)
			inWord = true
		}
	}
	if escaped {
		return nil, errors.New("it ends in a backslash; write \\\\ for one that stands for itself")
	}
	end()
	if len(p) == 0 {
		return nil, errors.New("it is empty; write * for every command")
	}
	return p, nil
}

// match says whether the rule matches the command whatever its unknown words
// become, and whether it does for some of what they may become.
func (c compiled) match(cmd call) (certain, possible bool) {
	if c.Verdict == policies.Allow {
		return c.pattern.covers(cmd.all()), false
	}
	for _, head := range heads(cmd.words[0]) {
		words := append([]word{head}, cmd.all()[1:]...)
		if c.pattern.covers(words) {
			return true, true
		}
		possible = possible || c.pattern.touches(words)
		sure, may := c.behindOptions(words)
		if sure {
			return true, true
		}
		possible = possible || may
	}
	return false, possible
}

// behindOptions looks for what the rule restricts behind options that stand
// before the word that says what is to be done: git -C dir push. Where that word
// may be an option's value it is only possible.
func (c compiled) behindOptions(words []word) (certain, possible bool) {
	option := func(i int) bool { return words[i].known && strings.HasPrefix(words[i].text, "-") }
	for k := 2; k < len(words); k++ {
		if !option(k-1) && (k == 2 || !option(k-2)) {
			break // the word before is neither an option nor its value
		}
		if option(k) || !c.pattern.covers(append([]word{words[0]}, words[k:]...)) {
			continue
		}
		if !option(k-1) || strings.Contains(words[k-1].text, "=") {
			return true, true
		}
		possible = true
	}
	return false, possible
}

// heads are the names that mean one program to a rule that restricts: with its
// folder or without, in upper case where the system does not care.
func heads(w word) []word {
	if !w.known {
		return []word{w}
	}
	base := path.Base(strings.ReplaceAll(w.text, `\`, "/"))
	all := []word{w}
	for _, name := range []string{base, strings.ToLower(base), strings.TrimSuffix(strings.ToLower(base), ".exe")} {
		all = append(all, word{text: name, known: true})
	}
	return all
}

// covers reports whether the pattern matches for certain: a word that is not
// known is only covered by a *.
func (p pattern) covers(words []word) bool { return p.run(words, false) }

// touches reports whether the pattern may match: a word that is not known may
// become any words, or none.
func (p pattern) touches(words []word) bool { return p.run(words, true) }

// run walks the table of (elements matched, words matched) from its start and
// reports whether the end is reached. If guess, unknown words become what fits.
func (p pattern) run(words []word, guess bool) bool {
	width := len(words) + 1
	reach := make([]bool, (len(p)+1)*width)
	reach[0] = true
	for i := 0; i <= len(p); i++ {
		for j := 0; j <= len(words); j++ {
			if !reach[i*width+j] {
				continue
			}
			element, input := i < len(p), j < len(words)
			wild := input && guess && !words[j].known
			if element && (p[i].many || wild) {
				reach[(i+1)*width+j] = true // the * takes no more, or the word gives one more
			}
			if input && (wild || element && p[i].many) {
				reach[i*width+j+1] = true
			}
			if element && input && !p[i].many && words[j].known && p[i].word(words[j].text) {
				reach[(i+1)*width+j+1] = true
			}
		}
	}
	return reach[len(reach)-1]
}

// word reports whether the element matches one word.
func (e element) word(s string) bool {
	first, last := e.pieces[0], e.pieces[len(e.pieces)-1]
	if len(e.pieces) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, piece := range e.pieces[1 : len(e.pieces)-1] {
		_, after, ok := strings.Cut(s, piece)
		if !ok {
			return false
		}
		s = after
	}
	return true
}

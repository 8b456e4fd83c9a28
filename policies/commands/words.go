package commands

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word is one argument of a command. If it is not known it may become any
// number of words of any text.
type word struct {
	text  string
	known bool
}

// A call is one simple command; it has at least one word.
type call struct {
	words []word
	open  bool // further words that are not known follow
}

// all are the words, with one in place of those that follow.
func (c call) all() []word {
	if c.open {
		return append(append([]word{}, c.words...), word{})
	}
	return c.words
}

// rest is the call that starts at the i-th word, if there is one.
func (c call) rest(i int) (call, bool) {
	if i < len(c.words) {
		return call{c.words[i:], c.open}, true
	}
	return call{}, false
}

func wordsOf(list []*syntax.Word) []word {
	var out []word
	for _, w := range list {
		out = append(out, wordOf(w))
	}
	return out
}

// wordOf is the text that bash makes of a word, if that can be said without
// running anything: quotes and backslashes are taken away, and whatever
// expands makes the word unknown.
func wordOf(w *syntax.Word) word {
	var b strings.Builder
	for i, part := range w.Parts {
		text, ok := partText(part, i == 0, len(w.Parts) == 1)
		if !ok {
			return word{}
		}
		b.WriteString(text)
	}
	return word{text: b.String(), known: true}
}

func partText(part syntax.WordPart, first, only bool) (string, bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return bareText(p.Value, first, only)
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar || !strings.Contains(p.Value, `\`)
	case *syntax.DblQuoted:
		return quotedText(p)
	}
	return "", false
}

// bareText reads text outside of quotes.
func bareText(s string, first, only bool) (string, bool) {
	if only && (s == "[" || s == "[[" || s == "{") {
		return s, true // these stand for themselves
	}
	if first && strings.HasPrefix(s, "~") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i == len(s) {
				return "", false
			}
			if s[i] == '\n' {
				continue
			}
		case '*', '?', '[':
			return "", false
		case '{':
			if i+1 == len(s) || s[i+1] != '}' { // {} expands to nothing else
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// quotedText reads text in double quotes, where a backslash means something
// before a few characters only.
func quotedText(q *syntax.DblQuoted) (string, bool) {
	if q.Dollar {
		return "", false
	}
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				if i++; s[i] == '\n' {
					continue
				}
			}
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

package schemas

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// renderWidth is how many characters of a long line are shown around a fault.
const renderWidth = 120

// Render shows a problem as a compiler does: the place and the message, the
// line of text with a mark under the fault, and the remedy. It ends in a
// newline. Text may be nil; the line is then left out.
//
//	extension.json:4:12: exec must be a string, not a number
//	    4 |   "exec": 5,
//	      |           ^
//	  help: for example "./weather"
func Render(p Problem, file string, text []byte) string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", Printable(file), p.Line, p.Column, Printable(p.Message))
	} else {
		fmt.Fprintf(&b, "%s: %s\n", Printable(file), Printable(p.Message))
	}
	if line, ok := lineOf(text, p.Line); ok {
		before, after := around(line, p.Column-1)
		indent := uniseg.StringWidth(before)
		fmt.Fprintf(&b, "%5d | %s%s\n", p.Line, before, after)
		fmt.Fprintf(&b, "      | %s^\n", strings.Repeat(" ", indent))
	}
	if p.Remedy != "" {
		fmt.Fprintf(&b, "  help: %s\n", Printable(p.Remedy))
	}
	return b.String()
}

func lineOf(text []byte, line int) ([]rune, bool) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if line < 1 || len(text) == 0 {
		return nil, false
	}
	rest := text[lineOffset(text, line):]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return []rune(string(bytes.TrimSuffix(rest, []byte("\r")))), true
}

// around cuts a line at column and keeps what fits into renderWidth, in a form
// that is safe to print.
func around(line []rune, column int) (before, after string) {
	column = max(0, min(column, len(line)))
	start := 0
	if column > renderWidth*2/3 {
		start = column - renderWidth/2
	}
	end := min(len(line), start+renderWidth)
	before, after = Printable(string(line[start:column])), Printable(string(line[column:end]))
	if start > 0 {
		before = "…" + before
	}
	if end < len(line) {
		after += "…"
	}
	return before, after
}

// Printable makes text from a stranger fit for one line of a terminal: a tab
// or line break is a space, and what would move the cursor or reverse the
// reading direction is written as its code.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unprintable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case unprintable(r):
			for _, unit := range utf16.Encode([]rune{r}) { // as JSON writes it
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unprintable reports control characters and those that nobody sees: format
// characters, fillers and selectors of variants. Of these, what emoji need is let
// through.
func unprintable(r rune) bool {
	const zeroWidthJoiner, asText, asEmoji = '\u200d', '\ufe0e', '\ufe0f'
	switch r {
	case zeroWidthJoiner, asText, asEmoji:
		return false
	case '\u2028', '\u2029', unicode.ReplacementChar:
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

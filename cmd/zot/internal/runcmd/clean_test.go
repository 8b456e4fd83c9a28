package runcmd

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[38;5;1mred\x1b[2J\x1b[1;1H", "red"},
		{"a\x1b]0;title\x07b\x1b]52;c;aGk=\x1b\\c", "abc"},
		{"a\x1bPq#0\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d\x1bXz\x1b\\e", "abcde"},
		{"a\u009b31mb\u009d0;t\u009cc", "abc"},
		{"a\x1b(0b\x1bcc\x1b7d", "abcd"},
		{"x\r\nprogress\r100%\b\x07\x00\u0085", "x\nprogress100%"},
		{"never ends \x1b]0;and on\nnext line", "never ends \nnext line"},
		{"cut \x1b[12", "cut "},
		{"\x1b\x1b[1mbold", "bold"},
		{"\x1b[1\x1b[2mok", "ok"},
		{"\x1bé \x1b[é", "é é"},
		{"日本 👩‍👧 é", "日本 👩‍👧 é"},
	} {
		if got := clean(test.text); got != test.want {
			t.Errorf("clean(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

// Text in pieces is cleaned as the whole is, and nothing that moves a cursor
// is left of either.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07 \u009b1m\x1bP1\x1b\\", 3)
	f.Add("a\x1b", 1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) || !utf8.ValidString(text) || !utf8.ValidString(text[:at]) {
			return
		}
		whole := clean(text)
		var c cleaner
		if got := c.clean(text[:at]) + c.clean(text[at:]); got != whole {
			t.Errorf("%q and %q give %q, the whole %q", text[:at], text[at:], got, whole)
		}
		if strings.ContainsFunc(whole, control) {
			t.Errorf("%q became %q", text, whole)
		}
		if clean(whole) != whole {
			t.Errorf("%q is not clean", whole)
		}
	})
}

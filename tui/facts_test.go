package tui

import (
	"io"
	"strings"
	"testing"
)

func TestTerminalFacts(t *testing.T) {
	facts := TerminalFacts([]string{"TERM=screen-256color", "TMUX=/tmp/x", "LC_ALL=C", "NO_COLOR=1"}, io.Discard, map[string]string{"f1": "nope"})
	got := ""
	for _, f := range facts {
		got += f.Name + "=" + f.Value + "|" + f.Advice + "\n"
	}
	for _, want := range []string{"TERM=screen-256color", "COLORTERM=not set", "colours=none (NO_COLOR", "UTF-8=no|", "multiplexer=tmux|shift+enter needs", "pictures=no", `keymap=1 problems|keymap: "f1": "nope" is no slash command`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

func TestLocale(t *testing.T) {
	for _, tc := range []struct {
		env  []string
		want bool
	}{
		{nil, true}, {[]string{"LANG=C"}, false}, {[]string{"LANG=C.UTF-8"}, true}, {[]string{"LANG=en_US.utf8"}, true},
		{[]string{"LC_ALL=C", "LANG=C.UTF-8"}, false}, {[]string{"LC_CTYPE=C.UTF-8", "LANG=C"}, true}, {[]string{"LC_ALL=", "LANG=POSIX"}, false},
	} {
		if got := !readEnvironment(tc.env).ascii; got != tc.want {
			t.Errorf("%v: %v", tc.env, got)
		}
	}
}

package tui

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
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

func TestGraphics(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 200, 200))); err != nil {
		t.Fatal(err)
	}
	img := message.Image{MIMEType: "image/png", Data: bytes.Repeat(b.Bytes(), 40)}
	for _, tc := range []struct {
		env    []string
		starts string
	}{
		{[]string{"TERM=xterm-kitty"}, "\x1b_Ga=T,f=100,m=1;"},
		{[]string{"TERM_PROGRAM=WezTerm"}, "\x1b]1337;File=inline=1;"},
		{[]string{"TERM=xterm-kitty", "TMUX=x"}, ""},
		{[]string{"TERM=xterm"}, ""},
	} {
		draw := readEnvironment(tc.env).graphicsOf()
		if draw == nil {
			if tc.starts != "" {
				t.Errorf("%v: no pictures", tc.env)
			}
			continue
		}
		var out strings.Builder
		if err := draw(&out, img); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), tc.starts) {
			t.Errorf("%v: starts with %q", tc.env, out.String()[:40])
		}
		for _, part := range strings.Split(out.String(), "\x1b_G") {
			if strings.HasPrefix(tc.starts, "\x1b_G") && len(part) > kittyChunk+40 {
				t.Errorf("a piece of %d bytes", len(part))
			}
		}
	}
}

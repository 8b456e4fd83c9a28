package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/tui/screen"
)

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x), uint8(y), uint8(x * y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOf(t *testing.T) {
	for _, tc := range []struct {
		vars map[string]string
		want Protocol
	}{
		{map[string]string{"TERM": "xterm-kitty"}, Kitty},
		{map[string]string{"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, Kitty},
		{map[string]string{"TERM_PROGRAM": "ghostty"}, Kitty},
		{map[string]string{"TERM_PROGRAM": "WezTerm"}, ITerm},
		{map[string]string{"TERM_PROGRAM": "iTerm.app"}, ITerm},
		{map[string]string{"TERM": "xterm-kitty", "TMUX": "x"}, None},
		{map[string]string{"TERM": "screen-256color", "TERM_PROGRAM": "WezTerm"}, None},
		{map[string]string{"TERM": "xterm"}, None},
	} {
		if got := Of(tc.vars); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.vars, got, tc.want)
		}
	}
}

func TestRowsOfAPicture(t *testing.T) {
	for _, tc := range []struct{ w, h, width, cols, rows int }{
		{200, 100, 80, 20, 5}, {640, 320, 80, 60, 15}, {20, 800, 80, 1, 16}, {1, 1, 80, 1, 1}, {1000, 10, 80, 60, 1}, {400, 200, 22, 20, 5},
	} {
		for _, p := range []Protocol{Kitty, ITerm} {
			pic, err := Make(pngOf(t, tc.w, tc.h), p, 0x010203, tc.width)
			if err != nil {
				t.Errorf("%+v: %v", tc, err)
				continue
			}
			if pic.Width != tc.cols+2 || len(pic.Lines) != tc.rows {
				t.Errorf("%+v: %d columns and %d rows", tc, pic.Width-2, len(pic.Lines))
			}
			for _, l := range pic.Lines {
				if screen.Width(l) != pic.Width || !screen.Safe(l) {
					t.Errorf("%+v: a line of %d columns: %q", tc, screen.Width(l), l)
				}
			}
			if p == Kitty && (pic.Instead != nil || !strings.Contains(pic.Before, "i=66051,") || !strings.HasPrefix(pic.Lines[0], "  \x1b[38;2;1;2;3m")) {
				t.Errorf("%+v: %q", tc, pic.Before[:60])
			}
			if p == ITerm && (len(pic.Instead) != tc.rows || pic.Before != "") {
				t.Errorf("%+v: %d strips", tc, len(pic.Instead))
			}
			for _, part := range strings.SplitAfter(pic.Before, "\x1b\\") {
				if len(part) > kittyChunk+60 {
					t.Errorf("a piece of %d bytes", len(part))
				}
			}
		}
	}
}

func TestNoPicture(t *testing.T) {
	huge := pngOf(t, 2, 2)
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 by 65536
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("text"), "cut": pngOf(t, 9, 9)[:60], "huge": huge} {
		if _, err := Make(data, Kitty, 1, 80); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Make(pngOf(t, 9, 9), Kitty, 1, 2); err == nil {
		t.Error("no room: no error")
	}
}

// What others write cannot stand for a picture.
func TestPlaceholdersOfOthersAreTakenOut(t *testing.T) {
	if got := screen.Clean("a" + string(screen.PictureCell) + "\u0305b"); strings.ContainsRune(got, screen.PictureCell) {
		t.Errorf("%q", got)
	}
}

func TestWholePictures(t *testing.T) {
	data := pngOf(t, 200, 200)
	for p, starts := range map[Protocol]string{Kitty: "\x1b_Ga=T,f=100,m=1;", ITerm: "\x1b]1337;File=inline=1;"} {
		var out strings.Builder
		if err := Write(&out, p, "image/png", data); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), starts) {
			t.Errorf("starts with %q", out.String()[:40])
		}
		for _, part := range strings.Split(out.String(), "\x1b_G") {
			if p == Kitty && len(part) > kittyChunk+40 {
				t.Errorf("a piece of %d bytes", len(part))
			}
		}
	}
}

package style

import (
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/theme"
)

func TestTokensFallBackByDots(t *testing.T) {
	p := Palette{FG: {FG: theme.RGB(255, 255, 255)}, Heading: {FG: theme.RGB(255, 0, 0), Bold: true}}
	s := New(p, TrueColor, false)
	if got, want := s.SGR("md.heading.1"), "\x1b[1;38;2;255;0;0m"; got != want {
		t.Errorf("heading.1: got %q, want %q", got, want)
	}
	if got, want := s.SGR(Warn), "\x1b[38;2;255;255;255m"; got != want {
		t.Errorf("warn: got %q, want fg's %q", got, want)
	}
}

func TestProfiles(t *testing.T) {
	for _, light := range []bool{false, true} {
		p := Default(light)
		for profile, limit := range map[Profile]string{ANSI256: "38;2;", ANSI16: "38;", Mono: "3"} {
			s := New(p, profile, false)
			for _, tok := range theme.Tokens {
				if sgr := s.SGR(tok); strings.Contains(strings.TrimPrefix(sgr, "\x1b[3m"), limit) {
					t.Errorf("profile %d, %s: %q", profile, tok, sgr)
				}
			}
			if s.SGR(Selection) == "" {
				t.Errorf("profile %d: the selection cannot be seen", profile)
			}
		}
	}
}

func TestProgramOutputIsMapped(t *testing.T) {
	p := Palette{FG: {FG: theme.RGB(255, 255, 255)}, "ansi.1": {FG: theme.RGB(0xaa, 0, 0)}}
	for _, tc := range []struct {
		name    string
		profile Profile
		in      string
		want    string
	}{
		{"theme's red", TrueColor, "\x1b[1;31m", "\x1b[1;38;2;170;0;0m"},
		{"24 bit on 256", ANSI256, "\x1b[38;2;255;0;0m", "\x1b[38;5;196m"},
		{"no colours", Mono, "\x1b[1;31;48;5;20m", "\x1b[1m"},
		{"blinking and hidden are dropped", TrueColor, "\x1b[5;8;4m", "\x1b[4m"},
		{"broken", TrueColor, "\x1b[38m", ""},
		{"nothing", TrueColor, "", ""},
	} {
		if got := New(p, tc.profile, false).Program(tc.in); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

package style

import "testing"

func TestTokensFallBackByDots(t *testing.T) {
	p := Palette{FG: {FG: "#ffffff"}, Heading: {FG: "#ff0000", Bold: true}}
	s := New(p, TrueColor, false)
	if got, want := s.SGR("md.heading.1"), "\x1b[1;38;2;255;0;0m"; got != want {
		t.Errorf("heading.1: got %q, want %q", got, want)
	}
	if got, want := s.SGR(Warn), "\x1b[38;2;255;255;255m"; got != want {
		t.Errorf("warn: got %q, want fg's %q", got, want)
	}
}

func TestProfiles(t *testing.T) {
	p := Palette{FG: {FG: "#d0d0d0"}, Accent: {FG: "#5fafff"}, Warn: {FG: "#ffaf00", ANSI16: "bright-yellow"}}
	for _, tc := range []struct {
		profile Profile
		token   Token
		want    string
	}{
		{ANSI256, Accent, "\x1b[38;5;75m"},
		{ANSI16, Accent, "\x1b[36m"},
		{ANSI16, Warn, "\x1b[93m"},
		{Mono, Accent, "\x1b[1m"},
		{Mono, Selection, "\x1b[7m"},
		{Mono, Muted, ""},
	} {
		if got := New(p, tc.profile, false).SGR(tc.token); got != tc.want {
			t.Errorf("profile %d, %s: got %q, want %q", tc.profile, tc.token, got, tc.want)
		}
	}
}

func TestProgramOutputIsMapped(t *testing.T) {
	p := Palette{FG: {FG: "#fff"}, "ansi.1": {FG: "#aa0000"}}
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

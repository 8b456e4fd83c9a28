package theme_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/theme"
	"github.com/patriceckhart/zot/schemas"
	"github.com/patriceckhart/zot/schemas/schematest"
)

// resolve parses and resolves a text, and returns all problems as lines.
func resolve(t *testing.T, text string) (*theme.Theme, []string) {
	t.Helper()
	f, problems := theme.Parse("x.json", []byte(text))
	if f == nil {
		t.Fatalf("not read: %v", problems)
	}
	th, more := theme.Resolve(f, nil)
	return th, lines(append(problems, more...))
}

func lines(problems []schemas.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

func fg(th *theme.Theme, v theme.Variant, t theme.Token) string {
	return th.Palette(v).Style(t).FG.String()
}

func TestValues(t *testing.T) {
	th, problems := resolve(t, `{
  "$schema": "x", "schema": 1, "name": "harbor-2", "inherits": "harbor",
  "vars": { "teal": "#4fc1b0", "sea": "teal", "n": 33 },
  "dark": {
    "fg": "#abc", "accent": { "fg": "sea", "bold": true, "ansi16": "cyan", "ansi256": 79 }, "muted": "n",
    "error": "bright-red", "warn": 214, "note": "default", "md.heading": "#010203",
    "diff.add": { "fg": "#8fc379", "bg": "#1d2b1f" }, "user.bg": "#222222"
  },
  "light": { "fg": "#24292f" }
}`)
	if len(problems) != 0 {
		t.Errorf("problems: %q", problems)
	}
	for token, want := range map[theme.Token]string{
		"fg": "#aabbcc", "accent": "#4fc1b0", "muted": "33", "error": "bright-red", "warn": "214", "note": "default",
		"md.heading": "#010203", "md.heading.1": "#010203", "md.heading.1.x": "#010203", "nothing.known": "#aabbcc",
	} {
		if got := fg(th, theme.Dark, token); got != want {
			t.Errorf("%s: got %q, want %q", token, got, want)
		}
	}
	if s := th.Dark.Style("user.bg"); s.BG.String() != "#222222" || !s.FG.IsZero() {
		t.Errorf("a colour alone is a ground's ground: %+v", s)
	}
	harbor, _ := theme.Builtin("harbor")
	if got, want := fg(th, theme.Dark, "success"), fg(harbor, theme.Dark, "success"); got != want {
		t.Errorf("success is %s, want the inherited %s", got, want)
	}
	if th.Only != "" || fg(th, theme.Light, "fg") != "#24292f" {
		t.Errorf("light: %+v", th.Light["fg"])
	}
	s := th.Dark.For(theme.ANSI16).Style("accent")
	if s.FG.String() != "cyan" || !s.Bold {
		t.Errorf("accent on 16 colours: %+v", s)
	}
	if s := th.Dark.For(theme.ANSI256).Style("accent"); s.FG.String() != "79" {
		t.Errorf("accent on 256 colours: %+v", s)
	}
}

func TestProblemsNameTokenAndPlace(t *testing.T) {
	th, problems := resolve(t, `{
  "vars": { "a": "b", "b": "a", "red": "#fff" },
  "dark": {
    "fg": "tael",
    "accent": "a",
    "muted": "#12345",
    "error": { "fg": "#fff", "blink": true, "bold": "yes" },
    "warn": 256,
    "sucess": "#0f0",
    "success": { "fg": "#0f0", "ansi16": "#00ff00" }
  },
  "inherits": "nowhere",
  "them": 1,
  "spinner_interval_ms": -1
}`)
	want := []string{
		`2:`, `"red" is the name of a colour`,
		`4:11: dark: `, `fg: "tael" is neither a colour nor a variable`,
		`5:15`, `accent: the variable "a" leads back to itself`,
		`6:14`, `muted: "#12345" is no colour`,
		`error: a style has no "blink"`, `error: bold must be true or false`,
		`8:13`, `warn: 256 is no colour`,
		`9:`, `there is no token "sucess"`, `did you mean "success"`,
		`success: ansi16 is #00ff00`,
		`there is no theme "nowhere" to inherit`, `inherit one of zot, contrast`,
		`no key "them"`, `spinner_interval_ms`,
	}
	all := strings.Join(problems, "\n")
	for _, w := range want {
		w = strings.TrimSuffix(w, "dark: ")
		if !strings.Contains(all, strings.TrimSpace(w)) {
			t.Errorf("%q is not in\n%s", w, all)
		}
	}
	zot, _ := theme.Builtin("zot")
	for _, token := range []theme.Token{"fg", "accent", "muted", "warn"} {
		if got, want := fg(th, theme.Dark, token), fg(zot, theme.Dark, token); got != want {
			t.Errorf("%s is %q after its fault, want the built-in %q", token, got, want)
		}
	}
	if th.Dark.Style("success").FG.String() != "#00ff00" {
		t.Error("what is good beside a fault was lost")
	}
}

func TestInheritingInACircle(t *testing.T) {
	files := map[string]*theme.File{}
	for name, text := range map[string]string{
		"a": `{"name":"a","inherits":"b","dark":{"fg":"#111111"}}`, "b": `{"name":"b","inherits":"A","dark":{"muted":"#222222"}}`,
	} {
		files[name], _ = theme.Parse("", []byte(text))
	}
	th, problems := theme.Resolve(files["a"], func(name string) (*theme.File, bool) { f, ok := files[name]; return f, ok })
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "inherits itself: a from b from a") {
		t.Errorf("problems: %v", problems)
	}
	if fg(th, theme.Dark, "muted") != "#222222" || th.Only != theme.Dark || fg(th, theme.Light, "fg") != "#111111" {
		t.Error("what the circle holds was lost, or the one variant is not used for both")
	}
}

// The keys and forms of earlier theme files.
func TestEarlierFiles(t *testing.T) {
	th, problems := resolve(t, `{
  "name": "nord", "description": "d", "color_descriptions": {"fg": "x"},
  "accent": 111,
  "colors": {
    "error": {"mode": "256", "index": 203}, "muted": "#d08770",
    "dark": { "fg": 253, "background": {"mode":"rgb","r":46,"g":52,"b":64}, "user_bubble_bg": "#42454B", "user_bubble_fg": 248,
      "selection_bg": 24, "selection_fg": 231, "tool_out": {"mode":"ansi","index":90}, "thinkingMax": "#ff00ff", "muted": "nonsense" },
    "light": { "fg": 236 }
  },
  "spinner_frames": ["a","b\u001b[31m"], "spinner_interval_ms": 120, "spinner_messages": ["thinking"],
  "syntax_base_style": "nord", "syntax": { "keyword": "#81a1c1 bold", "literal_string": "bg:#000000 #a3be8c italic", "keyword_type": "#8fbcbb" }
}`)
	if len(problems) != 1 || !strings.Contains(problems[0], `muted: "nonsense"`) {
		t.Errorf("problems: %q", problems)
	}
	d := th.Dark
	for got, want := range map[string]string{
		d["fg"].FG.String(): "253", d["accent"].FG.String(): "111", d["md.link"].FG.String(): "111", d["error"].FG.String(): "203",
		d["background"].BG.String(): "#2e3440", d["user.bg"].BG.String(): "#42454b", d["user.bg"].FG.String(): "248",
		d["selection"].BG.String(): "24", d["selection"].FG.String(): "231", d["tool.out"].FG.String(): "bright-black",
		d["thinking.max"].FG.String(): "#ff00ff", d["muted"].FG.String(): "#d08770", d["syn.comment"].FG.String(): "#d08770",
		d.Style("syn.keyword.constant").FG.String(): "#81a1c1", d.Style("syn.type.keyword").FG.String(): "#8fbcbb",
		fg(th, theme.Light, "fg"): "236", fg(th, theme.Light, "accent"): "111 ",
	} {
		if got != strings.TrimSpace(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if s := d["syn.string"]; !s.Italic || s.BG.String() != "#000000" || !d["syn.keyword"].Bold {
		t.Errorf("syntax: %+v", s)
	}
	want := theme.Spinner{Frames: []string{"a", "b[31m"}, Messages: []string{"thinking"}, Interval: 120 * time.Millisecond}
	if diff := gocmp.Diff(want, th.Spinner); diff != "" || th.SyntaxBase != "nord" || th.Only != "" {
		t.Errorf("spinner: %s base %q only %q", diff, th.SyntaxBase, th.Only)
	}
	one, _ := resolve(t, `{"colors":{"light":{"fg":236}}}`)
	if one.Only != theme.Light || fg(one, theme.Dark, "fg") != "236" {
		t.Errorf("one variant alone: %q, dark fg %s", one.Only, fg(one, theme.Dark, "fg"))
	}
}

func TestFilesThatAreNoThemes(t *testing.T) {
	for name, text := range map[string]string{"broken": `{"dark": }`, "a list": `[]`, "empty": ``, "too long": `{"name":"` + strings.Repeat("x", theme.MaxSize) + `"}`} {
		if f, problems := theme.Parse("", []byte(text)); f != nil || len(problems) == 0 {
			t.Errorf("%s: read as %+v", name, f)
		}
	}
	path := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(path, []byte("{\n  \"dark\": }\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := theme.Load(path)
	var bad *schemas.FileError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "bad.json:2:") {
		t.Errorf("got %v", err)
	}
}

// The schema names every token, and no other but those above several by dots.
func TestSchemaAndTokensAgree(t *testing.T) {
	tokens := map[string]bool{}
	for _, token := range theme.Tokens {
		tokens[string(token)] = true
		if up, _, below := strings.Cut(string(token), "."); below {
			tokens[up] = true
		}
	}
	schematest.Same(t, "theme", "/$defs/variant", slices.Sorted(maps.Keys(tokens)))
	for text, good := range map[string]bool{
		`{"dark": {"md.heading": "red", "md": "#fff", "md.heading.first": 3}}`: true, `{"dark": {"muted": {"fg": "red", "bold": true}}}`: true,
		`{"dark": {"mutde": "red"}}`: false, `{"light": {"muted": {"colour": "red"}}}`: false,
	} {
		if problems := schemas.Validate("theme", []byte(text)); (len(problems) == 0) != good {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

func TestBuiltins(t *testing.T) {
	names := theme.Builtins()
	if len(names) != 5 || names[0] != theme.DefaultName {
		t.Errorf("built-in themes: %v", names)
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("builtin", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if problems := schemas.Validate("theme", data); len(problems) > 0 {
			t.Errorf("%s does not follow the schema: %v", name, problems)
		}
		th, ok := theme.Builtin(name)
		if !ok || th.Description == "" || th.Only != "" {
			t.Fatalf("%s: %+v", name, th)
		}
		for _, f := range theme.Check(th, nil) {
			t.Errorf("%s: %s", name, f)
		}
		for _, v := range []theme.Variant{theme.Dark, theme.Light} {
			for _, token := range theme.Tokens {
				if _, ok := th.Palette(v)[token]; !ok {
					t.Errorf("%s, %s: no style for %s", name, v, token)
				}
			}
		}
	}
}

func TestContrast(t *testing.T) {
	grey, white := theme.RGB(0x76, 0x76, 0x76), theme.RGB(255, 255, 255)
	if got, ok := theme.Contrast(grey, white); !ok || math.Abs(got-4.54) > 0.01 {
		t.Errorf("#767676 on white: %.3f, want 4.54", got)
	}
	th, _ := resolve(t, `{"dark":{"fg":"#888888","muted":"#333333","border":"#222222","accent":"red","diff.add":{"fg":"#ffffff","bg":"#eeeeee"}},"light":{"fg":"#000000"}}`)
	found := theme.Check(th, nil)
	var dark []string
	for _, f := range found {
		if f.Variant == theme.Dark && f.Profile == theme.TrueColor {
			dark = append(dark, string(f.Token))
			if f.Ratio >= f.Need || f.Suggest.IsZero() {
				t.Errorf("finding without reason or remedy: %s", f)
			}
			for _, ground := range theme.Backgrounds[theme.Dark] {
				if ratio, _ := theme.Contrast(f.Suggest, ground); f.Token != "diff.add" && ratio < f.Need {
					t.Errorf("%s: the suggestion has %.2f on %s", f.Token, ratio, ground)
				}
			}
		}
	}
	for _, want := range []string{"fg", "muted", "diff.add"} {
		if !slices.Contains(dark, want) {
			t.Errorf("%s is not found: %v", want, dark)
		}
	}
	if slices.Contains(dark, "accent") || slices.Contains(dark, "success") {
		t.Errorf("found what cannot be measured, or is good: %v", dark)
	}
	if !slices.IsSortedFunc(found, func(a, b theme.Finding) int { return cmp.Compare(a.Ratio/a.Need, b.Ratio/b.Need) }) {
		t.Errorf("the worst does not come first: %v", found)
	}
	zot, _ := theme.Builtin("zot")
	mid := map[theme.Variant][]theme.Colour{theme.Dark: {theme.RGB(0x70, 0x70, 0x70)}}
	if len(theme.Check(zot, mid)) == 0 {
		t.Error("the terminal's own background is not looked at")
	}
}

func TestProfiles(t *testing.T) {
	th, _ := theme.Builtin("ember")
	for _, token := range theme.Tokens {
		if s := th.Dark.For(theme.Mono)[token]; !s.FG.IsZero() || !s.BG.IsZero() {
			t.Errorf("%s has a colour without colours: %+v", token, s)
		}
		if s := th.Light.For(theme.ANSI16)[token]; !s.FG.IsZero() && !slices.Contains(theme.Names, s.FG.String()) {
			t.Errorf("%s on 16 colours: %s", token, s.FG)
		}
		if s := th.Light.For(theme.ANSI256)[token]; strings.HasPrefix(s.FG.String()+s.BG.String(), "#") {
			t.Errorf("%s on 256 colours: %+v", token, s)
		}
	}
	if !th.Dark.For(theme.Mono)["selection"].Reverse || !th.Dark.For(theme.Mono)["accent"].Bold {
		t.Error("without colours a selection is reversed and an accent bold")
	}
}

func TestSourcesAndOpen(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("themes/mine.JSON", `{"dark":{"fg":"#010101"},"inherits":"shipped"}`)
	put("themes/broken.json", `{`)
	put("themes/notes.txt", `x`)
	put("ext/theme.json", `{"name":"shipped","description":"nice","dark":{"muted":"#020202"}}`)
	put("ext/themes/theme.json", `{"light":{"fg":"#030303"}}`)
	bundles := []theme.Bundle{{Extension: "theme-only", Dir: filepath.Join(dir, "ext")}, {Extension: "none", Dir: dir}}
	sources, problems := theme.Sources(filepath.Join(dir, "themes"), bundles)
	var rows []string
	for _, s := range sources[5:] {
		rows = append(rows, fmt.Sprintf("%s|%s|%s", s.Name, s.Extension, s.Description))
	}
	want := []string{"mine||", "shipped|theme-only|from extension theme-only — nice", "theme|theme-only|from extension theme-only"}
	if diff := gocmp.Diff(want, rows); diff != "" || len(problems) != 1 {
		t.Errorf("%s problems: %v", diff, problems)
	}
	th, more, err := theme.Open("Mine", filepath.Join(dir, "themes"), bundles)
	if err != nil || len(more) != 0 || fg(th, theme.Dark, "fg") != "#010101" || fg(th, theme.Dark, "muted") != "#020202" {
		t.Errorf("opening by name: %v %v", err, more)
	}
	if th, _, err := theme.Open(filepath.Join(dir, "ext", "theme.json"), "", nil); err != nil || th.Name != "shipped" {
		t.Errorf("opening by path: %v", err)
	}
	if _, _, err := theme.Open("nope", "", nil); err == nil || !strings.Contains(err.Error(), "zot, contrast, ember, harbor, meadow") {
		t.Errorf("opening what is not there: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":1,"vars":{"a":"#fff"},"dark":{"fg":"a","accent":{"fg":1,"bold":true}},"colors":{"dark":{"muted":{"mode":"rgb","r":1,"g":2,"b":3}}}}`))
	f.Add([]byte(`{"inherits":"harbor","syntax":{"keyword":"bold"},"spinner_frames":["x"],"fg":"red"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := theme.Parse("x", data)
		if file == nil {
			if len(problems) == 0 {
				t.Fatal("refused without a reason")
			}
			return
		}
		th, _ := theme.Resolve(file, nil)
		for _, v := range []theme.Variant{theme.Dark, theme.Light} {
			for _, token := range theme.Tokens {
				if _, ok := th.Palette(v)[token]; !ok {
					t.Fatalf("no style for %s", token)
				}
			}
		}
	})
}

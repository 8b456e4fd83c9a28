package systemprompt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/skill"
	"github.com/patriceckhart/zot/runtime/systemprompt"
	"github.com/patriceckhart/zot/runtime/tool"
)

func clock() time.Time { return time.Date(2026, 3, 4, 23, 59, 0, 0, time.UTC) }

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOrder(t *testing.T) {
	root := t.TempDir()
	home, cwd := filepath.Join(root, "home"), filepath.Join(root, "a", "b")
	put(t, filepath.Join(home, "SYSTEM.md"), "You are HOME.\n")
	put(t, filepath.Join(home, "AGENTS.md"), "HOME RULES")
	put(t, filepath.Join(root, "a", "AGENTS.md"), "\xef\xbb\xbfOUTER RULES\r\n")
	put(t, filepath.Join(cwd, "AGENTS.md"), "INNER RULES @AGENTS.md")
	put(t, filepath.Join(home, "skills", "s", "SKILL.md"), "---\ndescription: SKILLED\n---\n")
	text, report := systemprompt.Build(systemprompt.Options{
		Home: home, Cwd: cwd, Append: []string{"APPENDED 1", "", "APPENDED 2"}, Now: clock,
		Tools:  []tool.Spec{{Name: "read", Description: "Read a file.  And more."}, {Name: "late", Deferred: true}},
		Skills: skill.Discover(skill.Options{Home: home}),
	})
	at := -1
	for _, want := range []string{
		"You are HOME.", "APPENDED 1", "APPENDED 2", "- read: Read a file.\n", "SKILLED",
		"HOME RULES", "OUTER RULES\n", "INNER RULES @AGENTS.md",
		"Current date: 2026-03-04\nCurrent working directory: " + cwd + "\n",
	} {
		i := strings.Index(text, want)
		if i <= at {
			t.Errorf("%q is missing or too early in:\n%s", want, text)
		}
		at = i
	}
	if strings.Contains(text, "late") || strings.Contains(text, "\xef\xbb\xbf") {
		t.Errorf("a deferred tool or a byte order mark is in:\n%s", text)
	}
	if report.Identity != filepath.Join(home, "SYSTEM.md") || len(report.Notices()) != 0 {
		t.Errorf("report: %+v", report)
	}
	if again, _ := systemprompt.Build(systemprompt.Options{Now: clock}); !strings.HasPrefix(again, "You are zot") {
		t.Errorf("the built-in identity: %q", again)
	}
	own := "FLAG"
	if text, report := systemprompt.Build(systemprompt.Options{Home: home, Identity: &own, NoContextFiles: true, Now: clock}); text != "FLAG\n\nCurrent date: 2026-03-04\n" || report.Identity != "flag" {
		t.Errorf("the flag: %q, %+v", text, report)
	}
}

func TestCutsAreAtALineAndAreTold(t *testing.T) {
	cwd := t.TempDir()
	line := strings.Repeat("x", 99) + "\n"
	path := put(t, filepath.Join(cwd, "AGENTS.md"), strings.Repeat(line, 600))
	text, report := systemprompt.Build(systemprompt.Options{Cwd: cwd, Now: clock})
	used := systemprompt.DefaultMaxFile / 100 * 100
	want := fmt.Sprintf("%s was cut: the last %d of its 60000 bytes are not in the system prompt", path, 60000-used)
	if got := report.Notices(); len(got) != 1 || got[0] != want {
		t.Errorf("notices\n got %q\nwant %q", got, want)
	}
	if n := strings.Count(text, line); n != used/100 {
		t.Errorf("%d whole lines in the prompt, want %d", n, used/100)
	}
	if !strings.Contains(text, fmt.Sprintf("[%d more bytes of %s are not shown here", 60000-used, path)) {
		t.Error("the model is not told of the cut")
	}
	if _, report := systemprompt.Build(systemprompt.Options{Cwd: cwd, MaxFile: 60000, Now: clock}); len(report.Notices()) != 0 {
		t.Errorf("with a higher bound: %v", report.Notices())
	}
}

func TestTheTotalIsBounded(t *testing.T) {
	root := t.TempDir()
	cwd := filepath.Join(root, "a", "b")
	for _, dir := range []string{root, filepath.Join(root, "a"), cwd} {
		put(t, filepath.Join(dir, "AGENTS.md"), strings.Repeat("0123456789\n", 50))
	}
	text, report := systemprompt.Build(systemprompt.Options{Cwd: cwd, MaxTotal: 800, Now: clock})
	if n := strings.Count(text, "0123456789\n"); n*11 > 800 {
		t.Errorf("%d bytes of files, want at most 800", n*11)
	}
	notices := strings.Join(report.Notices(), "\n")
	if !strings.Contains(notices, filepath.Join("a", "AGENTS.md")+" was cut") || !strings.Contains(notices, filepath.Join("b", "AGENTS.md")+" was left out") {
		t.Errorf("notices: %s", notices)
	}
}

func TestWhatIsNoTextIsLeftOut(t *testing.T) {
	root := t.TempDir()
	cwd := filepath.Join(root, "a", "b")
	put(t, filepath.Join(cwd, "AGENTS.md"), "\x7fELF\x00\x01")
	if err := os.Mkdir(filepath.Join(root, "a", "AGENTS.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "AGENTS.md"), "one long line without an end")
	_, report := systemprompt.Build(systemprompt.Options{Cwd: cwd, MaxFile: 10, Now: clock})
	notices := strings.Join(report.Notices(), "\n")
	for _, want := range []string{"not a text file", "not a regular file", "first line does not fit"} {
		if !strings.Contains(notices, want) {
			t.Errorf("no notice says %q:\n%s", want, notices)
		}
	}
}

func TestAFileIsTakenOnce(t *testing.T) {
	root := t.TempDir()
	cwd := filepath.Join(root, "a")
	put(t, filepath.Join(root, "AGENTS.md"), "THE RULES")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "AGENTS.md"), filepath.Join(cwd, "AGENTS.md")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	text, _ := systemprompt.Build(systemprompt.Options{Home: root, Cwd: cwd, Now: clock})
	if n := strings.Count(text, "THE RULES"); n != 1 {
		t.Errorf("the file is in the prompt %d times", n)
	}
	// a link to itself is named, and does no harm
	loop := filepath.Join(root, "b")
	if err := os.Mkdir(loop, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("AGENTS.md", filepath.Join(loop, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	_, report := systemprompt.Build(systemprompt.Options{Cwd: loop, Now: clock})
	if got := strings.Join(report.Notices(), "\n"); !strings.Contains(got, filepath.Join(loop, "AGENTS.md")) {
		t.Errorf("notices: %q", got)
	}
}

func TestUntrustedProject(t *testing.T) {
	root := t.TempDir()
	home, cwd := filepath.Join(root, "home"), filepath.Join(root, "p")
	put(t, filepath.Join(home, "AGENTS.md"), "MINE")
	theirs := put(t, filepath.Join(cwd, "AGENTS.md"), "THEIRS")
	for _, tt := range []struct {
		how          systemprompt.Admission
		shown, words bool
		notice       string
	}{
		{systemprompt.Trusted, true, false, ""},
		{systemprompt.Untrusted, true, true, " is shown to the model, though you have not said to trust this project"},
		{systemprompt.KeptOut, false, false, " was left out: its project is not trusted"},
	} {
		var asked []string
		text, report := systemprompt.Build(systemprompt.Options{Home: home, Cwd: cwd, Now: clock, Admit: func(path string) systemprompt.Admission {
			asked = append(asked, path)
			return tt.how
		}})
		if !strings.Contains(text, "MINE") || strings.Contains(text, "THEIRS") != tt.shown || strings.Contains(text, "not said to trust") != tt.words {
			t.Errorf("%v: prompt:\n%s", tt.how, text)
		}
		notices := strings.Join(append(report.Notices(), report.Shown()...), "")
		if tt.notice == "" && notices != "" || !strings.HasPrefix(notices, theirs+tt.notice) && tt.notice != "" || len(asked) != 1 {
			t.Errorf("%v: notices %q, asked for %v", tt.how, notices, asked)
		}
	}
}

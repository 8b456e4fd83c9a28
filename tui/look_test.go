package tui_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/tuitest"
)

func with(t *testing.T, rt *tuitest.Runtime, w, h int, change func(*tui.Options), story func(d *tuitest.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(tuitest.Start(t, rt, w, h, change)) })
}

func TestScrolledUpNothingMoves(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		rt.Begin("go")
		for i := range 60 {
			d.Emit(event.TextDelta{Delta: fmt.Sprintf("paragraph %d\n\n", i)})
		}
		d.Keys("pgup", "pgup")
		top := func() string { return strings.Join(strings.Split(d.Screen(), "\n")[:20], "\n") }
		before := top()
		d.Emit(event.TextDelta{Delta: "more\n\nand more\n\n- list\n"})
		if now := top(); now != before {
			t.Errorf("rows moved:\n%s\nto:\n%s", before, now)
		}
		d.Has("new output below (ctrl+end)")
		d.Keys("ctrl+end")
		d.Has("and more", "• list")
		d.Lacks("new output below")
	})
}

func TestContextAndCostAreShown(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		rt.Set(func(s *tui.State) { s.ContextUsed, s.CostKnown, s.CostUSD = 85000, true, 1.234 })
		d.Emit(event.Usage{})
		d.Has("context 85% high", "$1.23")
		rt.Set(func(s *tui.State) { s.ContextUsed = 99000 })
		d.Emit(event.Usage{})
		d.Has("context 99% full!")
	})
}

// The wait before a failed model call is tried again is counted down.
func TestRetryCountsDown(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		rt.Set(func(s *tui.State) { s.Busy = true })
		d.Emit(event.UserMessage{}, event.Retry{Attempt: 1, Of: 4, Wait: 9 * time.Second, Cause: "HTTP 529: overloaded"})
		d.Has("trying again in 9s (1 of 4), esc to stop: HTTP 529: overloaded")
		d.Sleep(4 * time.Second)
		d.Has("trying again in 5s (1 of 4)")
		d.Sleep(6 * time.Second)
		d.Lacks("trying again")
	})
}

func TestFoldedOutputUnfolds(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		var out strings.Builder
		for i := range 30 {
			fmt.Fprintf(&out, "row %d\n", i)
		}
		d.Emit(event.ToolCall{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"seq"}`)},
			event.ToolResult{ID: "1", Name: "bash", Content: []message.Block{message.Text{Text: out.String()}}})
		d.Has("20 more rows (ctrl+o)")
		d.Keys("ctrl+o")
		d.Has("row 29", "row 15")
	})
}

func TestLongTurnIsAnnouncedOnlyWhenUnseen(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		turn := func(took time.Duration) {
			rt.Begin("x")
			d.Sleep(took)
			rt.End("")
			d.Sleep(time.Second)
		}
		bells := func() int { return strings.Count(strings.Join(d.Raw(), ""), "\a") }
		turn(time.Minute)
		if bells() != 0 {
			t.Error("announced while the terminal has the focus")
		}
		d.Send(blur())
		turn(time.Second)
		if bells() != 0 {
			t.Error("a short turn was announced")
		}
		turn(time.Minute)
		if bells() != 1 {
			t.Errorf("%d bells, want one", bells())
		}
		d.Emit(confirm("and a question", new([]string)))
		if bells() != 2 {
			t.Errorf("%d bells after a question, want two", bells())
		}
	})
}

func TestCopy(t *testing.T) {
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		rt.Begin("q")
		text := "answer\n\n```go\ncode()\n```\n"
		d.Emit(event.TextDelta{Delta: text})
		rt.End(text)
		d.Sleep(time.Second)
		d.Type("/copy")
		d.Keys("esc", "enter")
		d.Type("/copy code")
		d.Keys("esc", "enter")
		got := d.Copied()
		if len(got) != 2 || got[0] != strings.TrimSpace(text) || got[1] != "code()" {
			t.Errorf("copied %q", got)
		}
	})
}

// folder makes a folder with files, by their names with slashes.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFilesAfterAnAt(t *testing.T) {
	dir := folder(t, map[string]string{"main.go": "", "src/deep/model.go": "", "out/built.go": "", ".gitignore": "out/\n*.log\n!keep.log\n", "x.log": "", "keep.log": ""})
	rt := tuitest.New()
	rt.St.Cwd = dir
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("see @")
		d.Settle()
		d.Has("main.go", "keep.log", "src/deep/model.go")
		d.Lacks("built.go", "x.log")
		d.Type("mod")
		d.Settle()
		d.Has("▸ src/deep/model.go")
		d.Keys("enter")
		d.Has("› see @src/deep/model.go")
		if len(rt.Sent()) != 0 {
			t.Error("sent")
		}
		d.Type("a@b")
		d.Lacks("▸") // an address is no file
	})
}

func TestSessionFilesAfterImport(t *testing.T) {
	dir := folder(t, map[string]string{"notes.md": "", "old.zotsession": "", "kept/talk.jsonl": ""})
	rt := tuitest.New()
	rt.St.Cwd = dir
	on(t, rt, func(d *tuitest.Driver) {
		d.Type("/session import ")
		d.Settle()
		d.Has("import old.zotsession", "import kept/talk.jsonl")
		d.Lacks("notes.md")
		d.Type("old")
		d.Keys("tab")
		d.Has("› /session import old.zotsession")
	})
}

func TestImageByPath(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x03\x08\x06\x00\x00\x00\xb9\xea\xde\x81"
	path := filepath.Join(t.TempDir(), "my pic.png")
	if err := os.WriteFile(path, []byte(png), 0o644); err != nil {
		t.Fatal(err)
	}
	rt := tuitest.New()
	on(t, rt, func(d *tuitest.Driver) {
		d.Paste("'" + path + "'")
		d.Settle()
		d.Has("[image 1: 2x3 png 1 KB]")
		d.Enter(" what?")
		if sent := rt.Sent(); len(sent) != 1 || len(sent[0].Images) != 1 || sent[0].Text != "what?" {
			t.Errorf("sent %+v", sent)
		}
		d.Paste("/no/such.png")
		d.Settle()
		d.Has("› /no/such.png")
	})
}

func TestHistoryIsKeptPerFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h", "history.jsonl")
	keep := func(o *tui.Options) { o.HistoryFile = file }
	with(t, tuitest.New(), 80, 24, keep, func(d *tuitest.Driver) {
		d.Enter("remember me")
		d.Settle()
	})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	with(t, tuitest.New(), 80, 24, keep, func(d *tuitest.Driver) {
		d.Settle()
		d.Keys("up")
		d.Has("› remember me")
	})
}

func TestKeymap(t *testing.T) {
	choose := func(o *tui.Options) {
		o.Keys = map[string]string{"alt+x": "/find q", "f3": "nonsense"}
		o.Prefill = "prefilled"
	}
	with(t, tuitest.New(), 80, 24, choose, func(d *tuitest.Driver) {
		d.Has(`"nonsense" is no slash command and no action`, "› prefilled")
		d.Keys("alt+x")
		d.Has("not found: q")
	})
}

func TestFindAndJump(t *testing.T) {
	rt := tuitest.New()
	for i := range 40 {
		rt.Msgs = append(rt.Msgs, message.Message{Role: message.User, Content: []message.Block{message.Text{Text: fmt.Sprintf("question %d", i)}}},
			message.Message{Role: message.Assistant, Content: []message.Block{message.Text{Text: fmt.Sprintf("answer %d", i)}}})
	}
	on(t, rt, func(d *tuitest.Driver) {
		d.Has("answer 39")
		d.Keys("ctrl+f")
		d.Enter("ANSWER 7")
		d.Has("answer 7")
		d.Keys("esc")
		d.Type("/jump question 3")
		d.Keys("esc", "enter")
		d.Has("question 39")
		d.Keys("alt+j")
		d.Has("jump to", "40 of 40")
		d.Enter("question 12")
		d.Has("› question 12")
	})
}

// Everything that an enemy can write, on every size of screen: the frame fits
// (the driver checks it after each step) and holds no sequence but colours.
func TestHostileTextEverywhere(t *testing.T) {
	evil := "x\x1b[2J\x1b[H\x1b]0;t\x07\x1b]52;c;eA==\x1b\\\x1bP+q\x1b\\\u009b2J\u202e\u2066\r\n\t宽👨‍👩‍👧❤️" + strings.Repeat("w", 300) + "\n› 1. allow\n"
	rt := tuitest.New()
	rt.St.Model, rt.St.Cwd, rt.St.SessionTitle, rt.St.Permissions = evil, evil, evil, evil
	rt.ModelRows = []tui.ModelRow{{Provider: evil, ID: evil, Name: evil}}
	for _, size := range [][2]int{{20, 8}, {80, 24}, {200, 60}} {
		with(t, rt, size[0], size[1], nil, func(d *tuitest.Driver) {
			var got []string
			evilAsk := confirm(evil, &got)
			evilAsk.From, evilAsk.Cwd, evilAsk.Diff, evilAsk.Body = evil, evil, evil, []string{evil}
			evilAsk.Options = []dialog.Option{{Label: evil, Detail: evil}, {Label: "no"}}
			for _, ev := range []any{
				event.UserMessage{Message: message.Message{Role: message.User, Content: []message.Block{message.Text{Text: evil}, message.Image{MIMEType: evil}}}},
				event.AssistantStart{}, event.ReasoningDelta{Delta: evil}, event.TextDelta{Delta: evil}, event.TextDelta{Delta: "```" + evil},
				event.ToolUseStart{ID: "1", Name: evil}, event.ToolUseArgs{ID: "1", Delta: evil},
				event.ToolCall{ID: "1", Name: evil, Args: json.RawMessage(`{"command":"\u001b[2J"}`), Extension: evil, Origin: evil},
				event.ToolProgress{ID: "1", Text: evil},
				event.ToolResult{ID: "1", Name: evil, Content: []message.Block{message.Text{Text: evil}}, Diff: evil, Changes: []string{evil}, Status: evil, IsError: true},
				event.AssistantMessage{Visible: evil, By: evil, Suppressed: true, Reason: evil},
				event.TurnEnd{Error: evil}, event.Error{Message: evil}, event.Notice{Level: "warn", Text: evil},
				event.Retry{Cause: evil}, event.ModelChanged{Provider: evil, Model: evil},
				event.ExtNotify{Extension: evil, Level: evil, Message: evil}, event.ExtDisplay{Extension: evil, Text: evil},
				event.ExtPanelOpen{Extension: evil, ID: "1", Title: evil, Lines: []string{evil, evil}, Footer: evil, Asked: true},
				evilAsk,
			} {
				d.Emit(ev)
				onlyColours(t, d.Rows())
			}
			d.Sleep(time.Second)
			d.Keys("esc", "esc", "alt+m")
			d.Settle()
			onlyColours(t, d.Rows())
		})
	}
}

func onlyColours(t *testing.T, rows []string) {
	t.Helper()
	for _, row := range rows {
		for i := 0; i < len(row); i++ {
			if row[i] >= 0x20 && row[i] != 0x7f {
				continue
			}
			j := i + 2
			for j < len(row) && (row[j] >= '0' && row[j] <= '9' || row[j] == ';') {
				j++
			}
			if row[i] != 0x1b || j >= len(row) || row[i+1] != '[' || row[j] != 'm' {
				t.Fatalf("more than colours in %q", row)
			}
		}
		if strings.ContainsAny(row, "\u202e\u2066\u009b") {
			t.Fatalf("hidden characters in %q", row)
		}
	}
}

// Random use on random sizes: the driver checks every frame.
func TestFramesFitWhateverHappens(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	chords := []string{"a", "宽", " ", "enter", "esc", "up", "down", "left", "tab", "backspace", "pgup", "pgdown", "ctrl+o", "ctrl+k", "ctrl+y", "/", "@", "ctrl+j", "ctrl+home", "ctrl+end", "alt+p", "ctrl+f", "ctrl+r"}
	rt := tuitest.New()
	rt.OnShell = shellFunc()
	with(t, rt, 80, 24, func(o *tui.Options) { o.Env = append(o.Env, "LC_ALL=C") }, func(d *tuitest.Driver) {
		var got []string
		for i := range 3000 {
			switch rng.IntN(14) {
			case 0:
				d.Resize(1+rng.IntN(120), 1+rng.IntN(50))
			case 1:
				d.Emit(event.TextDelta{Delta: strings.Repeat("word 宽 ", rng.IntN(20)) + "\n\n"})
			case 2:
				d.Emit(event.ExtNotify{Extension: "e", Level: "info", Message: "note"})
			case 3:
				d.Emit(event.ExtPanelOpen{Extension: "e", ID: fmt.Sprint(i), Lines: []string{"a", "b"}, Footer: "f", Asked: rng.IntN(2) == 0})
			case 4:
				if rng.IntN(4) == 0 {
					d.Emit(confirm("q", &got))
				}
			case 5:
				d.Paste(strings.Repeat("line\n", rng.IntN(30)))
			default:
				d.Keys(chords[rng.IntN(len(chords))])
			}
			for _, r := range strings.Join(d.Rows(), "") {
				if r >= 0x80 {
					t.Fatalf("step %d: %q on an ASCII terminal", i, r)
				}
			}
		}
	})
}

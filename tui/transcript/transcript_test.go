package transcript

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

var mono = style.New(style.Default(false), style.Mono, false)

func shown(t *Transcript, height int) string {
	rows := t.View(height)
	for i, r := range rows {
		rows[i] = strings.TrimRight(screen.Clean(r), " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

func has(t *testing.T, screen, want string) {
	t.Helper()
	if !strings.Contains(screen, want) {
		t.Errorf("screen lacks %q:\n%s", want, screen)
	}
}

func lacks(t *testing.T, screen, unwanted string) {
	t.Helper()
	if strings.Contains(screen, unwanted) {
		t.Errorf("screen still has %q:\n%s", unwanted, screen)
	}
}

func TestConversation(t *testing.T) {
	tr := New(mono)
	tr.SetOptions(Options{ShowThinking: true})
	tr.SetWidth(40)
	tr.User("hello\nthere")
	tr.AnswerStart()
	tr.Thought("hm, let me see")
	tr.Text("# Hi\n\nfine **tha")
	has(t, shown(tr, 20), "fine **tha")
	tr.Text("nks**\n")
	tr.AnswerEnd("# Hi\n\nfine **thanks**\n", false, "", "")
	got := shown(tr, 20)
	want := "› hello\n  there\n\nthought: hm, let me see\n\nHi\n\nfine thanks"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if tr.LastAnswer() != "# Hi\n\nfine **thanks**" {
		t.Errorf("LastAnswer = %q", tr.LastAnswer())
	}
}

func TestScrolledRowsDoNotMoveWhileTextStreams(t *testing.T) {
	tr := New(mono)
	tr.SetWidth(30)
	for i := range 30 {
		tr.User(fmt.Sprintf("question %d", i))
	}
	tr.AnswerStart()
	for i := range 40 {
		tr.Text(fmt.Sprintf("para %d is here\n\n", i))
	}
	for _, up := range []int{5, 30, 70} {
		tr.Bottom()
		tr.View(10)
		tr.Scroll(-up)
		before := shown(tr, 10)
		if tr.Following() {
			t.Fatalf("still following after going up %d", up)
		}
		for i := range 30 {
			tr.Text(fmt.Sprintf("more %d ", i))
			if i%3 == 0 {
				tr.Text("\n\n- item\n- item\n\n")
			}
			if now := shown(tr, 10); now != before {
				t.Fatalf("up %d, piece %d: rows moved from\n%s\nto\n%s", up, i, before, now)
			}
		}
		if !tr.NewBelow() {
			t.Error("nothing says that there is new output below")
		}
	}
	tr.AnswerEnd(tr.current().src.String(), false, "", "")
	tr.Scroll(10000)
	if !tr.Following() || tr.NewBelow() {
		t.Error("the end is reached and not followed")
	}
}

func TestScrollingUpAndDownShowsTheSameRows(t *testing.T) {
	tr := New(mono)
	tr.SetWidth(30)
	for i := range 50 {
		tr.User(fmt.Sprintf("q%d", i))
		tr.Say("", fmt.Sprintf("note %d\nsecond", i))
	}
	tr.View(8)
	var seen []string
	for !strings.HasPrefix(shown(tr, 8), "› q0\n") {
		seen = append(seen, shown(tr, 8))
		tr.Scroll(-1)
	}
	for i := len(seen) - 1; i >= 0; i-- {
		tr.Scroll(1)
		if got := shown(tr, 8); got != seen[i] {
			t.Fatalf("step %d:\n%s\nwant:\n%s", i, got, seen[i])
		}
	}
}

func TestCallsAndOutput(t *testing.T) {
	tr := New(mono)
	tr.SetOptions(Options{FlatTools: true})
	tr.SetWidth(60)
	tr.CallStart("1", "bash")
	tr.CallArgs("1", `{"comm`)
	tr.Call(event.ToolCall{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"make \u001b[2J","timeout":5}`)})
	has(t, shown(tr, 20), "▸ bash make ^[[2J timeout=5")
	tr.Progress("1", "10%\r20%\r30%")
	has(t, shown(tr, 20), "\n  30%")
	lacks(t, shown(tr, 20), "20%")
	var out strings.Builder
	for i := range 100 {
		fmt.Fprintf(&out, "line %d\n", i)
	}
	tr.Result(event.ToolResult{ID: "1", Name: "bash", Content: []message.Block{message.Text{Text: out.String()}}, Executed: true, Status: "completed", Duration: 1500 * time.Millisecond})
	got := shown(tr, 30)
	has(t, got, "✓ bash")
	lacks(t, got, "completed")
	has(t, got, "1.5s")
	has(t, got, "line 3\n  … 90 more rows (ctrl+o)\n  line 94")
	tr.ToggleFold()
	has(t, shown(tr, 120), "line 50")

	tr.Call(event.ToolCall{ID: "2", Name: "edit", Extension: "todo", Args: json.RawMessage(`{"path":"a.go"}`)})
	tr.Result(event.ToolResult{ID: "2", Name: "edit", Diff: "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n", Changes: []string{"guard rewrote the arguments"}})
	got = shown(tr, 20)
	has(t, got, "✓ edit [todo] a.go")
	has(t, got, "guard rewrote the arguments")
	has(t, got, "2 - old")
	has(t, got, "2 + new")

	tr.Call(event.ToolCall{ID: "3", Name: "bash", Args: json.RawMessage(`{"command":"rm"}`)})
	tr.Result(event.ToolResult{ID: "3", Name: "bash", IsError: true, Status: "timed_out", Content: []message.Block{message.Text{Text: "no"}}})
	has(t, shown(tr, 20), "✗ bash rm (timed out)")
}

func TestOptions(t *testing.T) {
	build := func(o Options) string {
		tr := New(mono)
		tr.SetOptions(o)
		tr.SetWidth(40)
		tr.UserMessage(message.Message{Role: message.User, Time: time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local), Content: []message.Block{message.Text{Text: "q"}}})
		tr.AnswerStart()
		tr.Thought("secret thought")
		tr.Text("one\n\ntwo\n")
		tr.AnswerEnd("one\n\ntwo\n", false, "", "")
		tr.Call(event.ToolCall{ID: "1", Name: "bash"})
		tr.Result(event.ToolResult{ID: "1", Name: "bash", Content: []message.Block{message.Text{Text: "out"}}})
		return shown(tr, 20)
	}
	for _, tc := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "› q\n\none\n\ntwo\n\n✓ bash\n│ out"},
		{Options{Compact: true, FlatTools: true}, "› q\none\n\ntwo\n✓ bash\n  out"},
		{Options{ShowThinking: true, Timestamps: true}, "15:04\n› q\n\nthought: secret thought\n\none\n\ntwo\n\n✓ bash\n│ out"},
		{Options{Unfolded: true}, "› q\n\nthought\n  secret thought\n\none\n\ntwo\n\n✓ bash\n│ out"},
	} {
		if got := build(tc.opt); got != tc.want {
			t.Errorf("%+v:\n%s\nwant:\n%s", tc.opt, got, tc.want)
		}
	}
}

func TestLongTextsAreShortened(t *testing.T) {
	tr := New(mono)
	tr.SetWidth(60)
	tr.User(strings.Repeat("line\n", 1_000_000))
	start := time.Now()
	has(t, shown(tr, 30), "more rows (ctrl+o)")
	if took := time.Since(start); took > time.Second {
		t.Errorf("drawing a prompt of 5 MB took %v", took)
	}
	if n := len(tr.rowsOf(tr.cells[0])); n > foldedUser+2 {
		t.Errorf("%d rows", n)
	}
	tr.User(strings.Repeat("short\n", foldedUser+3))
	lacks(t, shown(tr, 24), "more rows")
	tr.Call(event.ToolCall{ID: "1", Name: "bash"})
	tr.Result(event.ToolResult{ID: "1", Name: "bash", Content: []message.Block{message.Text{Text: "first\n" + strings.Repeat("x", 1<<20) + "\nlast"}}})
	got := shown(tr, 30)
	has(t, got, "first")
	has(t, got, "last")
	tr.ToggleFold()
	if n := len(tr.rowsOf(tr.cells[2])); n > maxShown/50 {
		t.Errorf("%d rows", n)
	}
}

func TestNotesBelongToTheirExtension(t *testing.T) {
	tr := New(mono)
	tr.Note("a", "info", "one")
	tr.Note("b", "error", "[a] two")
	tr.Display("a", "shown\nonce")
	has(t, shown(tr, 20), "[b] error: [a] two")
	tr.ClearNotes("a")
	got := shown(tr, 20)
	lacks(t, got, "one")
	lacks(t, got, "shown")
	has(t, got, "two")
	for i := range 300 {
		tr.Note("b", "info", fmt.Sprint(i))
	}
	if n := len(tr.cells); n != maxNotes {
		t.Errorf("%d notes kept, want %d", n, maxNotes)
	}
	if !tr.ClearAllNotes() || !tr.Empty() {
		t.Error("notes left")
	}
}

func TestWithheldAnswerLeavesNothingBehind(t *testing.T) {
	tr := New(mono)
	tr.AnswerStart()
	tr.Text("secret plan\n\nmore secret")
	tr.AnswerEnd("", true, "not for you", "guard")
	got := shown(tr, 20)
	lacks(t, got, "secret")
	has(t, got, "answer withheld by guard: not for you")
	if tr.LastAnswer() != "" {
		t.Errorf("LastAnswer = %q", tr.LastAnswer())
	}
	tr.AnswerStart()
	tr.Text("streamed")
	tr.AnswerEnd("changed", false, "", "guard")
	got = shown(tr, 20)
	lacks(t, got, "streamed")
	has(t, got, "changed")
}

func TestLateEndOfAnAnswerDoesNotRepeatIt(t *testing.T) {
	tr := New(mono)
	tr.AnswerStart()
	tr.Text("only once\n")
	tr.Mark("", "interrupted")
	tr.AnswerEnd("only once\n", false, "", "")
	if n := strings.Count(shown(tr, 20), "only once"); n != 1 {
		t.Errorf("shown %d times:\n%s", n, shown(tr, 20))
	}
	tr.AnswerEnd("on its own", false, "", "")
	has(t, shown(tr, 20), "on its own")
}

func TestHostileTextStaysInItsRows(t *testing.T) {
	evil := "a\x1b[2J\x1b]52;c;AAAA\x07\x1b[10A\u202eb"
	tr := New(mono)
	tr.User(evil)
	tr.AnswerStart()
	tr.Thought(evil)
	tr.Text(evil)
	tr.Call(event.ToolCall{ID: "1", Name: evil, Extension: evil, Args: json.RawMessage(`{"path":"x\u001b[2J"}`)})
	tr.Result(event.ToolResult{ID: "1", Name: evil, Content: []message.Block{message.Text{Text: evil}}, Diff: evil, Changes: []string{evil}})
	tr.Note(evil, "info", evil)
	tr.Display(evil, evil)
	for _, row := range tr.View(40) {
		for rest := row; ; {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != '[' })
			if rest[0] != '[' || end < 0 || rest[end] != 'm' {
				t.Fatalf("row %q holds more than colours", row)
			}
		}
		if strings.ContainsAny(row, "\u202e\a") {
			t.Fatalf("row %q holds control characters", row)
		}
	}
}

func TestFindJumpAndLoad(t *testing.T) {
	var msgs []message.Message
	for i := range 30 {
		msgs = append(msgs,
			message.Message{Role: message.User, Content: []message.Block{message.Text{Text: fmt.Sprintf("question %d", i)}}},
			message.Message{Role: message.Assistant, Content: []message.Block{message.Text{Text: fmt.Sprintf("answer %d\n\n```go\ncode %d\n```", i, i)},
				message.ToolCall{ID: fmt.Sprint(i), Name: "bash", Args: json.RawMessage(`{"command":"ls"}`)}}},
			message.Message{Role: message.Tool, Content: []message.Block{message.ToolResult{CallID: fmt.Sprint(i), Content: []message.Block{message.Text{Text: "out"}}}}})
	}
	tr := New(mono)
	tr.Load(msgs)
	has(t, shown(tr, 20), "answer 29")
	has(t, shown(tr, 20), "✓ bash ls\n│ out")
	if tr.LastCode() != "code 29" {
		t.Errorf("LastCode = %q", tr.LastCode())
	}
	if !tr.Find("ANSWER 7", false) {
		t.Fatal("not found")
	}
	has(t, shown(tr, 5), "answer 7")
	turns := tr.Turns()
	if len(turns) != 30 || turns[3].Text != "question 3" {
		t.Fatalf("turns: %v", turns)
	}
	tr.Jump(turns[3].Index)
	has(t, shown(tr, 5), "question 3")
	has(t, tr.PlainText(), "> question 12\n\nanswer 12")
}

// Whatever happens, a view has its height, and no row is too wide.
func TestViewsFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, profile := range []style.Profile{style.Mono, style.TrueColor} {
		tr := New(style.New(style.Default(false), profile, false))
		for step := range 1500 {
			text := strings.Repeat([]string{"宽 ", "word ", "\n", "- x\n", "```\n", "| a | b |\n|-|-|\n", "❤️"}[rng.IntN(7)], 1+rng.IntN(6))
			id := fmt.Sprint(rng.IntN(3))
			switch rng.IntN(13) {
			case 0:
				tr.User(text)
			case 1:
				tr.AnswerStart()
			case 2, 3, 4:
				tr.Text(text)
			case 5:
				tr.Thought(text)
			case 6:
				tr.Call(event.ToolCall{ID: id, Name: "bash", Args: json.RawMessage(`{"command":"x"}`)})
			case 7:
				tr.Progress(id, text)
			case 8:
				tr.Result(event.ToolResult{ID: id, Content: []message.Block{message.Text{Text: text}}, Diff: text})
			case 9:
				tr.Note("e", "warn", text)
			case 10:
				tr.Scroll(rng.IntN(40) - 20)
			case 11:
				tr.ClearNotes("e")
			case 12:
				tr.SetWidth(4 + rng.IntN(60))
				if rng.IntN(3) == 0 {
					tr.ToggleFold()
				}
			}
			h := rng.IntN(30)
			rows := tr.View(h)
			if len(rows) != h {
				t.Fatalf("step %d: %d rows, want %d", step, len(rows), h)
			}
			for _, r := range rows {
				if screen.Width(r) > tr.width || strings.Contains(r, "\n") {
					t.Fatalf("step %d: row %q at width %d", step, r, tr.width)
				}
			}
			for i, c := range tr.cells {
				if c.index != i {
					t.Fatalf("step %d: cell %d thinks it is %d", step, i, c.index)
				}
			}
		}
	}
}

func filled(lines int) *Transcript {
	tr := New(style.New(style.Default(false), style.TrueColor, false))
	tr.SetWidth(100)
	tr.AnswerStart()
	for i := range lines / 2 {
		tr.Text(fmt.Sprintf("paragraph %d with some **words** in it\n\n", i))
	}
	return tr
}

func benchmarkFrame(b *testing.B, lines int) {
	tr := filled(lines)
	tr.View(40)
	b.ReportAllocs()
	for b.Loop() {
		tr.Text("word ")
		tr.View(40)
		if len(tr.current().stream.Tail()) > 300 {
			tr.Text("\n\n")
		}
	}
}

func BenchmarkFrame200Lines(b *testing.B)   { benchmarkFrame(b, 200) }
func BenchmarkFrame20000Lines(b *testing.B) { benchmarkFrame(b, 20000) }

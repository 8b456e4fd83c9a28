//go:build unix

package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/markdown"
	"github.com/patriceckhart/zot/tui/style"
)

// document is an answer of so many lines as models write them, some 40 bytes a
// line.
func document(lines int) string {
	var b strings.Builder
	for i, n := 0, 0; n < lines; i++ {
		part := fmt.Sprintf("## Section %d\n\nSome text with **bold**, `code` and a [link](https://example.com/%d) that is long enough to be\n"+
			"wrapped at the edge of the screen, as most are, and goes on for another line after that one.\n\n"+
			"- first item of section %d, which says what is to be done about it\n- second item, shorter\n  - nested item under the second\n\n", i, i, i)
		if i%2 == 0 {
			part += "```go\n// add sums two numbers and returns what comes out of it.\nfunc add(a, b int) int {\n\tsum := a + b // never overflows here\n\treturn sum\n}\n```\n\n"
		} else {
			part += "| name of the thing | value |\n|-------------------|------:|\n| first row of it | 1 |\n| second row of it | 2 |\n\n"
		}
		n += strings.Count(part, "\n")
		b.WriteString(part)
	}
	return b.String()
}

// pieces cuts text as a stream of tokens would be.
func pieces(text string) []string {
	var out []string
	for len(text) > 0 {
		n := min(14, len(text))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

type silent struct{}

func (silent) State() State                                                      { return State{Model: "m", Ready: true, Busy: true} }
func (silent) Transcript() []message.Message                                     { return nil }
func (silent) Submit(Prompt)                                                     {}
func (silent) Queue() []string                                                   { return nil }
func (silent) TakeBackQueue() []string                                           { return nil }
func (silent) Cancel()                                                           {}
func (silent) Commands() []command.Command                                       { return nil }
func (silent) PanelKey(string, string, string, string)                           {}
func (silent) PanelClosed(string, string)                                        {}
func (silent) PanelResize(string, string, int, int)                              {}
func (silent) RunCommand(context.Context, string, string) (o Outcome, err error) { return }

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // our own process cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// decodeAndRenderOnce is the least that showing the answer can cost: every
// piece is decoded and every block is drawn, once.
func decodeAndRenderOnce(wire [][]byte) {
	var s markdown.Stream
	sheet := style.New(style.Default(false), style.TrueColor, false)
	for _, w := range wire {
		var d struct{ Delta string }
		if json.Unmarshal(w, &d) != nil {
			panic("the benchmark's own JSON")
		}
		for _, p := range s.Append(d.Delta) {
			markdown.Render(p, markdown.Options{Width: 120, Sheet: sheet})
		}
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

func TestCostOfStreaming(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	doc := document(5000)
	var wire [][]byte
	for _, p := range pieces(doc) {
		w, _ := json.Marshal(struct{ Delta string }{p})
		wire = append(wire, w)
	}
	decodeAndRenderOnce(wire) // fills the caches of both
	runtime.GC()
	start := cpu()
	decodeAndRenderOnce(wire)
	least := cpu() - start
	var took time.Duration
	out := &counter{}
	synctest.Test(t, func(t *testing.T) {
		in, keyboard := io.Pipe()
		events := make(chan event.Event, 256)
		m := New(t.Context(), Options{Runtime: silent{}, Events: events, Env: []string{"TERM=xterm-256color", "COLORFGBG=15;0"}, ReduceMotion: true})
		p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(120, 40), tea.WithFPS(30),
			tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignalHandler(), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		done := make(chan error)
		go func() { _, err := p.Run(); done <- err }()
		defer m.Connect(t.Context(), p.Send)()
		time.Sleep(time.Second)
		runtime.GC()
		start = cpu()
		for _, w := range wire {
			var d struct{ Delta string }
			_ = json.Unmarshal(w, &d)
			events <- event.TextDelta{Delta: d.Delta}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Second)
		p.Quit()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = keyboard.Close() // a pipe in memory
		took = cpu() - start
		time.Sleep(time.Hour) // timers that nobody waits for any more run out
	})
	if written := float64(out.n) / float64(len(doc)); written > 3 {
		t.Errorf("%.2f times the text was written to the terminal, want at most 3", written)
	}
	t.Logf("text %d KB in %d pieces; least %v, shown %v (%.2f times), written %.2f times the text",
		len(doc)>>10, len(wire), least, took, float64(took)/float64(least), float64(out.n)/float64(len(doc)))
}

// BenchmarkStream compares what the interface does for a stream with the least
// that showing it can cost; "x-least" is the ratio. What the terminal program
// then does with a frame is measured by TestCostOfStreaming.
func BenchmarkStream(b *testing.B) {
	doc := document(5000)
	var wire [][]byte
	for _, p := range pieces(doc) {
		w, _ := json.Marshal(struct{ Delta string }{p})
		wire = append(wire, w)
	}
	decodeAndRenderOnce(wire)
	var least, shown time.Duration
	for b.Loop() {
		start := cpu()
		decodeAndRenderOnce(wire)
		least += cpu() - start
		m := New(context.Background(), Options{Runtime: silent{}, Env: []string{"TERM=xterm-256color", "COLORFGBG=15;0"}, ReduceMotion: true})
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		start = cpu()
		var mg merger
		for i, w := range wire {
			var d struct{ Delta string }
			if json.Unmarshal(w, &d) != nil {
				b.Fatal("the benchmark's own JSON")
			}
			mg.add(event.TextDelta{Delta: d.Delta}, time.Time{})
			if i%10 == 9 { // 200 a second, 20 batches
				m.Update(batchMsg{mg.events})
				mg.taken()
			}
		}
		shown += cpu() - start
	}
	b.ReportMetric(float64(shown)/float64(least), "x-least")
}

// BenchmarkKeyAtLength is the cost of a typed letter, drawn, below a
// conversation of 20,000 lines; "x-short" compares it with 200 lines.
func BenchmarkKeyAtLength(b *testing.B) {
	key := tea.KeyPressMsg{Code: 'x', Text: "x"}
	open := func(lines int) *Model {
		m := New(context.Background(), Options{Runtime: silent{}, Env: []string{"TERM=xterm-256color", "COLORFGBG=15;0"}, ReduceMotion: true})
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		for _, part := range strings.SplitAfter(document(lines), "\n\n") {
			m.Update(batchMsg{[]event.Event{event.TextDelta{Delta: part}}})
		}
		return m
	}
	short, long := open(200), open(20000)
	press := func(m *Model) time.Duration {
		start := time.Now()
		for range 200 {
			m.Update(key)
			m.composer.Clear()
		}
		return time.Since(start)
	}
	var s, l time.Duration
	for b.Loop() {
		s += press(short)
		l += press(long)
	}
	b.ReportMetric(float64(l)/float64(s), "x-short")
	b.ReportMetric(float64(l.Microseconds())/float64(b.N)/200, "µs/key")
}

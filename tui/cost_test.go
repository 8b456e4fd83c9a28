//go:build unix

package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
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
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/openai"
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

// paced is a server's answer that arrives event by event, as from a model that
// writes 200 pieces a second.
type paced struct{ events []string }

const pieceEvery = 5 * time.Millisecond

func (p *paced) Read(buf []byte) (int, error) {
	if len(p.events) == 0 {
		return 0, io.EOF
	}
	time.Sleep(pieceEvery)
	n := copy(buf, p.events[0])
	if p.events[0] = p.events[0][n:]; p.events[0] == "" {
		p.events = p.events[1:]
	}
	return n, nil
}

func (*paced) Close() error { return nil }

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// eventsOf is text as the event stream of a server.
func eventsOf(text string) []string {
	var out []string
	for _, p := range pieces(text) {
		content, _ := json.Marshal(p) // a string
		out = append(out, fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, content)+"\n\n")
	}
	return append(out, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n", "data: [DONE]\n\n")
}

// readStream reads a stream as zot does, and hands on its pieces.
func readStream(t testing.TB, events []string, piece func(string)) {
	client := openai.New(openai.Options{Provider: "test", BaseURL: "http://stream.test/v1", HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &paced{slices.Clone(events)}}, nil
	})}})
	request := model.Request{Model: "m", Messages: []message.Message{{Role: message.User, Content: []message.Block{message.Text{Text: "go"}}}}}
	if _, err := client.Generate(t.Context(), request, func(c model.Chunk) { piece(c.Text) }); err != nil {
		t.Fatal(err)
	}
}

// renderer draws every block of a stream once, which is the least that showing
// it can cost.
func renderer() func(string) {
	var s markdown.Stream
	sheet := style.New(style.Default(false), style.TrueColor, false)
	return func(piece string) {
		for _, p := range s.Append(piece) {
			markdown.Render(p, markdown.Options{Width: 120, Sheet: sheet})
		}
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// cpuOf is the processor time that f takes.
func cpuOf(f func()) time.Duration {
	runtime.GC()
	start := cpu()
	f()
	return cpu() - start
}

// stream shows the events on a screen of 120 by 40, and returns what that took
// and how much was written to the terminal.
func stream(t *testing.T, events []string) (took time.Duration, written int) {
	in, keyboard := io.Pipe()
	feed := make(chan event.Event, 256)
	out := &counter{}
	m := New(t.Context(), Options{Runtime: silent{}, Events: feed, Output: out, Env: []string{"TERM=xterm-256color", "COLORFGBG=15;0"}, ReduceMotion: true})
	p := m.program(t.Context(), in, tea.WithWindowSize(120, 40), tea.WithColorProfile(colorprofile.TrueColor))
	done := make(chan error)
	go func() { _, err := p.Run(); done <- err }()
	defer m.Connect(t.Context(), p.Send)()
	time.Sleep(time.Second)
	took = cpuOf(func() {
		readStream(t, events, func(piece string) { feed <- event.TextDelta{Delta: piece} })
		time.Sleep(time.Second)
	})
	p.Quit()
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = keyboard.Close() // a pipe in memory
	return took, out.n
}

// For an answer of 5,000 lines little more is written than its text. What showing
// it takes, beside decoding it and drawing every block once, is logged.
func TestCostOfStreaming(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	doc := document(5000)
	events := eventsOf(doc)
	var written int
	var ratios []string
	for range 3 { // what else the machine does only ever adds
		synctest.Test(t, func(t *testing.T) {
			least := cpuOf(func() { readStream(t, events, renderer()) })
			took, n := stream(t, events)
			ratio := float64(took) / float64(least)
			ratios = append(ratios, fmt.Sprintf("%v/%v = %.2f", took, least, ratio))
			written = n
			time.Sleep(time.Hour) // timers that nobody waits for any more run out
		})
	}
	times := float64(written) / float64(len(doc))
	t.Logf("%d KB in %d pieces: %s of the least; written %.2f times the text", len(doc)>>10, len(events), strings.Join(ratios, ", "), times)
	if times > 3 {
		t.Errorf("%.2f times the text was written to the terminal, want at most 3", times)
	}
}

// BenchmarkStream compares what the interface does for a stream, without a
// terminal and a clock, with the least that showing it can cost; "x-least" is
// the ratio. TestCostOfStreaming has all of it.
func BenchmarkStream(b *testing.B) {
	all := pieces(document(5000))
	var least, shown time.Duration
	for b.Loop() {
		least += cpuOf(func() {
			draw := renderer()
			for _, p := range all {
				draw(p)
			}
		})
		m := New(context.Background(), Options{Runtime: silent{}, Env: []string{"TERM=xterm-256color", "COLORFGBG=15;0"}, ReduceMotion: true})
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		shown += cpuOf(func() {
			var mg merger
			for i, p := range all {
				mg.add(event.TextDelta{Delta: p}, time.Time{})
				if i%int(batchEvery/pieceEvery) == 0 {
					m.Update(batchMsg{mg.events})
					mg.taken()
				}
			}
		})
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

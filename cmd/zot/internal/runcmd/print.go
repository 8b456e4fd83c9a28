package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/host"
	"github.com/patriceckhart/zot/runtime/message"
)

// printer shows a run without a terminal: answers on standard output, all else
// on standard error. With stream the text is written as it arrives and tool
// calls are named; without it only the last answer is.
type printer struct {
	s      *iostreams.Streams
	stream bool
	broken func() // called when standard output cannot be written to

	mu      sync.Mutex
	last    string // the last answer with text, in its visible form
	display []string
	cleaner cleaner // of what streams
	midLine bool    // standard output is within a line
	err     error   // of the first write that failed
}

// handle takes one event of the session.
func (p *printer) handle(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case event.TextDelta:
		if p.stream {
			p.write(e.Delta)
		}
	case event.AssistantMessage:
		p.message(e)
	case event.ToolCall:
		if p.stream {
			p.say("[%s] %s", clean(e.Name), clean(string(e.Args)))
		}
	case event.ToolResult:
		if p.stream && e.IsError {
			p.say("[%s] %s: %s", clean(e.Name), e.Status, clean(message.TextOf(e.Content)))
		}
	case event.ExtDisplay:
		p.display = append(p.display, e.Text)
	case event.ExtPanelOpen:
		p.display = append(p.display, panelText(e))
	default:
		p.aside(e)
	}
}

func (p *printer) message(e event.AssistantMessage) {
	if e.Suppressed {
		p.last = ""
		p.say("%s withheld the answer: %s", e.By, clean(e.Reason))
		return
	}
	if strings.TrimSpace(e.Visible) != "" {
		p.last = e.Visible
	}
	p.endLine()
}

// aside reports what is no part of an answer.
func (p *printer) aside(e event.Event) {
	switch e := e.(type) {
	case event.ExtNotify:
		p.say("[%s] %s: %s", e.Extension, e.Level, clean(e.Message))
	case event.ExtFailed:
		p.say("extension load: %s: %s", e.Extension, clean(e.Message))
	case event.PolicyStatus:
		for _, h := range e.Held {
			p.say("zot: %s", clean(heldLine(h)))
		}
	case event.Notice:
		p.say("zot: %s: %s", e.Level, clean(e.Text))
	case event.Retry:
		p.say("zot: attempt %d of %d failed, trying again in %s: %s", e.Attempt, e.Of, e.Wait.Round(100*time.Millisecond), clean(e.Cause))
	}
}

// say writes one thing to standard error. Its further lines are indented, so that
// none of them passes for something that zot itself says, and what would turn the
// reading direction is shown for what it is.
func (p *printer) say(format string, args ...any) {
	p.endLine()
	text := iostreams.Printable(fmt.Sprintf(format, args...))
	fmt.Fprintln(p.s.Err, strings.ReplaceAll(text, "\n", "\n  "))
}

// write shows a piece of an answer as it arrives.
func (p *printer) write(text string) {
	if text = p.cleaner.clean(text); text != "" {
		p.put(text)
		p.midLine = !strings.HasSuffix(text, "\n")
	}
}

func (p *printer) endLine() {
	p.cleaner = cleaner{}
	if p.midLine {
		p.put("\n")
		p.midLine = false
	}
}

// put writes to standard output. Once that has failed nobody listens, so the
// run is given up.
func (p *printer) put(text string) {
	if p.err != nil {
		return
	}
	if _, err := io.WriteString(p.s.Out, text); err != nil {
		p.err = fmt.Errorf("writing the answer: %w", err)
		p.broken()
	}
}

// finish writes what print mode answers, unless the run failed, and returns
// what went wrong.
func (p *printer) finish(failed error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	if failed == nil {
		for _, text := range p.display {
			p.putLine(text)
		}
		if !p.stream && p.last != "" {
			p.putLine(p.last)
		}
	}
	if p.err != nil {
		return p.err
	}
	return failed
}

func (p *printer) putLine(text string) {
	text = clean(text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	p.put(text)
}

// panelText is a panel for those who have no screen.
func panelText(e event.ExtPanelOpen) string {
	lines := append([]string{e.Title}, e.Lines...)
	if e.Footer != "" {
		lines = append(lines, "", e.Footer)
	}
	return strings.Join(lines, "\n")
}

// runPrint answers one prompt on standard output.
func (a *run) runPrint(ctx context.Context, prompt host.Prompt) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &printer{s: a.streams, stream: a.flags.Stream, broken: cancel}
	defer a.host.Subscribe(p.handle)()
	a.announce()
	a.host.Start()
	start := time.Now()
	err := a.runInput(ctx, prompt, p.inserted)
	if err := p.finish(err); err != nil || a.flags.Stats == "" {
		return err
	}
	return a.writeStats(time.Since(start))
}

// inserted shows text that a command wanted in the editor.
func (p *printer) inserted(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.display = append(p.display, text)
}

// writeStats writes what the answer cost.
func (a *run) writeStats(took time.Duration) error {
	u := a.host.Usage()
	stats := struct {
		Provider  string `json:"provider"`
		Model     string `json:"model"`
		Prompt    int    `json:"prompt_tokens"`
		Reasoning int    `json:"reasoning_tokens"`
		Output    int    `json:"generated_output_tokens"`
		Elapsed   int64  `json:"elapsed_ms"`
	}{
		Prompt: u.Input + u.CacheRead + u.CacheWrite, Reasoning: u.Reasoning, Output: u.Output,
		Elapsed: took.Milliseconds(),
	}
	if c, err := a.host.Connection(); err == nil {
		stats.Provider, stats.Model = c.Provider, c.ID
	}
	text, err := json.MarshalIndent(stats, "", "  ")
	if err != nil {
		return err
	}
	path, err := filepath.Abs(a.flags.Stats)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("--stats: %w", err)
	}
	if err := home.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("--stats: %w", err)
	}
	return nil
}

// heldLine says on one line what is held back, why, and what would allow it.
func heldLine(h event.PolicyHeld) string {
	line := h.What + " is held back: "
	if h.Code != "" {
		line += h.Code + ": "
	}
	line += h.Reason
	if h.Remedy != "" {
		line += "; " + h.Remedy
	}
	return line
}

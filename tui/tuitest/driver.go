package tuitest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui"
	"github.com/patriceckhart/zot/tui/screen"
)

// Driver runs the model as the program would, without a terminal. It belongs in
// a synctest bubble: time stands still until the test sleeps, and every step
// ends when nothing is left to do. After each update it checks that the frame
// fits the screen.
type Driver struct {
	RT    *Runtime
	Model *tui.Model

	t      testing.TB
	msgs   chan tea.Msg
	mu     sync.Mutex
	quit   bool
	w, h   int
	raw    []string
	copied []string
}

// Options returns options for rt in a terminal with all colours.
func Options(rt *Runtime) tui.Options {
	return tui.Options{Runtime: rt, Events: rt.Events, Asks: rt.Asks, Env: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "COLORFGBG=15;0"}}
}

// Start opens the interface on a screen of w by h. change, if not nil, adapts
// the options.
func Start(t testing.TB, rt *Runtime, w, h int, change func(*tui.Options)) *Driver {
	t.Helper()
	// Channels belong to the bubble that they were made in.
	rt.Events, rt.Asks = make(chan event.Event, 256), make(chan tui.Ask, 16)
	opt := Options(rt)
	if change != nil {
		change(&opt)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Driver{RT: rt, t: t, msgs: make(chan tea.Msg), w: w, h: h}
	d.Model = tui.New(ctx, opt)
	done := make(chan struct{})
	closeAsks := d.Model.Connect(ctx, d.send)
	go func() {
		defer close(done)
		d.loop(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		closeAsks()
		<-done
		time.Sleep(3 * time.Hour) // timers that nobody waits for any more run out
	})
	d.run(d.Model.Init())
	d.Resize(w, h)
	return d
}

func (d *Driver) send(msg tea.Msg) {
	select {
	case d.msgs <- msg:
	case <-time.After(time.Hour): // the loop has ended with the test
	}
}

func (d *Driver) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case msg := <-d.msgs:
			d.take(ctx, msg)
		}
	}
}

func (d *Driver) take(ctx context.Context, msg tea.Msg) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch msg := msg.(type) {
	case tea.QuitMsg:
		d.quit = true
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			d.start(ctx, cmd)
		}
		return
	case tea.RawMsg:
		if s, ok := msg.Msg.(string); ok {
			d.raw = append(d.raw, s)
		}
		return
	case tea.WindowSizeMsg:
		d.w, d.h = msg.Width, msg.Height
	}
	if s, ok := clipboard(msg); ok {
		d.copied = append(d.copied, s)
		return
	}
	_, cmd := d.Model.Update(msg)
	d.check()
	d.start(ctx, cmd)
}

// clipboard recognizes the message of tea.SetClipboard, whose type is private,
// by its being a string.
func clipboard(msg tea.Msg) (string, bool) {
	return stringOf(msg, tea.SetClipboard("x")())
}

func (d *Driver) run(cmd tea.Cmd) {
	d.start(context.Background(), cmd)
	synctest.Wait()
}

func (d *Driver) start(ctx context.Context, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() { // ends when the command does, or the test
		msg := cmd()
		if msg == nil {
			return
		}
		select {
		case d.msgs <- msg:
		case <-ctx.Done():
		}
	}()
}

// check fails the test when the frame does not fit.
func (d *Driver) check() {
	v := d.Model.View()
	rows := strings.Split(v.Content, "\n")
	if len(rows) > d.h {
		d.t.Errorf("%d rows on a screen of %d", len(rows), d.h)
	}
	for _, r := range rows {
		if w := screen.Width(r); w > d.w {
			d.t.Errorf("a row of %d columns on a screen of %d: %q", w, d.w, r)
		}
		if !utf8.ValidString(r) {
			d.t.Errorf("a row is not UTF-8: %q", r)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.Y < 0 || c.X >= d.w || c.Y >= d.h) {
		d.t.Errorf("the caret is at %d,%d on a screen of %dx%d", c.X, c.Y, d.w, d.h)
	}
}

// Settle waits until nothing is left to do at this moment.
func (d *Driver) Settle() { synctest.Wait() }

// Sleep lets time pass.
func (d *Driver) Sleep(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}

// Send delivers a message of the terminal.
func (d *Driver) Send(msg tea.Msg) {
	d.send(msg)
	synctest.Wait()
}

// Keys presses keys by their chords: "a", "enter", "ctrl+c".
func (d *Driver) Keys(chords ...string) {
	for _, c := range chords {
		d.Send(Key(c))
	}
}

// Type presses one key per visible character.
func (d *Driver) Type(text string) {
	for text != "" {
		var c string
		c, text, _ = screen.Cluster(text)
		d.Send(Key(c))
	}
}

// Enter types a text and presses Enter.
func (d *Driver) Enter(text string) {
	d.Type(text)
	d.Keys("enter")
}

// Command types a command into an empty prompt, sends it and waits a moment for
// what comes of it.
func (d *Driver) Command(line string) {
	d.Enter(line)
	d.Sleep(100 * time.Millisecond)
}

// Paste pastes.
func (d *Driver) Paste(text string) { d.Send(tea.PasteMsg{Content: text}) }

// Resize changes the size of the screen.
func (d *Driver) Resize(w, h int) { d.Send(tea.WindowSizeMsg{Width: w, Height: h}) }

// Emit reports events and waits until they are on screen.
func (d *Driver) Emit(evs ...any) {
	d.t.Helper()
	for _, ev := range evs {
		switch ev := ev.(type) {
		case tui.Ask:
			d.RT.Asks <- ev
		default:
			e, ok := asEvent(ev)
			if !ok {
				d.t.Fatalf("%T is no event", ev)
			}
			d.RT.Emit(e)
		}
		synctest.Wait()
	}
	d.Sleep(100 * time.Millisecond)
}

// Screen is the text on screen, without colours and trailing spaces.
func (d *Driver) Screen() string {
	rows := d.Rows()
	for i, r := range rows {
		rows[i] = strings.TrimRight(screen.Clean(r), " ")
	}
	return strings.Join(rows, "\n")
}

// Rows are the rows on screen with their sequences.
func (d *Driver) Rows() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Split(d.Model.View().Content, "\n")
}

// Caret is where the caret is; -1, -1 when it is hidden.
func (d *Driver) Caret() (x, y int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.Model.View().Cursor; c != nil {
		return c.X, c.Y
	}
	return -1, -1
}

// Has fails the test where the screen lacks a text.
func (d *Driver) Has(texts ...string) {
	d.t.Helper()
	s := d.Screen()
	for _, text := range texts {
		if !strings.Contains(s, text) {
			d.t.Errorf("the screen lacks %q:\n%s", text, s)
		}
	}
}

// Lacks fails the test where the screen has a text.
func (d *Driver) Lacks(texts ...string) {
	d.t.Helper()
	s := d.Screen()
	for _, text := range texts {
		if strings.Contains(s, text) {
			d.t.Errorf("the screen has %q:\n%s", text, s)
		}
	}
}

// Left reports whether the interface asked to end.
func (d *Driver) Left() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.quit
}

// Raw lists what was written to the terminal besides frames.
func (d *Driver) Raw() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.raw...)
}

// Copied lists what went to the clipboard.
func (d *Driver) Copied() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.copied...)
}

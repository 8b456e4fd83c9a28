package tuitest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Terminal is a terminal in memory with a program in it. It answers what the
// program asks of it, as a real one does.
type Terminal struct {
	t    testing.TB
	mu   sync.Mutex
	emu  *vt.Emulator
	tty  *os.File
	cmd  *exec.Cmd
	out  []byte        // everything that was written
	news chan struct{} // closed, and replaced, when the screen may have changed
	done chan struct{}
	exit error
}

// Exec runs cmd in a terminal of w by h. The program is killed with the test.
func Exec(t testing.TB, cmd *exec.Cmd, w, h int) *Terminal {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	term := &Terminal{t: t, emu: vt.NewEmulator(w, h), tty: tty, cmd: cmd, news: make(chan struct{}), done: make(chan struct{})}
	go term.answer()
	go term.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-term.done
		_ = tty.Close()
	})
	return term
}

// answer hands what the emulator says to the program; it ends with the emulator.
func (x *Terminal) answer() {
	buf := make([]byte, 4096)
	for {
		n, err := x.emu.Read(buf)
		if err != nil {
			return
		}
		if _, err := x.tty.Write(buf[:n]); err != nil {
			return
		}
	}
}

// read draws what the program writes; it ends with the program.
func (x *Terminal) read() {
	defer close(x.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := x.tty.Read(buf)
		x.mu.Lock()
		x.out = append(x.out, buf[:n]...)
		_, _ = x.emu.Write(buf[:n]) // an emulator in memory takes all
		x.changed()
		x.mu.Unlock()
		if err != nil {
			break
		}
	}
	x.exit = x.cmd.Wait()
	if c, ok := x.emu.InputPipe().(io.Closer); ok { // ends answer
		_ = c.Close()
	}
}

// changed wakes those who wait for the screen; x.mu is held.
func (x *Terminal) changed() {
	close(x.news)
	x.news = make(chan struct{})
}

// next is closed when the screen may have changed from how it is now.
func (x *Terminal) next() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.news
}

// Send types bytes.
func (x *Terminal) Send(s string) {
	x.t.Helper()
	if _, err := x.tty.WriteString(s); err != nil {
		x.t.Errorf("typing: %v", err)
	}
}

// Resize changes the size.
func (x *Terminal) Resize(w, h int) {
	x.mu.Lock()
	x.emu.Resize(w, h)
	x.changed()
	x.mu.Unlock()
	if err := pty.Setsize(x.tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		x.t.Errorf("resizing: %v", err)
	}
}

// Screen is the text on screen.
func (x *Terminal) Screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	lines := strings.Split(x.emu.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Rows are the rows on screen with the sequences for their looks, without blank
// ones at the end.
func (x *Terminal) Rows() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	rows := strings.Split(x.emu.Render(), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], "\r")
	}
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Written is everything that the program wrote.
func (x *Terminal) Written() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.out)
}

// AltScreen reports whether the alternate screen is shown.
func (x *Terminal) AltScreen() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.IsAltScreen()
}

// CursorHidden reports whether the cursor is hidden.
func (x *Terminal) CursorHidden() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.CursorHidden()
}

// Cursor is where the cursor is.
func (x *Terminal) Cursor() (int, int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.emu.CursorPosition()
	return p.X, p.Y
}

// Process is the program.
func (x *Terminal) Process() *os.Process { return x.cmd.Process }

// File is the program's terminal as we hold it; its settings are the program's.
func (x *Terminal) File() *os.File { return x.tty }

// Patience is how long Wait waits at most.
const Patience = 3 * time.Minute

// WaitFor waits until ok, which is about what the program wrote, and fails the
// test with the screen if it never is.
func (x *Terminal) WaitFor(what string, ok func() bool) {
	x.t.Helper()
	if !x.Within(Patience, ok) {
		x.t.Fatalf("still waiting for %s; the screen:\n%s", what, x.Screen())
	}
}

// Within waits until ok, which is about what the program wrote, and reports
// whether it came to be in that time. ok is asked at first, and again whenever
// there is something new.
func (x *Terminal) Within(most time.Duration, ok func() bool) bool {
	late := time.After(most)
	for {
		next := x.next()
		if ok() {
			return true
		}
		select {
		case <-next:
		case <-x.done: // nothing will change any more
			return ok()
		case <-late:
			return false
		}
	}
}

// Wait waits until the screen has a text.
func (x *Terminal) Wait(text string) {
	x.t.Helper()
	x.WaitFor("the text "+text, func() bool { return strings.Contains(x.Screen(), text) })
}

// Gone waits until the screen lacks a text.
func (x *Terminal) Gone(text string) {
	x.t.Helper()
	x.WaitFor("the end of the text "+text, func() bool { return !strings.Contains(x.Screen(), text) })
}

// Exit waits for the program to end and returns how it did.
func (x *Terminal) Exit() error {
	x.t.Helper()
	select {
	case <-x.done:
		return x.exit
	case <-time.After(Patience):
		x.t.Fatalf("the program does not end; the screen:\n%s", x.Screen())
		return nil
	}
}

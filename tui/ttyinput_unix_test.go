//go:build !windows

package tui

import (
	"io"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// While another program has the terminal, no read takes what is typed for it,
// not even one that only begins then.
func TestNoReadWhilePaused(t *testing.T) {
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminal: ", err)
	}
	defer keyboard.Close()
	defer tty.Close()
	if _, err := term.MakeRaw(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	in, input := wrapInput(tty, nil)
	input.pause()
	if _, err := io.WriteString(keyboard, "x"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := in.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("paused, it read %q, %v", buf[:n], err)
	}
	input.resume()
	if n, err := in.Read(buf); string(buf[:n]) != "x" || err != nil {
		t.Errorf("after that it read %q, %v", buf[:n], err)
	}
	input.pause()
}

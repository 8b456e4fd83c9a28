//go:build !windows

package tui_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/tuitest"
)

// open runs the stage in a terminal.
func open(t *testing.T, w, h int, env ...string) *tuitest.Terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append([]string{stageVar + "=1", "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	x := tuitest.Exec(t, cmd, w, h)
	x.Wait("test-model")
	return x
}

// restored checks that the terminal is as a shell wants it.
func restored(t *testing.T, x *tuitest.Terminal) {
	t.Helper()
	if x.AltScreen() {
		t.Error("the alternate screen is still shown")
	}
	if x.CursorHidden() {
		out := x.Written()
		t.Errorf("the cursor is still hidden: %q", out[max(len(out)-600, 0):])
	}
	out := x.Written()
	for _, mode := range []string{"2004", "1004"} {
		if strings.LastIndex(out, "\x1b[?"+mode+"h") > strings.LastIndex(out, "\x1b[?"+mode+"l") {
			t.Errorf("mode %s is still on", mode)
		}
	}
}

func raw(t *testing.T, x *tuitest.Terminal) bool {
	t.Helper()
	state, err := term.GetState(x.File().Fd())
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&(syscall.ECHO|syscall.ICANON) == 0
}

func TestTerminalIsGivenBack(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(x *tuitest.Terminal)
		code int
		says string
	}{
		{"command", func(x *tuitest.Terminal) { x.Send("/quit\r") }, 0, "resume with"},
		{"ctrl+d", func(x *tuitest.Terminal) { x.Send("\x04") }, 0, "resume with"},
		{"ctrl+c twice", func(x *tuitest.Terminal) { x.Send("\x03"); x.Wait("again"); x.Send("\x03") }, 0, "resume with"},
		{"SIGTERM", func(x *tuitest.Terminal) { _ = x.Process().Signal(syscall.SIGTERM) }, 143, "ended by terminated"},
		{"SIGHUP", func(x *tuitest.Terminal) { _ = x.Process().Signal(syscall.SIGHUP) }, 143, "ended by hangup"},
		{"panic beside the screen", func(x *tuitest.Terminal) { x.Send("!panic\r") }, 1, "on purpose"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := open(t, 80, 24)
			if !raw(t, x) {
				t.Error("the terminal is not in raw mode")
			}
			tc.end(x)
			err := x.Exit()
			code := 0
			if exit, ok := err.(*exec.ExitError); ok {
				code = exit.ExitCode()
			}
			if code != tc.code {
				t.Errorf("exit %d, want %d (%v)\n%s", code, tc.code, err, x.Screen())
			}
			if !strings.Contains(x.Screen(), tc.says) {
				t.Errorf("the screen lacks %q:\n%s", tc.says, x.Screen())
			}
			restored(t, x)
		})
	}
}

func TestTypingWhileTextStreams(t *testing.T) {
	x := open(t, 80, 24)
	x.Send("stream 1500\r")
	x.Wait("paragraph ")
	x.Send("meanwhile")
	x.Wait("› meanwhile")
	x.Wait("paragraph 1499 with bold words")
	x.Gone("working")
	if cx, cy := x.Cursor(); cx != 11 || cy != 22 {
		t.Errorf("cursor at %d,%d, want 11,22", cx, cy)
	}
}

func TestResize(t *testing.T) {
	x := open(t, 80, 24)
	x.Send("stream 20\r")
	x.Wait("paragraph 19 ")
	x.Send("kept text")
	for _, size := range [][2]int{{50, 20}, {20, 8}, {10, 4}, {100, 30}} {
		x.Resize(size[0], size[1])
		if size[0] < 20 {
			x.Wait("terminal t")
			continue
		}
		x.WaitFor("a status line at the bottom", func() bool {
			rows := strings.Split(x.Screen(), "\n")
			return len(rows) == size[1] && strings.Contains(rows[len(rows)-1], "test-model") && strings.Contains(rows[len(rows)-2], "kept text")
		})
		if n := strings.Count(x.Screen(), "test-model"); n != 1 {
			t.Errorf("%d status lines at %v:\n%s", n, size, x.Screen())
		}
	}
}

func TestPastesOfATerminal(t *testing.T) {
	x := open(t, 80, 24)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %d\r", i)
	}
	x.Send("\x1b[200~" + text.String() + "\x1b[201~")
	x.Wait("[paste #1 +200 lines]")
	x.Send("\x7f")
	x.Gone("paste #1")
	x.Send("one\rtwo\rthree") // a terminal that does not mark pastes
	x.Wait("› one\n  two\n  three")
	x.Send("\x15\x15\x15\x15\x15")
	x.Send("\x1b[200~never ends")
	x.Wait("› never ends")
	x.Send("!")
	x.Wait("› never ends!")
}

func TestPasteOf5MB(t *testing.T) {
	x := open(t, 80, 24)
	x.Send("\x1b[200~" + strings.Repeat("some pasted text\n", 5<<20/17) + "\x1b[201~")
	x.Wait("[paste #1")
	x.Send("after")
	x.Wait("after")
}

func TestKeysInOneWriteTypeNothing(t *testing.T) {
	x := open(t, 80, 24)
	x.Send(strings.Repeat("\x1b[1;5C", 200) + strings.Repeat("\x1b[<35;10;10M", 300) + "end")
	x.Wait("› end")
	// A sequence may come in two parts, unless they are as far apart as a person's
	// keys, which happens on a busy machine.
	x.WaitFor("a left arrow", func() bool {
		x.Send("\x15\x0b")
		x.Gone("Q")
		x.Send("Q\x1b")
		x.Send("[DZ")
		x.WaitFor("what was typed", func() bool { return strings.Contains(x.Screen(), "Q") && strings.Contains(x.Screen(), "Z") })
		return strings.Contains(x.Screen(), "› ZQ")
	})
	x.Send("\x15\x0b" + "宽"[:1])
	time.Sleep(100 * time.Millisecond) // and a character, on a slow line
	x.Send("宽"[1:])
	x.Wait("› 宽")
}

func TestEditor(t *testing.T) {
	script := filepath.Join(t.TempDir(), "ed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 0.2\nread key </dev/tty\necho \"$(cat \"$1\") and $key\" > \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := open(t, 80, 24, "EDITOR="+script)
	x.Send("my text")
	x.Wait("› my text")
	x.Send("\x07")
	x.WaitFor("the screen to be lent", func() bool { return !x.AltScreen() })
	x.Send("more\n")
	x.Wait("› my text and more")
	x.Send("!")
	x.Wait("› my text and more!")
}

func TestSuspend(t *testing.T) {
	x := open(t, 80, 24)
	x.Send("kept")
	x.Wait("› kept")
	x.Send("\x1a")
	x.WaitFor("the screen to be given back", func() bool { return !x.AltScreen() })
	// Nobody waits for this group as a shell would: continue it until it is back.
	for end := time.Now().Add(tuitest.Patience); !x.Within(20*time.Millisecond, x.AltScreen); {
		if time.Now().After(end) {
			t.Fatal("the screen does not come back")
		}
		_ = x.Process().Signal(syscall.SIGCONT)
	}
	x.Wait("› kept")
	x.Send("!")
	x.Wait("› kept!")
}

func TestQuestionInATerminal(t *testing.T) {
	x := open(t, 80, 24)
	x.Send("ask\r")
	x.Wait("run it?")
	time.Sleep(dialog.Guard) // a question on screen takes no answer sooner
	x.Send("1")
	x.Wait("answer 0")
}

func TestLongOpenFence(t *testing.T) {
	x := open(t, 80, 24)
	x.Send("fence 2000\r")
	x.Wait("after the code")
	x.Send("quick")
	x.Wait("› quick")
}

func TestIdleWritesNothing(t *testing.T) {
	x := open(t, 80, 24)
	// Two seconds of silence come once the start is over, and not where anything
	// is drawn again and again.
	x.WaitFor("silence", func() bool {
		n := len(x.Written())
		time.Sleep(2 * time.Second) // this is the thing measured, not a wait
		return len(x.Written()) == n
	})
}

func TestNoColourAndASCII(t *testing.T) {
	x := open(t, 60, 20, "NO_COLOR=1", "LANG=C", "LC_ALL=C")
	x.Send("stream 3\r")
	x.Wait("paragraph 2")
	x.Send("/")
	x.Wait("> /btw")
	out := x.Written()
	for i := 0; i < len(out); i++ {
		if out[i] >= 0x80 {
			t.Fatalf("a byte outside ASCII: %q", out[max(i-20, 0):i+1])
		}
	}
	for _, sgr := range regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindAllStringSubmatch(out, -1) {
		for _, p := range strings.Split(sgr[1], ";") {
			if n, _ := strconv.Atoi(p); n >= 30 {
				t.Errorf("a colour: %q", sgr[0])
			}
		}
	}
	if !strings.Contains(out, "\x1b[7") && !strings.Contains(out, ";7m") {
		t.Error("the selection cannot be seen")
	}
}

// Pictures stand among the rows, below their description, and go with them.
func TestInlinePictures(t *testing.T) {
	const placeholder = "\U0010eeee"
	for _, tc := range []struct {
		name, env string
		rows      int    // rows of placeholders on screen
		written   string // by which the terminal gets the picture
		times     int
	}{
		{"kitty", "KITTY_WINDOW_ID=1", 5, "\x1b_Ga=p,U=1,i=", 1},
		{"WezTerm", "TERM_PROGRAM=WezTerm", 0, "\x1b]1337;File=inline=1;size=", 5},
		{"other", "TERM_PROGRAM=other", 0, "\x1b]1337;", 0},
		{"tmux", "TMUX=/tmp/x", 0, "\x1b_G", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := open(t, 80, 24, tc.env)
			x.Send("picture\r")
			x.Wait("[image 1: 200x100 png")
			x.Wait("there it is")
			x.WaitFor("the picture", func() bool { return strings.Count(x.Written(), tc.written) >= tc.times })
			x.WaitFor("its rows", func() bool {
				n := 0
				for _, row := range strings.Split(x.Screen(), "\n") {
					if strings.Contains(row, placeholder) {
						n++
					}
				}
				return n == tc.rows
			})
			if tc.times == 0 && strings.Contains(x.Written(), tc.written) {
				t.Errorf("a picture was written: %q", tc.written)
			}
			if tc.rows == 0 && strings.Contains(x.Written(), placeholder) {
				t.Error("placeholders were written to a terminal that does not know them")
			}
			x.Send("/clear\r")
			x.Gone("[image 1")
			x.Gone(placeholder)
			x.Send("/quit\r")
			_ = x.Exit()
			restored(t, x)
			if tc.name == "kitty" && !strings.Contains(x.Written(), "\x1b_Ga=d,d=I,i=") {
				t.Error("the terminal still keeps the picture")
			}
		})
	}
}

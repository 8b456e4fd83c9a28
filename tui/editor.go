package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// borrowed is a program that gets the terminal for a while. It is all of what
// happens meanwhile: the file is written and read by it, not by the screen.
type borrowed struct {
	input          pauser
	run            func(stdin io.Reader, stdout, stderr io.Writer) error
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (b *borrowed) SetStdin(r io.Reader)  { b.stdin = r }
func (b *borrowed) SetStdout(w io.Writer) { b.stdout = w }
func (b *borrowed) SetStderr(w io.Writer) { b.stderr = w }

func (b *borrowed) Run() error {
	in := b.stdin
	if t, ok := in.(interface{ terminal() *os.File }); ok {
		in = t.terminal()
	}
	out := b.stdout
	if t, ok := out.(interface{ Terminal() *os.File }); ok {
		out = t.Terminal()
	}
	_, _ = io.WriteString(out, leaveModes)
	err := b.run(in, out, b.stderr)
	_, _ = io.WriteString(out, enterModes)
	if b.input != nil {
		b.input.resume()
	}
	return err
}

// lend gives the terminal away and runs then with the outcome.
func (m *Model) lend(run func(io.Reader, io.Writer, io.Writer) error, then func(*Model, error)) {
	if m.input != nil {
		m.input.pause()
	}
	m.do(tea.Exec(&borrowed{input: m.input, run: run}, func(err error) tea.Msg {
		return doneMsg{func(m *Model) {
			m.resendPictures()
			then(m, err)
		}}
	}))
}

// editorCommand is $VISUAL or $EDITOR, cut at spaces, or what is always there.
func (m *Model) editorCommand() []string {
	for _, k := range []string{"VISUAL", "EDITOR"} {
		if f := strings.Fields(m.env.vars[k]); len(f) > 0 {
			return f
		}
	}
	return defaultEditor
}

// editPrompt opens the prompt in an editor. Pastes are written out in full.
func (m *Model) editPrompt() {
	text := m.composer.Text()
	argv := m.editorCommand()
	env := m.opt.Env
	var after string
	m.lend(func(in io.Reader, out, errw io.Writer) error {
		file, err := os.CreateTemp("", "zot-prompt-*.md")
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(file.Name()) }() // a leftover in the temporary folder harms nobody
		_, err = file.WriteString(text)
		if cerr := file.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], file.Name())...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, errw, env
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("running %s: %w (set $EDITOR to another program)", argv[0], err)
		}
		data, err := os.ReadFile(file.Name())
		after = strings.TrimRight(string(data), "\n")
		return err
	}, func(m *Model, err error) {
		if err != nil {
			m.transcript.Say("error", err.Error())
			return
		}
		if after != text {
			m.composer.SetText(after)
			m.edited()
		}
	})
}

// page shows the conversation in $PAGER.
func (m *Model) page() {
	argv := strings.Fields(m.env.vars["PAGER"])
	if len(argv) == 0 {
		argv = defaultPager
	}
	text := m.transcript.PlainText()
	env := m.opt.Env
	m.lend(func(_ io.Reader, out, errw io.Writer) error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(text), out, errw, env
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			return fmt.Errorf("running %s: %w (set $PAGER to another program)", argv[0], err)
		}
		return nil
	}, func(m *Model, err error) {
		if err != nil {
			m.transcript.Say("error", err.Error())
		}
	})
}

// suspend stops the process until the shell lets it go on.
func (m *Model) suspend() {
	if !canSuspend {
		m.transcript.Say("warn", "zot cannot be suspended here")
		return
	}
	m.lend(func(io.Reader, io.Writer, io.Writer) error { return suspendProcess() }, func(m *Model, err error) {
		if err != nil {
			m.transcript.Say("error", err.Error())
		}
	})
}

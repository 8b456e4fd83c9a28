package extcmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// A follower prints a log that is still written, and goes on with the new file
// when the log is rotated.
type follower struct {
	path  string
	out   *cleaner
	every time.Duration
	file  *os.File
}

// print prints what is there now.
func (f *follower) print() error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(f.out, file); err != nil {
		return err
	}
	return f.out.flush()
}

// follow prints until ctx ends, and then returns its error. waiting is called
// where there is no log yet.
func (f *follower) follow(ctx context.Context, waiting func()) error {
	defer f.close()
	ticker := time.NewTicker(f.every)
	defer ticker.Stop()
	told := false
	for {
		err := f.more()
		if errors.Is(err, fs.ErrNotExist) && !told {
			told = true
			waiting()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// more prints what was added since the last time.
func (f *follower) more() error {
	if f.file == nil {
		file, err := os.Open(f.path)
		if err != nil {
			return err
		}
		f.file = file
	}
	n, err := io.Copy(f.out, f.file)
	if err != nil {
		return err
	}
	if n == 0 { // a line that is not finished yet, and has been waited for
		if err := f.out.flush(); err != nil {
			return err
		}
	}
	return f.reopen()
}

// reopen turns to the file that has the log's name now, if it is another one
// or was cut. The rest of the old one has been read: it is renamed only after
// its last line was written.
func (f *follower) reopen() error {
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // between the two renames of a rotation
	}
	if err != nil {
		return err
	}
	open, err := f.file.Stat()
	if err != nil {
		return err
	}
	if os.SameFile(now, open) {
		at, err := f.file.Seek(0, io.SeekCurrent)
		if err == nil && now.Size() < at {
			_, err = f.file.Seek(0, io.SeekStart)
		}
		return err
	}
	if _, err := io.Copy(f.out, f.file); err != nil {
		return err
	}
	f.close()
	return f.more()
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// A cleaner passes lines on without what would steer a terminal: an extension
// may write anything to its log.
type cleaner struct {
	to      io.Writer
	pending []byte
}

// longestLine is how much of a line is held back for its end.
const longestLine = 64 << 10

func newCleaner(to io.Writer) *cleaner { return &cleaner{to: to} }

func (c *cleaner) Write(p []byte) (int, error) {
	c.pending = append(c.pending, p...)
	end := strings.LastIndexByte(string(c.pending), '\n') + 1
	if len(c.pending)-end > longestLine {
		end = len(c.pending)
	}
	if err := c.pass(end); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush passes on a line that has no end.
func (c *cleaner) flush() error { return c.pass(len(c.pending)) }

func (c *cleaner) pass(end int) error {
	if end == 0 {
		return nil
	}
	text := ansi.Strip(string(c.pending[:end]))
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) // progress that draws over itself
	c.pending = append(c.pending[:0], c.pending[end:]...)
	_, err := io.WriteString(c.to, strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, text))
	return err
}

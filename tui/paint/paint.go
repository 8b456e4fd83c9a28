// Package paint writes frames to a terminal: of each only what differs from
// what is on screen.
//
// A program that redraws cell by cell compares every cell of the screen for
// every frame, which for text that streams in costs several times as much as
// making the text. Here the unit is the row. Rows that are the same string are
// skipped, rows that moved are moved by the terminal, and of a row that grew
// only the end is written.
//
// The interface's program (bubbletea) owns the terminal's modes: the alternate
// screen, the keyboard, the cursor's shape. Both write through one [Screen], so
// that a frame never lands between a mode and what belongs to it, and what the
// program erases is drawn again in the same write:
//
//	program ── modes, queries ──▶ Screen.Write ─┐
//	model ──── frames ──────────▶ Screen.Show  ─┴─▶ terminal
package paint

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patriceckhart/zot/tui/screen"
)

// A Frame is all of a screen.
type Frame struct {
	// Rows are text and SGR sequences only, none wider than Width. Each begins
	// in the terminal's plain look.
	Rows          []string
	Width, Height int
	// X and Y are where the caret is, from 0; a negative X hides it.
	X, Y int
}

// Options say what the terminal can do.
type Options struct {
	// Rewrite never has the terminal move rows: some consoles leave traces.
	Rewrite bool
}

// frameEvery is the shortest time between two frames. The first after a pause
// is written at once.
const frameEvery = time.Second / 60

// A Screen is a terminal that frames are painted on. Show never blocks; the
// frames of a terminal that is slow are skipped but for the newest.
type Screen struct {
	out    io.Writer
	opt    Options
	wake   chan struct{}
	newest atomic.Pointer[Frame]

	mu   sync.Mutex // guards below; held while writing, so that writes do not mix
	open bool       // the alternate screen is shown, and so frames are
	held bool       // frames are framed by the marks of a synchronized update
	was  picture
	buf  []byte
	// instead is written in place of cells that only stand for something.
	instead map[string]string
}

// New returns a screen on out. Frames are written by [Screen.Run], and only
// while the program shows the alternate screen.
func New(out io.Writer, opt Options) *Screen {
	return &Screen{out: out, opt: opt, wake: make(chan struct{}, 1)}
}

// Output is the screen as the program is to have it: a terminal again, if the
// screen is on one.
func (s *Screen) Output() io.Writer {
	if f, ok := s.out.(*os.File); ok {
		return &fileOutput{f, s}
	}
	return s
}

// fileOutput has a terminal's descriptor, by which the program finds its size.
type fileOutput struct {
	*os.File
	screen *Screen
}

func (o *fileOutput) Write(p []byte) (int, error)          { return o.screen.Write(p) }
func (o *fileOutput) WriteString(text string) (int, error) { return o.screen.Write([]byte(text)) }

// Terminal is the file itself, for a program that gets it for a while.
func (o *fileOutput) Terminal() *os.File { return o.File }

// Show has f painted soon. Its rows must not be changed afterwards.
func (s *Screen) Show(f Frame) {
	s.newest.Store(&f)
	select {
	case s.wake <- struct{}{}:
	default: // it will be seen when the frame before is done
	}
}

// Synchronized says whether the terminal knows how to show a frame as one
// (private mode 2026).
func (s *Screen) Synchronized(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = on
}

// Instead has a sequence written wherever a row ends with these cells of a
// picture: a strip of it, which no row of text can hold. It must stay on its row,
// and in the columns of the cells. An empty sequence ends that.
func (s *Screen) Instead(cells, sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sequence == "" {
		delete(s.instead, cells)
		return
	}
	if s.instead == nil {
		s.instead = map[string]string{}
	}
	s.instead[cells] = sequence
}

// Run paints until ctx ends.
func (s *Screen) Run(ctx context.Context) {
	last := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(frameEvery - time.Since(last)):
		}
		s.paint()
		last = time.Now()
	}
}

func (s *Screen) paint() {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.newest.Load()
	if f == nil || !s.open {
		return
	}
	s.buf = s.frame(s.buf[:0], f)
	if len(s.buf) > 0 {
		_, _ = s.out.Write(s.buf) // a terminal that is gone ends the program by a signal
	}
}

var (
	enterScreen = []byte("\x1b[?1049h")
	leaveScreen = []byte("\x1b[?1049l")
)

// Write passes on what the program writes itself, and draws again what that
// erased.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	enter, leave := bytes.LastIndex(p, enterScreen), bytes.LastIndex(p, leaveScreen)
	switch {
	case leave > enter:
		s.open, s.was = false, picture{}
	case enter >= 0:
		s.open, s.was = true, picture{}
	case s.open && erases(p):
		s.was = picture{}
	}
	s.buf = append(s.buf[:0], p...)
	switch {
	case leave > enter:
		s.buf = append(s.buf, wrapRows+showCaret...)
	case enter >= 0:
		s.buf = append(s.buf, cutRows...)
	}
	if f := s.newest.Load(); s.open && f != nil {
		s.was.x = -2 // the program may have moved it
		s.buf = s.frame(s.buf, f)
	}
	_, err := s.out.Write(s.buf)
	return len(p), err
}

// erases reports whether p has a sequence that changes what is on screen.
func erases(p []byte) bool {
	for {
		i := bytes.Index(p, []byte("\x1b["))
		if i < 0 {
			return false
		}
		p = p[i+2:]
		j := 0
		for j < len(p) && (p[j] >= '0' && p[j] <= '9' || p[j] == ';') {
			j++
		}
		if j < len(p) && bytes.IndexByte([]byte("@JKLMPSTX"), p[j]) >= 0 {
			return true
		}
	}
}

const (
	hideCaret  = "\x1b[?25l"
	showCaret  = "\x1b[?25h"
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	plain      = screen.Reset
	// A row that a terminal takes to be wider than we do must not run into the
	// next one.
	cutRows  = "\x1b[?7l"
	wrapRows = "\x1b[?7h"
	clearRow = "\x1b[K"
)

// frame appends what turns the picture on screen into f; nothing if it is f.
func (s *Screen) frame(b []byte, f *Frame) []byte {
	rows := s.rows(nil, f)
	moved := s.was.x != f.X || s.was.y != f.Y
	hide := f.X < 0
	if len(rows) == 0 && !moved {
		return b
	}
	if s.held {
		b = append(b, beginFrame...)
	} else if len(rows) > 0 && !s.was.hidden {
		b = append(b, hideCaret...)
	}
	b = append(b, rows...)
	if !hide {
		b = moveTo(b, f.X, f.Y)
	}
	switch {
	case hide && (s.held || len(rows) == 0):
		b = append(b, hideCaret...)
	case !hide && (!s.held || s.was.hidden || s.was.x == -2):
		b = append(b, showCaret...)
	}
	if s.held {
		b = append(b, endFrame...)
	}
	s.was.x, s.was.y, s.was.hidden = f.X, f.Y, hide
	return b
}

func moveTo(b []byte, x, y int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(y+1), 10)
	if x > 0 {
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(x+1), 10)
	}
	return append(b, 'H')
}

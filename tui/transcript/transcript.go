// Package transcript holds what is above the prompt: the conversation, the
// calls of tools and the notes, and draws the part of it that is on screen.
//
// A transcript is a list of cells. A cell is the smallest thing that is drawn
// and kept by itself: one block of an answer, one call, one note. Rows are made
// when a cell comes into view and kept until the width, the theme or the cell
// changes, so that a frame costs what is on screen and not what was said
// before. Scrolling is anchored to a row of a cell: what arrives below never
// moves what is being read.
//
// Nothing here starts a goroutine or reads a clock; times are handed in.
package transcript

import (
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/markdown"
	"github.com/patriceckhart/zot/tui/style"
)

// A Transcript is used by one goroutine only.
type Transcript struct {
	opt      Options
	sheet    *style.Sheet
	width    int
	unfolded bool

	cells   []*cell
	answer  *answer          // the message that is being written; or nil
	unended *answer          // the one before, if its end was not told; or nil
	calls   map[string]*call // by id
	images  []message.Image

	pictures *pictures
	loads    int // counts how often all was removed

	anchor   *cell // first cell on screen; nil while following the end
	row      int   // first row of it on screen
	newBelow bool  // something came since following ended
	height   int   // rows of the last view

	cached []*cell // cells that hold rows
	jobs   []Job
}

// Options say how a conversation is drawn. The zero value folds long output,
// frames the output of tools, and hides what a model thinks until everything is
// unfolded.
type Options struct {
	Compact      bool // no blank rows between messages
	Unfolded     bool // long output in full from the start
	ShowThinking bool // what a model thinks aloud, in short
	Timestamps   bool // when a message came
	FlatTools    bool // no frame beside the output of tools
}

// SetOptions is called before anything is added.
func (t *Transcript) SetOptions(o Options) { t.opt, t.unfolded = o, o.Unfolded }

// New returns an empty transcript.
func New(sheet *style.Sheet) *Transcript {
	return &Transcript{sheet: sheet, width: 80, calls: map[string]*call{}, pictures: &pictures{}}
}

// SetWidth and SetSheet change how cells are drawn from now on.
func (t *Transcript) SetWidth(w int) { t.width = max(w, 1) }

// SetSheet changes the looks of everything, what is on screen included.
func (t *Transcript) SetSheet(s *style.Sheet) { t.sheet = s }

// ToggleFold shows long output and thoughts in full, or short again.
func (t *Transcript) ToggleFold() { t.unfolded = !t.unfolded }

// Unfolded reports whether long output is shown in full.
func (t *Transcript) Unfolded() bool { return t.unfolded }

// Empty reports whether there is nothing to show.
func (t *Transcript) Empty() bool { return len(t.cells) == 0 }

// Images lists the pictures in the order of their numbers.
func (t *Transcript) Images() []message.Image { return t.images }

// Clear removes everything.
func (t *Transcript) Clear() {
	*t = Transcript{opt: t.opt, sheet: t.sheet, width: t.width, unfolded: t.unfolded, calls: map[string]*call{}, height: t.height, pictures: &pictures{}, loads: t.loads + 1}
}

// Loads counts how often everything was removed; the pictures are numbered anew
// then.
func (t *Transcript) Loads() int { return t.loads }

// A content draws one cell.
type content interface {
	// draw returns the rows for a width, without a blank row before or after.
	draw(c *cell, d drawing) []string
	// text is what a search looks at and a pager shows.
	text() string
}

// drawing is what rows depend on, beside the cell itself.
type drawing struct {
	width    int
	sheet    *style.Sheet
	unfolded bool
	opt      Options
	pictures *pictures
	changes  int // of the pictures
}

type cell struct {
	content
	owner   any // the answer that the cell is of, or the name whose note it is
	gap     bool
	note    bool // cleared with the notes of its owner
	index   int
	version int // counts changes of the content

	rows     []string
	drawn    drawing
	drawnVer int
	held     bool // rows are kept, and the cell is in Transcript.cached
}

func (c *cell) changed() { c.version++ }

func (t *Transcript) add(c *cell) *cell {
	return t.insert(len(t.cells), c)
}

func (t *Transcript) insert(at int, c *cell) *cell {
	t.cells = append(t.cells, nil)
	copy(t.cells[at+1:], t.cells[at:])
	t.cells[at] = c
	for i := at; i < len(t.cells); i++ {
		t.cells[i].index = i
	}
	t.touch()
	return c
}

// touch notes that there is something new, which matters when the user looks
// elsewhere.
func (t *Transcript) touch() {
	if t.anchor != nil {
		t.newBelow = true
	}
}

// remove takes out every cell that gone says; the anchor moves to the next one
// that stays.
func (t *Transcript) remove(gone func(*cell) bool) bool {
	kept := t.cells[:0:0]
	var anchor *cell
	lost := false
	for _, c := range t.cells {
		if gone(c) {
			lost = lost || c == t.anchor
			continue
		}
		if (c == t.anchor || lost) && anchor == nil {
			anchor = c
			if lost {
				t.row = 0
			}
		}
		c.index = len(kept)
		kept = append(kept, c)
	}
	changed := len(kept) != len(t.cells)
	t.cells, t.anchor = kept, anchor
	return changed
}

// A Job is drawing that would hold up the screen. Run may be called on any
// goroutine; what it returns goes to [Transcript.Deliver].
type Job struct {
	cell    *cell
	version int
	drawn   drawing
	Run     func() []string
}

// TakeJobs returns the jobs that drawing has left since the last call.
func (t *Transcript) TakeJobs() []Job {
	jobs := t.jobs
	t.jobs = nil
	return jobs
}

// Deliver puts the rows of a job in place, if they are still what is wanted.
func (t *Transcript) Deliver(j Job, rows []string) {
	c := j.cell
	if !c.held || c.version != j.version || c.drawn != j.drawn {
		return
	}
	rows = t.spaced(c, rows)
	if len(rows) == len(c.rows) { // the same text in other colours
		c.rows = rows
	}
}

// spaced puts a blank row before a cell. Blocks of one answer keep theirs in the
// compact form, too: they are paragraphs.
func (t *Transcript) spaced(c *cell, rows []string) []string {
	if !c.gap || c.index == 0 || len(rows) == 0 {
		return rows
	}
	if t.opt.Compact && !(isText(c) && isText(t.cells[c.index-1]) && t.cells[c.index-1].owner == c.owner) {
		return rows
	}
	return append([]string{""}, rows...)
}

// rowsOf returns the rows of c, drawn now if they are not at hand.
func (t *Transcript) rowsOf(c *cell) []string {
	d := drawing{t.width, t.sheet, t.unfolded, t.opt, t.pictures, t.pictures.changes}
	if c.held && c.drawn == d && c.drawnVer == c.version {
		return c.rows
	}
	rows := c.draw(c, d)
	if b, ok := c.content.(*block); ok && markdown.Long(b.src) {
		t.jobs = append(t.jobs, Job{cell: c, version: c.version, drawn: d, Run: func() []string { return b.coloured(d) }})
	}
	rows = t.spaced(c, rows)
	c.rows, c.drawn, c.drawnVer = rows, d, c.version
	if !c.held {
		c.held = true
		t.cached = append(t.cached, c)
	}
	return rows
}

// maxHeld is how many cells may keep their rows when they are out of sight.
const maxHeld = 500

// release drops the rows of cells that are far from what is on screen.
func (t *Transcript) release(from, to int) {
	if len(t.cached) <= maxHeld {
		return
	}
	const near = 60
	kept := t.cached[:0]
	for _, c := range t.cached {
		at := c.index
		if at >= from-near && at <= to+near && at < len(t.cells) && t.cells[at] == c {
			kept = append(kept, c)
			continue
		}
		c.held, c.rows = false, nil
	}
	clear(t.cached[len(kept):])
	t.cached = kept
}

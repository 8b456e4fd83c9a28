package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// A Stream is Markdown that arrives in pieces. The zero value is ready.
//
// Closed blocks leave it, in order, through Append and Finish; each needs to be
// rendered once. What is left is the tail, which is rendered anew whenever it
// changed, and is small unless one block is long.
type Stream struct {
	open  []byte
	fence *fence // the tail is a code block whose fence is still open
	seen  int    // complete lines of the tail that were looked at
	refs  Refs

	tail tailCache
}

// Refs are the link definitions of the closed blocks so far.
func (s *Stream) Refs() Refs { return s.refs }

// Tail is the source of the open block.
func (s *Stream) Tail() string { return string(s.open) }

// Append adds text and returns the source of every block that it closed.
func (s *Stream) Append(text string) []string {
	s.open = append(s.open, text...)
	s.tail.stale = true
	if strings.IndexByte(text, '\n') < 0 {
		return nil
	}
	if s.fence != nil && !s.fenceClosed() {
		return nil
	}
	closed, starts, open := cut(s.open)
	pieces := s.take(closed, starts)
	s.fence = open
	s.seen = bytes.LastIndexByte(s.open, '\n') + 1
	return pieces
}

// fenceClosed looks at the complete lines that are new for the closing fence.
func (s *Stream) fenceClosed() bool {
	for {
		i := bytes.IndexByte(s.open[s.seen:], '\n')
		if i < 0 {
			return false
		}
		line := s.open[s.seen : s.seen+i]
		s.seen += i + 1
		if s.fence.closes(line) {
			return true
		}
	}
}

// take moves the first n bytes out, cut at starts.
func (s *Stream) take(n int, starts []int) []string {
	if n == 0 {
		return nil
	}
	var pieces []string
	from := 0
	for _, at := range append(starts, n) {
		if at > from && at <= n {
			pieces = append(pieces, string(s.open[from:at]))
			from = at
		}
	}
	for _, p := range pieces {
		s.collect(p)
	}
	s.open = slices.Delete(s.open, 0, n)
	s.tail = tailCache{stale: true}
	return pieces
}

func (s *Stream) collect(piece string) {
	if !strings.Contains(piece, "]:") {
		return
	}
	_, refs := parse([]byte(piece), nil)
	for _, r := range refs {
		if s.refs == nil {
			s.refs = Refs{}
		}
		key := strings.ToLower(string(r.Label()))
		if _, dup := s.refs[key]; !dup {
			s.refs[key] = r
		}
	}
}

// Finish closes what is open and returns it.
func (s *Stream) Finish() []string {
	if len(s.open) == 0 {
		return nil
	}
	if s.open[len(s.open)-1] != '\n' {
		s.open = append(s.open, '\n')
	}
	closed, starts, _ := cut(s.open)
	rest := len(s.open)
	pieces := s.take(rest, append(starts, closed))
	s.fence, s.seen = nil, 0
	return pieces
}

// tailCache keeps the rows of the tail between frames. Of an open code block
// it keeps the rows of complete lines for good, so that a frame costs what is
// new and not what is there.
type tailCache struct {
	stale bool
	width int
	sheet *style.Sheet
	rows  []string
	fixed int // rows of complete code lines
	done  int // bytes of the tail that those rows show
}

// maxTail is the size above which an open tail goes without highlighting: it
// would be coloured again for every frame.
const maxTail = 8 << 10

// TailRows renders the tail.
func (s *Stream) TailRows(o Options) []string {
	c := &s.tail
	if !c.stale && c.width == o.Width && c.sheet == o.Sheet {
		return c.rows
	}
	if c.width != o.Width || c.sheet != o.Sheet {
		*c = tailCache{width: o.Width, sheet: o.Sheet}
	}
	c.stale = false
	if s.fence == nil {
		o.Plain = o.Plain || len(s.open) > maxTail
		o.Refs = s.refs
		c.rows, c.fixed, c.done = Render(string(s.open), o), 0, 0
		return c.rows
	}
	c.rows = c.rows[:c.fixed]
	c.done = max(c.done, s.fence.body)
	sgr := o.Sheet.SGR(style.CodeBlock)
	w := screen.Wrapper{Width: max(o.Width-2, 1), Hard: true}
	add := func(line []byte) {
		for _, row := range w.Rows([]screen.Span{{Text: string(line), SGR: sgr}}) {
			c.rows = append(c.rows, strings.TrimRight("  "+row, " "))
		}
	}
	for c.done <= len(s.open) {
		i := bytes.IndexByte(s.open[c.done:], '\n')
		if i < 0 {
			break
		}
		add(s.open[c.done : c.done+i])
		c.done += i + 1
	}
	c.fixed = len(c.rows)
	if c.done < len(s.open) {
		add(s.open[c.done:])
	}
	return c.rows
}

// Long reports whether a closed piece is code of so many lines that colouring
// it would be felt, and better be done beside the screen.
func Long(piece string) bool {
	return len(piece) > 12<<10 && strings.Count(piece, "\n") > 300 && strings.Contains(piece[:min(len(piece), 8)], "```")
}

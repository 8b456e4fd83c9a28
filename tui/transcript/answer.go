package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patriceckhart/zot/tui/markdown"
	"github.com/patriceckhart/zot/tui/screen"
	"github.com/patriceckhart/zot/tui/style"
)

// answer is a message of the model while it is written.
type answer struct {
	stream  markdown.Stream
	cleaner screen.Cleaner
	src     strings.Builder // all of it, cleaned
	tail    *cell           // the open block; or nil before the first text
	thought *thought
	refs    markdown.Refs
	done    bool
	note    bool // it is no message: it goes with the notes
}

// block is one closed block of an answer.
type block struct {
	src string
	of  *answer
}

func (b *block) text() string { return b.src }

func (b *block) refs() markdown.Refs {
	if b.of == nil {
		return nil
	}
	return b.of.refs
}

func (b *block) draw(_ *cell, d drawing) []string {
	return markdown.Render(b.src, markdown.Options{Width: d.width, Sheet: d.sheet, Refs: b.refs(), Plain: markdown.Long(b.src)})
}

func (b *block) coloured(d drawing) []string {
	return markdown.Render(b.src, markdown.Options{Width: d.width, Sheet: d.sheet, Refs: b.refs()})
}

// tail is the block that is being written.
type tail struct{ of *answer }

func (a tail) text() string { return a.of.stream.Tail() }

func (a tail) draw(_ *cell, d drawing) []string {
	rows := a.of.stream.TailRows(markdown.Options{Width: d.width, Sheet: d.sheet})
	return rows[:len(rows):len(rows)]
}

// AnswerStart begins a message of the model.
func (t *Transcript) AnswerStart() {
	t.endAnswer()
	t.answer, t.unended = &answer{}, nil
}

func (t *Transcript) current() *answer {
	if t.answer == nil {
		t.answer = &answer{}
	}
	return t.answer
}

// Text adds a piece of the answer.
func (t *Transcript) Text(delta string) {
	a := t.current()
	t.endThought()
	t.write(a, a.cleaner.Write(delta))
}

func (t *Transcript) write(a *answer, text string) {
	if text == "" {
		return
	}
	a.src.WriteString(text)
	if a.tail == nil {
		a.tail = t.add(&cell{content: tail{a}, owner: a, note: a.note, gap: true})
	}
	t.place(a, a.stream.Append(text))
	a.tail.changed()
	t.touch()
}

// place puts closed blocks before the tail. An anchor in the tail moves to the
// first of them: their rows are those that the tail had.
func (t *Transcript) place(a *answer, pieces []string) {
	first := true
	for _, p := range pieces {
		c := t.insert(a.tail.index, &cell{content: &block{src: p, of: a}, owner: a, note: a.note, gap: true})
		if first && t.anchor == a.tail {
			t.anchor = c
		}
		first = false
	}
	if len(pieces) > 0 {
		a.tail.changed()
	}
}

// endAnswer closes the message that is being written, if any.
func (t *Transcript) endAnswer() {
	a := t.answer
	if a == nil {
		return
	}
	t.endThought()
	t.answer, t.unended = nil, a
	t.finish(a)
}

func (t *Transcript) finish(a *answer) {
	if a.done || a.tail == nil {
		a.done = true
		return
	}
	a.done = true
	t.write(a, a.cleaner.Flush())
	t.place(a, a.stream.Finish())
	a.refs = a.stream.Refs()
	tail := a.tail
	if t.anchor == tail {
		t.anchor, t.row = nil, 0
	}
	t.remove(func(c *cell) bool { return c == tail })
	if len(a.refs) > 0 { // a definition may come after its use
		for _, c := range t.cells {
			if c.owner == a {
				c.changed()
			}
		}
	}
}

// AnswerEnd closes the message with the text that the user may see: an
// interceptor may have withheld or replaced what was streamed.
func (t *Transcript) AnswerEnd(visible string, suppressed bool, reason, by string) {
	a := t.answer
	if a == nil { // something was said in between, which closed it
		a = t.unended
	}
	if a == nil {
		a = &answer{}
	}
	t.endThought()
	t.answer, t.unended = nil, nil
	clean := screen.Clean(visible)
	if suppressed {
		clean = ""
	}
	if strings.TrimSpace(a.src.String()) == strings.TrimSpace(clean) {
		t.finish(a)
	} else {
		t.remove(func(c *cell) bool { return c.owner == a && isText(c) })
		a.src.Reset() // what was withheld must not be found by a copy either
		b := &answer{}
		t.write(b, clean)
		t.finish(b)
	}
	if suppressed {
		t.Mark("", strings.TrimSpace(fmt.Sprintf("answer withheld by %s: %s", orHost(screen.Line(by)), screen.Line(reason))))
	} else if by != "" {
		t.Mark("", "answer changed by "+screen.Line(by))
	}
}

func isText(c *cell) bool {
	switch c.content.(type) {
	case tail, *block:
		return true
	}
	return false
}

func orHost(name string) string {
	if name == "" {
		return "an extension"
	}
	return name
}

// thought is what a model thinks aloud.
type thought struct {
	src     strings.Builder
	cleaner screen.Cleaner
	open    bool
	cell    *cell
}

// foldedThought is how many rows of a thought are shown while it goes on.
const foldedThought = 3

// Thought adds a piece of what the model thinks aloud.
func (t *Transcript) Thought(delta string) {
	a := t.current()
	if a.thought == nil {
		a.thought = &thought{open: true}
		a.thought.cell = t.add(&cell{content: a.thought, owner: a, gap: true})
	}
	a.thought.src.WriteString(a.thought.cleaner.Write(delta))
	a.thought.cell.changed()
	t.touch()
}

func (t *Transcript) endThought() {
	if t.answer == nil || t.answer.thought == nil {
		return
	}
	th := t.answer.thought
	th.open = false
	th.cell.changed()
	t.answer.thought = nil
}

func (th *thought) text() string { return th.src.String() }

func (th *thought) draw(_ *cell, d drawing) []string {
	s := d.sheet
	src := strings.TrimSpace(th.src.String())
	if src == "" || (!d.opt.ShowThinking && !d.unfolded) {
		return nil
	}
	word := "thought"
	if th.open {
		word = "thinking"
	}
	rows := screen.Wrapper{Width: d.width, First: screen.Span{Text: "  "}, Rest: screen.Span{Text: "  "}}.
		Rows([]screen.Span{s.Span(style.Thinking, src)})
	head := s.Paint(style.Thinking, word)
	if !d.unfolded {
		if th.open && len(rows) > foldedThought {
			rows = rows[len(rows)-foldedThought:]
		} else if !th.open {
			head = s.Paint(style.Thinking, screen.Fit(word+": "+strings.Join(strings.Fields(src), " "), max(d.width-1, 1), s.Glyphs.Ellipsis))
			rows = nil
		}
	}
	return slices.Insert(rows, 0, screen.Fit(head, d.width, ""))
}

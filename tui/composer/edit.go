package composer

import "unicode"

// A Step is an editing command.
type Step string

// The steps.
const (
	Left       Step = "left"
	Right      Step = "right"
	WordLeft   Step = "word-left"
	WordRight  Step = "word-right"
	LineStart  Step = "line-start"
	LineEnd    Step = "line-end"
	Start      Step = "start"
	End        Step = "end"
	Up         Step = "up"
	Down       Step = "down"
	Backspace  Step = "backspace"
	Delete     Step = "delete"
	KillWord   Step = "kill-word"       // the word before the caret
	KillAhead  Step = "kill-word-ahead" // the word after it
	KillToEnd  Step = "kill-to-end"
	KillToHome Step = "kill-to-start"
	Yank       Step = "yank"
	YankPop    Step = "yank-pop" // the kill before the one just yanked
	Undo       Step = "undo"
	Redo       Step = "redo"
	Newline    Step = "newline"
)

// Steps lists all of them.
var Steps = []Step{Left, Right, WordLeft, WordRight, LineStart, LineEnd, Start, End, Up, Down, Backspace, Delete,
	KillWord, KillAhead, KillToEnd, KillToHome, Yank, YankPop, Undo, Redo, Newline}

// Do performs a step. It reports false where the step has nothing to do: up in
// the first row, down in the last.
func (c *Composer) Do(s Step) bool {
	yanked, killing := c.yanked, c.killing
	c.yanked, c.killing = 0, false
	if s != Up && s != Down {
		c.goal = -1
	}
	if s != Backspace {
		c.typing = false
	}
	switch s {
	case Left:
		return c.move(c.caret - 1)
	case Right:
		return c.move(c.caret + 1)
	case WordLeft:
		return c.move(c.wordLeft())
	case WordRight:
		return c.move(c.wordRight())
	case LineStart:
		return c.move(c.lineStart())
	case LineEnd:
		return c.move(c.lineEnd())
	case Start:
		return c.move(0)
	case End:
		return c.move(len(c.buf))
	case Up:
		return c.vertical(-1)
	case Down:
		return c.vertical(1)
	case Backspace:
		return c.cut(c.caret-1, c.caret)
	case Delete:
		return c.cut(c.caret, c.caret+1)
	case Newline:
		c.save()
		c.insert([]glyph{{text: "\n"}})
		return true
	case Undo, Redo:
		return c.travel(s)
	case Yank:
		return c.yank(len(c.kills)-1, 0)
	case YankPop:
		return c.yankPop(yanked)
	}
	return c.killStep(s, killing)
}

func (c *Composer) move(to int) bool {
	to = min(max(to, 0), len(c.buf))
	moved := to != c.caret
	c.caret = to
	return moved
}

func (c *Composer) cut(from, to int) bool {
	if from < 0 || to > len(c.buf) || from >= to {
		return false
	}
	if !c.typing {
		c.save()
		c.typing = true
	}
	c.remove(from, to)
	return true
}

func (c *Composer) remove(from, to int) []glyph {
	gone := append([]glyph(nil), c.buf[from:to]...)
	c.buf = append(append([]glyph(nil), c.buf[:from]...), c.buf[to:]...)
	c.caret = from
	return gone
}

func (g glyph) space() bool {
	return g.token == nil && (g.text == "\n" || g.text == " " || g.text == "\t")
}

// word reports whether g is of a word; punctuation is not, so that words of a
// path are stepped over one at a time.
func (g glyph) word() bool {
	if g.token != nil {
		return true
	}
	for _, r := range g.text {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
	}
	return false
}

func (c *Composer) wordLeft() int {
	i := c.caret
	for i > 0 && !c.buf[i-1].word() {
		i--
	}
	for i > 0 && c.buf[i-1].word() {
		i--
		if c.buf[i].token != nil {
			break
		}
	}
	return i
}

func (c *Composer) wordRight() int {
	i := c.caret
	for i < len(c.buf) && !c.buf[i].word() {
		i++
	}
	for i < len(c.buf) && c.buf[i].word() {
		i++
		if c.buf[i-1].token != nil {
			break
		}
	}
	return i
}

func (c *Composer) lineStart() int {
	i := c.caret
	for i > 0 && c.buf[i-1].text != "\n" {
		i--
	}
	return i
}

func (c *Composer) lineEnd() int {
	i := c.caret
	for i < len(c.buf) && c.buf[i].text != "\n" {
		i++
	}
	return i
}

func (c *Composer) killStep(s Step, chained bool) bool {
	from, to := c.caret, c.caret
	switch s {
	case KillWord:
		// A word for this one ends at white space, as in a shell.
		for from > 0 && c.buf[from-1].space() {
			from--
		}
		for from > 0 && !c.buf[from-1].space() {
			from--
		}
	case KillAhead:
		to = c.wordRight()
	case KillToEnd:
		if to = c.lineEnd(); to == c.caret && to < len(c.buf) {
			to++ // at the end of a line it joins the next one
		}
	case KillToHome:
		if from = c.lineStart(); from == c.caret && from > 0 {
			from--
		}
	}
	if from == to {
		return false
	}
	c.save()
	backward := to == c.caret
	gone := c.remove(from, to)
	if n := len(c.kills); chained && n > 0 {
		if backward {
			c.kills[n-1] = append(gone, c.kills[n-1]...)
		} else {
			c.kills[n-1] = append(c.kills[n-1], gone...)
		}
	} else {
		c.kills = append(c.kills, gone)
		if len(c.kills) > 20 {
			c.kills = c.kills[1:]
		}
	}
	c.killing = true
	return true
}

func (c *Composer) yank(i, replace int) bool {
	if i < 0 || i >= len(c.kills) {
		return false
	}
	c.save()
	if replace > 0 {
		c.remove(c.caret-replace, c.caret)
	}
	text := append([]glyph(nil), c.kills[i]...)
	c.insert(text)
	c.yanked = len(text)
	return true
}

func (c *Composer) yankPop(yanked int) bool {
	if yanked == 0 || len(c.kills) < 2 {
		return false
	}
	last := c.kills[len(c.kills)-1]
	c.kills = append([][]glyph{last}, c.kills[:len(c.kills)-1]...)
	return c.yank(len(c.kills)-1, yanked)
}

func (c *Composer) travel(s Step) bool {
	from, to := &c.undo, &c.redo
	if s == Redo {
		from, to = to, from
	}
	if len(*from) == 0 {
		return false
	}
	last := (*from)[len(*from)-1]
	*from = (*from)[:len(*from)-1]
	*to = append(*to, state{c.buf, c.caret})
	c.buf, c.caret = last.buf, last.caret
	return true
}

// ReplaceBefore puts text in place of the last n glyphs before the caret; a
// completion uses it.
func (c *Composer) ReplaceBefore(n int, text string) {
	c.save()
	c.remove(max(c.caret-n, 0), c.caret)
	c.insert(glyphs(text))
}

package transcript

import "strings"

// View returns exactly height rows.
func (t *Transcript) View(height int) []string {
	t.height = height
	if height <= 0 {
		return nil
	}
	out := make([]string, 0, height)
	if t.anchor != nil {
		out = t.from(out, height)
	}
	if t.anchor == nil {
		out = t.tail(out[:0], height)
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

// from fills out with rows from the anchor on. If the end comes before the
// screen is full, the view follows the end again.
func (t *Transcript) from(out []string, height int) []string {
	t.settle()
	if t.anchor == nil {
		return out
	}
	skip := t.row
	last := t.anchor.index
	for i := t.anchor.index; i < len(t.cells) && len(out) < height; i++ {
		rows := t.rowsOf(t.cells[i])
		skip = min(skip, len(rows))
		out = append(out, rows[skip:min(len(rows), skip+height-len(out))]...)
		skip, last = 0, i
	}
	if len(out) < height {
		t.Bottom()
		return out
	}
	t.release(t.anchor.index, last)
	return out
}

// settle moves an anchor past the end of its cell to the cell where that row
// is now. Blocks of an answer that close take their rows out of the tail.
func (t *Transcript) settle() {
	for t.anchor != nil {
		rows := t.rowsOf(t.anchor)
		if t.row < len(rows) || (t.row == 0 && len(rows) > 0) {
			return
		}
		t.row -= len(rows)
		if t.anchor.index+1 >= len(t.cells) {
			t.Bottom()
			return
		}
		t.anchor = t.cells[t.anchor.index+1]
	}
}

func (t *Transcript) tail(out []string, height int) []string {
	first := len(t.cells)
	n := 0
	for first > 0 && n < height {
		first--
		n += len(t.rowsOf(t.cells[first]))
	}
	skip := max(n-height, 0)
	for _, c := range t.cells[first:] {
		rows := t.rowsOf(c)
		k := min(skip, len(rows))
		out = append(out, rows[k:]...)
		skip -= k
	}
	t.release(first, len(t.cells))
	return out
}

// Bottom shows the end, and goes on showing it as it grows.
func (t *Transcript) Bottom() { t.anchor, t.row, t.newBelow = nil, 0, false }

// Top shows the start.
func (t *Transcript) Top() {
	if len(t.cells) > 0 {
		t.anchor, t.row = t.cells[0], 0
	}
}

// Following reports whether the end is shown.
func (t *Transcript) Following() bool { return t.anchor == nil }

// NewBelow reports whether something came below what is being read.
func (t *Transcript) NewBelow() bool { return t.newBelow }

// Scroll moves by n rows; up is negative.
func (t *Transcript) Scroll(n int) {
	if n < 0 {
		t.up(-n)
	} else if t.anchor != nil {
		t.row += n
		t.settle()
		if t.anchor != nil {
			t.clamp()
		}
	}
}

// Page moves by n screens, less two rows to read on from.
func (t *Transcript) Page(n int) { t.Scroll(n * max(t.height-2, 1)) }

func (t *Transcript) up(n int) {
	if t.anchor == nil {
		first, row := t.firstOfTail()
		if first < 0 {
			return // everything is on screen
		}
		t.anchor, t.row = t.cells[first], row
	}
	for t.row -= n; t.row < 0; {
		if t.anchor.index == 0 {
			t.row = 0
			return
		}
		t.anchor = t.cells[t.anchor.index-1]
		t.row += len(t.rowsOf(t.anchor))
	}
}

// firstOfTail is where the last screen begins; -1 where all fits on it.
func (t *Transcript) firstOfTail() (index, row int) {
	n := 0
	for i := len(t.cells) - 1; i >= 0; i-- {
		n += len(t.rowsOf(t.cells[i]))
		if n > t.height {
			return i, n - t.height
		}
	}
	return -1, 0
}

// clamp follows the end once the anchor is within the last screen.
func (t *Transcript) clamp() {
	if t.height == 0 { // nothing was drawn yet
		t.Bottom()
		return
	}
	n := -t.row
	for i := t.anchor.index; i < len(t.cells); i++ {
		if n += len(t.rowsOf(t.cells[i])); n > t.height {
			return
		}
	}
	t.Bottom()
}

// Find moves to the next cell, up or down from what is on screen, whose text
// has query in it, letter case aside. It reports whether there is one.
func (t *Transcript) Find(query string, down bool) bool {
	query = strings.ToLower(query)
	if query == "" || len(t.cells) == 0 {
		return false
	}
	at := len(t.cells)
	if t.anchor != nil {
		at = t.anchor.index
	}
	step := -1
	if down {
		step = 1
	}
	for i := at + step; i >= 0 && i < len(t.cells); i += step {
		if strings.Contains(strings.ToLower(t.cells[i].text()), query) {
			t.show(i, query)
			return true
		}
	}
	return false
}

// show puts the row of cell i that holds query near the top.
func (t *Transcript) show(i int, query string) {
	t.anchor, t.row = t.cells[i], 0
	if query == "" {
		return
	}
	for n, row := range t.rowsOf(t.cells[i]) {
		if strings.Contains(strings.ToLower(plain(row)), query) {
			t.row = max(n-1, 0)
			return
		}
	}
}

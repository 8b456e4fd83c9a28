package builtin

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A change replaces the bytes from start to end of the original file.
type change struct {
	start, end int
	text       []byte
	edit       int // which edit asked for it, from 0
}

// A plan is a set of changes that do not overlap, in the order of the file.
type plan struct {
	changes []change
	edits   int
	notes   []string // what the model should know of how its text was found
}

// planEdits looks every edit up in data. The error tells which edit cannot be
// done and why, with line numbers; there is no plan then.
func planEdits(data []byte, edits []replacement) (plan, error) {
	enc := detect(data)
	p := plan{edits: len(edits)}
	for i, e := range edits {
		if err := p.add(data, enc, i, e); err != nil {
			if len(edits) > 1 {
				err = fmt.Errorf("edit %d of %d: %w", i+1, len(edits), err)
			}
			return plan{}, err
		}
	}
	slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(p.changes); i++ {
		if a, b := p.changes[i-1], p.changes[i]; b.start < a.end {
			return plan{}, fmt.Errorf("edits %d and %d overlap at line %d: join them into one edit", min(a.edit, b.edit)+1, max(a.edit, b.edit)+1, lineAt(data, b.start))
		}
	}
	return p, nil
}

// add finds one edit and plans its changes.
func (p *plan) add(data []byte, enc encoding, i int, e replacement) error {
	old, err := enc.encode(e.Old)
	if err != nil {
		return notFound(data, enc, e)
	}
	text, err := enc.encode(e.New)
	if err != nil {
		return fmt.Errorf("newText: %w", err)
	}
	m := find(data, old)
	if len(m.spans) == 0 {
		return notFound(data, enc, e)
	}
	if len(m.spans) > 1 && !e.All {
		return fmt.Errorf("oldText is there %d times%s, at lines %s: add lines around it until it is unique, or set replaceAll", len(m.spans), m.by.words(), lineList(data, m.spans))
	}
	for _, s := range m.spans {
		p.changes = append(p.changes, change{s.start, s.end, dress(data, s, m.by, old, text), i})
	}
	if m.by != exactly {
		p.notes = append(p.notes, fmt.Sprintf("edit %d was found%s", i+1, m.by.words()))
	}
	if e.All {
		p.notes = append(p.notes, fmt.Sprintf("edit %d replaced %s, at lines %s", i+1, count(len(m.spans), "occurrence"), lineList(data, m.spans)))
	}
	return nil
}

// apply makes the changes. Every byte outside of them is copied.
func (p plan) apply(data []byte) []byte {
	var out []byte
	at := 0
	for _, c := range p.changes {
		out = append(append(out, data[at:c.start]...), c.text...)
		at = c.end
	}
	return append(out, data[at:]...)
}

func (p plan) summary() string {
	s := count(p.edits, "edit")
	if len(p.changes) != p.edits {
		s += ", " + count(len(p.changes), "place")
	}
	return s
}

// lineList names the lines where spans start: "3, 9, 20".
func lineList(data []byte, spans []span) string {
	const most = 20
	var lines []string
	at, line := 0, 1
	for i, s := range spans {
		if i == most {
			return strings.Join(lines, ", ") + fmt.Sprintf(" and %d more", len(spans)-most)
		}
		line += bytes.Count(data[at:s.start], []byte{'\n'})
		at = s.start
		lines = append(lines, strconv.Itoa(line))
	}
	return strings.Join(lines, ", ")
}

// dress gives newText the line ends of the place it goes to, and with an
// indentation that did not fit, that of the place too. Lines that the edit
// leaves as they are (the same in oldText and newText) keep the bytes of the
// file, so that in a file of mixed ends, too, only what changes changes.
func dress(data []byte, s span, by how, old, text []byte) []byte {
	if by == exactly && bytes.IndexByte(old, '\r') >= 0 {
		return text // the model saw and spelled the ends, and may mean to change them
	}
	region := data[s.start:s.end]
	rows := bytes.SplitAfter(region, []byte{'\n'})
	was, now := splitLines(old), splitLines(text)
	shift := indentShift(by, rows, was)
	if len(rows) != len(was) { // cannot happen for a match, which is line by line
		return text
	}
	head := 0
	for head < len(was)-1 && head < len(now)-1 && bytes.Equal(was[head], now[head]) {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && bytes.Equal(was[len(was)-1-tail], now[len(now)-1-tail]) {
		tail++
	}
	var out []byte
	out = append(out, bytes.Join(rows[:head], nil)...)
	pos := s.start + len(out)
	end := endNear(data, pos, text)
	for i := head; i < len(now)-tail; i++ {
		out = append(out, shift(now[i])...)
		if i == len(now)-1 {
			break // the last one has no end
		}
		if i < len(was)-tail {
			end = cmp.Or(endOf(rows[i]), end)
		}
		out = append(out, end...)
	}
	return append(out, bytes.Join(rows[len(rows)-tail:], nil)...)
}

// splitLines splits at line ends of both kinds and drops them; there is always
// a last line, which has no end.
func splitLines(b []byte) [][]byte {
	return bytes.Split(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte{'\n'})
}

// endOf is the line end that row carries, or "".
func endOf(row []byte) string {
	switch {
	case bytes.HasSuffix(row, []byte("\r\n")):
		return "\r\n"
	case bytes.HasSuffix(row, []byte("\n")):
		return "\n"
	}
	return ""
}

// endNear is the line end used at pos: of the line there, else of the one
// before, else as the new text itself has it.
func endNear(data []byte, pos int, text []byte) string {
	if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
		return endOf(data[:pos+i+1])
	}
	if i := bytes.LastIndexByte(data[:pos], '\n'); i >= 0 {
		return endOf(data[:i+1])
	}
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

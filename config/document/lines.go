package document

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// lines turns offsets into places.
type lines struct {
	data   []byte
	starts []int // offset of the first byte of each line
}

func newLines(data []byte) *lines {
	l := &lines{data: data, starts: []int{0}}
	for i, b := range data {
		if b == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

func (l *lines) pos(offset int) Pos {
	offset = min(offset, len(l.data))
	line := sort.SearchInts(l.starts, offset+1)
	return Pos{Line: line, Column: utf8.RuneCount(l.data[l.starts[line-1]:offset]) + 1}
}

// offset is the inverse of pos.
func (l *lines) offset(p Pos) int {
	if p.Line < 1 || p.Line > len(l.starts) {
		return len(l.data)
	}
	at := l.starts[p.Line-1]
	for range p.Column - 1 {
		_, n := utf8.DecodeRune(l.data[at:])
		at += n
	}
	return min(at, len(l.data))
}

// end is the offset just after the text of a line, its line end not counted.
func (l *lines) end(line int) int {
	if line >= len(l.starts) {
		return len(l.data)
	}
	at := l.starts[line] - 1
	if at > l.starts[line-1] && l.data[at-1] == '\r' {
		at--
	}
	return at
}

func lineText(data []byte, line int) string {
	for ; line > 1; line-- {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return ""
		}
		data = data[i+1:]
	}
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		data = data[:i]
	}
	return string(bytes.TrimRight(data, "\r"))
}

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

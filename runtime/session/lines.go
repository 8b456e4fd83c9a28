package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line in bytes that is read. Longer ones are passed
// over without being held in memory.
const maxLine = 64 << 20

// A line is one line of a file, without its end.
type line struct {
	number int // from 1
	data   []byte
	size   int64 // bytes in the file, its end included
	long   bool  // longer than maxLine; data is nil
	torn   bool  // the last line, and it has no end
}

// A lineReader reads a file line by line. The data of a line is valid until
// the next one is read.
type lineReader struct {
	r      *bufio.Reader
	max    int
	number int
	buf    []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 256<<10), max: maxLine}
}

// next returns the next line, or io.EOF.
func (l *lineReader) next() (line, error) {
	l.number++
	out := line{number: l.number}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		out.size += int64(len(part))
		if err == nil && len(l.buf) == 0 && !out.long {
			out.data = trimEnd(part) // the usual case needs no copy
			return out, nil
		}
		if out.long = out.long || len(l.buf)+len(part) > l.max; out.long {
			l.buf = l.buf[:0]
		} else {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && out.size == 0:
			return out, io.EOF
		case err == io.EOF:
			out.torn = true
		case err != nil:
			return out, err
		}
		if !out.long {
			out.data = trimEnd(l.buf)
		}
		return out, nil
	}
}

// trimEnd drops the line's end, and the zeros that a crash may have left.
func trimEnd(b []byte) []byte { return bytes.Trim(b, " \t\r\n\x00") }

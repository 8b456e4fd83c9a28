package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	// maxLine is how many bytes of one line are shown.
	maxLine = 2000
	// maxCounted is how far behind the shown text lines still are counted.
	maxCounted = 1 << 30
)

// A window is the part of a file that was asked for.
type window struct {
	offset int // the first line, from 1
	lines  int // at most so many
	bytes  int
}

// window reads offset and limit. A limit above the tool's is the tool's.
func (a args) window(o Options) (window, error) {
	w := window{offset: 1, lines: o.MaxLines, bytes: o.MaxBytes}
	offset, err := a.whole("offset", 0)
	if err != nil {
		return w, err
	}
	limit, err := a.whole("limit", 0)
	if err != nil {
		return w, err
	}
	w.offset = max(offset, 1)
	if limit > 0 {
		w.lines = min(limit, o.MaxLines)
	}
	return w, nil
}

// A page is what was found in a window.
type page struct {
	text        []byte
	first, last int // the lines shown; 0 if none
	total       int // lines in the file, or as far as they were counted
	whole       bool
	cut         []int // lines that were cut for their length
	crlf, lf    int   // ends of the lines shown
	open        bool  // the last line of the file, shown, has no end
}

// readPage reads r up to the end of the window and counts what follows. Of a
// long line it keeps no more than it shows.
func readPage(ctx context.Context, r io.Reader, w window) (page, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var pg page
	for {
		if err := ctx.Err(); err != nil {
			return pg, err
		}
		line, n, ended, err := nextLine(br, maxLine)
		if err != nil {
			return pg, err
		}
		if n == 0 && !ended {
			pg.whole = true
			return pg, nil
		}
		pg.total++
		if pg.total < w.offset {
			continue
		}
		if pg.first > 0 && (pg.total-w.offset >= w.lines || len(pg.text)+len(line)+1 > w.bytes) {
			return pg, pg.countRest(ctx, br)
		}
		pg.add(line, n, ended)
	}
}

// add shows one line, of which n bytes were in the file.
func (pg *page) add(line []byte, n int, ended bool) {
	if pg.first == 0 {
		pg.first = pg.total
	}
	pg.last = pg.total
	whole := n == len(line)
	if whole && ended && bytes.HasSuffix(line, []byte{'\r'}) {
		line = line[:len(line)-1]
		pg.crlf++
	} else if ended {
		pg.lf++
	}
	pg.text = append(pg.text, line...)
	if !whole {
		pg.cut = append(pg.cut, pg.total)
		pg.text = fmt.Appendf(pg.text, " [line cut: %s of %s left out]", size(int64(n-len(line))), size(int64(n)))
	}
	if ended {
		pg.text = append(pg.text, '\n')
	}
	pg.open = !ended
}

// nextLine reads one line and keeps its first keep bytes, to a character's
// end. n is its length without the newline; at the end of the input n is 0 and
// ended false.
func nextLine(br *bufio.Reader, keep int) (line []byte, n int, ended bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return nil, 0, false, err
		}
		ended = err == nil
		if ended {
			part = part[:len(part)-1]
		}
		n += len(part)
		if room := keep + utf8.UTFMax - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		if err == nil || errors.Is(err, io.EOF) {
			break
		}
	}
	if n > keep {
		for keep > 0 && keep > maxLine-utf8.UTFMax && !utf8.RuneStart(line[keep]) {
			keep--
		}
		line = line[:keep]
	}
	return line, n, ended, nil
}

// countRest counts the lines that follow the one just read.
func (pg *page) countRest(ctx context.Context, br *bufio.Reader) error {
	buf := make([]byte, 64<<10)
	last := byte('\n')
	for seen := 0; seen < maxCounted; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := br.Read(buf)
		pg.total += bytes.Count(buf[:n], []byte{'\n'})
		if n > 0 {
			last = buf[n-1]
		}
		seen += n
		if errors.Is(err, io.EOF) {
			if last != '\n' {
				pg.total++
			}
			pg.whole = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notes say what the text does not.
func (pg *page) notes() []string {
	var out []string
	if pg.first > 1 || pg.last < pg.total || !pg.whole {
		of := fmt.Sprint(pg.total)
		if !pg.whole {
			of = "more than " + of
		}
		part := fmt.Sprintf("lines %d-%d of %s", pg.first, pg.last, of)
		if pg.last < pg.total {
			part += fmt.Sprintf("; continue with offset %d", pg.last+1)
		}
		out = append(out, part)
	}
	if len(pg.cut) > 0 {
		out = append(out, fmt.Sprintf("%s cut; see line %d whole with bash: sed -n '%dp' FILE | fold -w %d", count(len(pg.cut), "long line"), pg.cut[0], pg.cut[0], maxLine))
	}
	switch {
	case pg.crlf > 0 && pg.lf > 0:
		out = append(out, "line ends are mixed, CRLF and LF; edit keeps each")
	case pg.crlf > 0:
		out = append(out, "line ends are CRLF; edit keeps them")
	}
	if pg.open && pg.last == pg.total {
		out = append(out, "no newline at the end of the file")
	}
	return out
}

// Package sse reads event streams (text/event-stream), the form in which model
// servers stream their answers.
//
//	r := sse.NewReader(body, sse.DefaultLimit)
//	for {
//		ev, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		…
//	}
//
// It reads what servers send rather than what they should: comments, any of
// the three line endings in any mixture, a byte order mark, events that have a
// name and no data, and a last event that no blank line follows.
package sse

import (
	"bytes"
	"fmt"
	"io"
)

// DefaultLimit is the number of bytes that one event may occupy. A whole file
// written in one tool call arrives as one event of some servers, so it is
// generous; its use is to stop a server that never ends a line.
const DefaultLimit = 64 << 20

// An Event is one dispatched event. Events without data are not dispatched:
// they are keep-alives.
type Event struct {
	Name string // the last "event:" field; empty where there was none
	// Data holds the "data:" lines joined with newlines. It is valid until the
	// next call of Next.
	Data []byte
	// Unfinished says that the stream ended where the blank line behind the
	// event should have been: it may have been cut in the middle of Data.
	Unfinished bool
}

// A TooLongError says that an event exceeded the reader's limit.
type TooLongError struct{ Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("an event of the stream is longer than %d bytes", e.Limit)
}

// A Reader reads events. It must not be used concurrently.
type Reader struct {
	src   io.Reader
	limit int

	buf      []byte
	pos, end int  // unread bytes are buf[pos:end]
	scanned  int  // bytes of them known to hold no line ending
	skipLF   bool // the last line ended with CR: an LF right here belongs to it
	started  bool
	err      error // what src ended with

	name string
	data []byte
	has  bool // a data line was seen in the current event
}

// NewReader returns a reader of src that refuses events of more than limit
// bytes; limit 0 means [DefaultLimit].
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{src: src, limit: limit, buf: make([]byte, 16<<10)}
}

// Next returns the next event that has data. It returns io.EOF at the end, a
// [TooLongError] where the limit was passed, or the error of the source; a
// source that fails loses the event it failed in.
func (r *Reader) Next() (Event, error) {
	r.reset()
	for {
		line, err := r.line()
		switch {
		case err == io.EOF && len(r.data) > 0:
			return Event{Name: r.name, Data: r.data, Unfinished: true}, nil
		case err != nil:
			return Event{}, err
		case len(line) > 0:
			if err := r.field(line); err != nil {
				return Event{}, err
			}
		case len(r.data) > 0:
			return Event{Name: r.name, Data: r.data}, nil
		default:
			r.reset()
		}
	}
}

func (r *Reader) reset() {
	r.name, r.data, r.has = "", r.data[:0], false
}

// field takes one line of the current event. Fields that no model server
// needs (id, retry) and unknown ones are passed over, as are comments.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "event":
		r.name = string(value)
	case "data":
		if len(r.data)+len(value) >= r.limit {
			return r.fail(&TooLongError{r.limit})
		}
		if r.has && (len(r.data) > 0 || len(value) > 0) {
			r.data = append(r.data, '\n')
		}
		r.has = true
		r.data = append(r.data, value...)
	}
	return nil
}

func (r *Reader) fail(err error) error {
	r.err, r.pos, r.end, r.scanned = err, 0, 0, 0
	return err
}

// line returns the next line without its ending, or the rest of the stream
// that no ending follows. The slice is valid until the next call.
func (r *Reader) line() ([]byte, error) {
	for {
		if r.skipLF && r.pos < r.end {
			if r.buf[r.pos] == '\n' {
				r.pos++
			}
			r.skipLF = false
		}
		if i := r.ending(); i >= 0 {
			line := r.buf[r.pos : r.pos+i]
			r.skipLF = r.buf[r.pos+i] == '\r'
			r.pos += i + 1
			r.scanned = 0
			if len(line) > r.limit {
				return nil, r.fail(&TooLongError{r.limit})
			}
			return r.first(line), nil
		}
		switch {
		case r.end-r.pos > r.limit:
			return nil, r.fail(&TooLongError{r.limit})
		case r.err == io.EOF && r.pos < r.end:
			line := r.buf[r.pos:r.end]
			r.pos, r.scanned = r.end, 0
			return r.first(line), nil
		case r.err != nil:
			return nil, r.err
		}
		r.fill()
	}
}

// first strips a byte order mark from the stream's first line.
func (r *Reader) first(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}

// ending returns the offset of the next line ending from pos, or -1.
func (r *Reader) ending() int {
	unread := r.buf[r.pos+r.scanned : r.end]
	lf := bytes.IndexByte(unread, '\n')
	if lf >= 0 {
		unread = unread[:lf]
	}
	cr := bytes.IndexByte(unread, '\r')
	switch {
	case cr >= 0:
		return r.scanned + cr
	case lf >= 0:
		return r.scanned + lf
	}
	r.scanned = r.end - r.pos
	return -1
}

// fill reads once, making room first.
func (r *Reader) fill() {
	if r.pos > 0 {
		copy(r.buf, r.buf[r.pos:r.end])
		r.end -= r.pos
		r.pos = 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

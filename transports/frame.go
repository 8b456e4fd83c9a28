package transports

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

const (
	readBuffer = 64 << 10 // what a Linux pipe holds, so one read can empty it
	headBytes  = 4 << 10  // of an over-long line, kept to find what it answered

	// skipFactor and skipTime bound how far the end of an over-long line is
	// looked for, in multiples of the limit and in time.
	skipFactor = 4
	skipTime   = 250 * time.Millisecond

	// slack is what a line may have beyond its limit until its end is seen: a
	// byte order mark and a carriage return, which do not count.
	slack = len(byteOrderMark) + 1
)

const byteOrderMark = "\xef\xbb\xbf"

// ErrNotOneLine refuses a frame that would be none or several on the other side.
var ErrNotOneLine = errors.New("a frame is one line that is not blank")

// A FrameReader cuts a stream into frames, by the rules that
// [Conn.ReadFrame] states. It starts no goroutine and reads no further than
// one buffer. After an error it returns that error again, but for
// os.ErrDeadlineExceeded: reading then goes on where it stopped.
type FrameReader struct {
	src  io.Reader
	buf  *bufio.Reader
	max  int
	held []byte // of a line whose rest had not come by the deadline
	err  error
}

// NewFrameReader reads frames of at most maxFrame bytes from r; 0 means
// [DefaultMaxFrame]. Where r has a SetReadDeadline, it is used to bound the
// search for the end of an over-long line.
func NewFrameReader(r io.Reader, maxFrame int) *FrameReader {
	limit := limitOrDefault(maxFrame)
	// A buffer no larger than a line may be, so that one that is over a small
	// limit shows at once and not when the buffer is full.
	size := min(readBuffer, limit+slack+1)
	return &FrameReader{src: r, buf: bufio.NewReaderSize(r, size), max: limit}
}

// ReadFrame returns the next frame, which the caller owns.
func (r *FrameReader) ReadFrame() ([]byte, error) {
	for r.err == nil {
		line, err := r.line()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		r.err = err
		if len(line) > 0 {
			return line, nil
		}
	}
	return nil, r.err
}

// line returns the next line, trimmed, perhaps empty. A last line without a
// terminator comes together with io.EOF.
func (r *FrameReader) line() ([]byte, error) {
	part, err := r.buf.ReadSlice('\n')
	if err == nil && len(part) <= r.max && r.held == nil { // the usual case: one copy and no more
		return bytes.Clone(trim(part)), nil
	}
	raw := r.held
	r.held = nil
	for {
		raw = append(raw, part...)
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		if len(raw) > r.max+slack {
			return nil, r.skip(raw)
		}
		part, err = r.buf.ReadSlice('\n')
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.held = raw
		return nil, err
	}
	line := trim(raw)
	ended := err == nil || errors.Is(err, io.EOF)
	if len(line) > r.max || len(bytes.TrimSuffix(raw, newline)) > r.max+slack {
		return nil, r.tooLong(raw, len(bytes.TrimSuffix(raw, newline)), !ended)
	}
	if !ended { // a part of a line before a failure is no frame
		return nil, err
	}
	return line, err
}

var newline = []byte{'\n'}

// skip looks for the end of an over-long line of which raw has come already.
func (r *FrameReader) skip(raw []byte) error {
	if d, ok := r.src.(interface{ SetReadDeadline(time.Time) error }); ok {
		// Nothing is read from this stream afterwards, so it stays set.
		_ = d.SetReadDeadline(time.Now().Add(skipTime))
	}
	size := len(raw)
	for size <= skipFactor*r.max {
		part, err := r.buf.ReadSlice('\n')
		size += len(part)
		if err == nil {
			return r.tooLong(raw, size-1, false)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.tooLong(raw, size, !errors.Is(err, io.EOF))
		}
	}
	return r.tooLong(raw, size, true)
}

func (r *FrameReader) tooLong(raw []byte, size int, partial bool) error {
	// A size past the search is cut, so that the error does not depend on how
	// the bytes happened to arrive.
	if most := skipFactor * r.max; size > most {
		size, partial = most, true
	}
	head := raw[:min(len(raw), headBytes)]
	return &FrameTooLongError{Limit: r.max, Size: size, Partial: partial, Head: bytes.Clone(head)}
}

// trim takes off what is no part of a frame: the terminator with carriage
// returns before it, byte order marks, and all of a blank line.
func trim(line []byte) []byte {
	line = bytes.TrimRight(line, "\r\n")
	for bytes.HasPrefix(line, []byte(byteOrderMark)) {
		line = line[len(byteOrderMark):]
	}
	if len(bytes.Trim(line, " \t\r")) == 0 {
		return nil
	}
	return line
}

// A FrameWriter writes frames to a stream, each with its newline.
type FrameWriter struct {
	dst io.Writer
	max int
	buf []byte
}

// NewFrameWriter writes frames of at most maxFrame bytes to w; 0 means
// [DefaultMaxFrame].
func NewFrameWriter(w io.Writer, maxFrame int) *FrameWriter {
	return &FrameWriter{dst: w, max: limitOrDefault(maxFrame)}
}

// WriteFrame writes the frame and a newline, a small one in a single write. A
// frame that is too long, blank, or more than one line is refused before any
// of it is written.
func (w *FrameWriter) WriteFrame(frame []byte) error {
	if err := CheckFrame(frame, w.max); err != nil {
		return err
	}
	if len(frame) >= readBuffer { // not worth a copy
		if _, err := w.dst.Write(frame); err != nil {
			return err
		}
		_, err := w.dst.Write(newline)
		return err
	}
	w.buf = append(append(w.buf[:0], frame...), '\n')
	_, err := w.dst.Write(w.buf)
	return err
}

// CheckFrame says whether frame may be written as one line within maxFrame
// bytes (0 means [DefaultMaxFrame]): nil, a *FrameTooLongError or
// [ErrNotOneLine].
func CheckFrame(frame []byte, maxFrame int) error {
	if limit := limitOrDefault(maxFrame); len(frame) > limit {
		head := bytes.Clone(frame[:min(len(frame), headBytes)])
		return &FrameTooLongError{Limit: limit, Size: len(frame), Head: head}
	}
	if bytes.IndexByte(frame, '\n') >= 0 || len(trim(frame)) == 0 {
		return ErrNotOneLine
	}
	return nil
}

func limitOrDefault(maxFrame int) int {
	if maxFrame <= 0 {
		return DefaultMaxFrame
	}
	return maxFrame
}

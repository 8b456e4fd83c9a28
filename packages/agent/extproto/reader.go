package extproto

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrFrameTooLong is wrapped by what [Reader.Next] returns for a line over
// [MaxFrame]. The stream is of no use after it.
var ErrFrameTooLong = errors.New("frame too long")

// A Reader cuts a stream into lines. A byte order mark at the start, a
// carriage return before a line's end and blank lines are passed over, because
// editors and shells of some platforms leave them.
//
// It is for the side of the extension, and for tests; zot reads through its
// transports.
type Reader struct {
	in    *bufio.Reader
	begun bool
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line without its terminator; the caller owns it. At
// the end of the stream it returns io.EOF, after a last line that had no
// terminator.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if !r.begun {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			r.begun = true
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line returns what came up to the next newline, and the error that ended the
// stream before it, if any. After an error other than io.EOF the part that
// came is dropped: half a frame is no frame.
func (r *Reader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		if size := len(bytes.TrimRight(line, "\r\n")); size > MaxFrame {
			return nil, fmt.Errorf("%w: a line of %d bytes or more, where %d are allowed", ErrFrameTooLong, size, MaxFrame)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return line, io.EOF
		default:
			return nil, err
		}
	}
}

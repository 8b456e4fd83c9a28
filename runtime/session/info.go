package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/patriceckhart/zot/runtime/message"
)

// What a listing reads of a file at the most, in bytes: its beginning and its
// end, 64 KiB together.
const (
	headSize = 32 << 10
	tailSize = 32 << 10
)

// Info is what a listing shows of a session.
type Info struct {
	Meta
	Path     string
	Modified time.Time
	Size     int64 // bytes of the file, blobs not counted
	// First and Last are the beginnings of the user's first and latest
	// messages, in one line. Last may be empty where it is far from the end of
	// a long file.
	First, Last string
	// Messages counts the messages, or is -1 where the file is too long to
	// know without reading it.
	Messages int
}

// Empty reports whether there is no message: such a session is not worth a
// line.
func (i Info) Empty() bool { return i.Messages == 0 }

// Name is what a listing calls the session: its title, or how it began.
func (i Info) Name() string {
	if i.Title != "" {
		return oneLine(i.Title)
	}
	if i.First != "" {
		return i.First
	}
	return i.ID
}

// CheckFolder returns a *FolderError unless the session belongs to cwd.
func (i Info) CheckFolder(cwd string) error {
	if i.Cwd == filepath.Clean(cwd) {
		return nil
	}
	info, err := os.Stat(i.Cwd)
	return &FolderError{ID: i.ID, Folder: i.Cwd, Cwd: cwd, Gone: err != nil || !info.IsDir()}
}

// A FolderError says that a session belongs to another folder than the current.
type FolderError struct {
	ID     string
	Folder string // where the session was held
	Cwd    string // the current one
	Gone   bool   // Folder is no folder any more
}

func (e *FolderError) Error() string {
	if e.Gone {
		return fmt.Sprintf("session %s was held in %q, which is gone; fork it to go on with it in %q", e.ID, e.Folder, e.Cwd)
	}
	return fmt.Sprintf("session %s was held in %q, not in %q; change to that folder, or fork it to go on here", e.ID, e.Folder, e.Cwd)
}

// Stat reads what a listing shows of a session.
func (st *Store) Stat(path string) (Info, error) {
	info, err := stat(path)
	if err != nil {
		return Info{}, fmt.Errorf("reading session %q: %w", path, err)
	}
	return info, nil
}

func stat(path string) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	if !fi.Mode().IsRegular() {
		return Info{}, errors.New("not a regular file")
	}
	s := &scan{info: Info{Path: path, Modified: fi.ModTime(), Size: fi.Size()}}
	if err := s.read(f, fi.Size()); err != nil {
		return Info{}, err
	}
	if s.info.ID == "" {
		return Info{}, errors.New("it is no session: it has no meta row at its beginning")
	}
	return s.info, nil
}

// A scan picks what an Info needs from the ends of a file.
type scan struct {
	info Info
}

func (s *scan) read(f io.ReaderAt, size int64) error {
	if size <= headSize+tailSize {
		all, err := readAt(f, 0, size)
		s.rows(all)
		return err
	}
	head, err := readAt(f, 0, headSize)
	if err != nil {
		return err
	}
	tail, err := readAt(f, size-tailSize, tailSize)
	if err != nil {
		return err
	}
	cut := bytes.LastIndexByte(head, '\n') + 1
	s.rows(head[:cut])
	s.partial(head[cut:])
	_, tail, _ = bytes.Cut(tail, []byte("\n"))
	s.rows(tail)
	s.info.Messages = -1
	return nil
}

func readAt(f io.ReaderAt, at, n int64) ([]byte, error) {
	buf := make([]byte, n)
	read, err := f.ReadAt(buf, at)
	if errors.Is(err, io.EOF) {
		err = nil // it became shorter meanwhile
	}
	return buf[:read], err
}

// How the rows begin that a listing shows nothing of, which are the most.
var (
	assistantStart = []byte(`{"type":"message","message":{"role":"assistant",`)
	toolStart      = []byte(`{"type":"message","message":{"role":"tool",`)
)

func (s *scan) rows(data []byte) {
	for l := range bytes.Lines(data) {
		l = bytes.Trim(l, " \t\r\n\x00")
		if bytes.HasPrefix(l, assistantStart) || bytes.HasPrefix(l, toolStart) {
			if json.Valid(l) {
				s.info.Messages++ // nothing in it is shown, so it need not be decoded
			}
			continue
		}
		r, err := decodeRow(l)
		if err != nil {
			continue // as loading does
		}
		switch r.Type {
		case rowMeta:
			s.info.Meta = r.Meta.after(s.info.Meta)
		case rowRename:
			s.info.Title = *r.Title
		case rowMessage:
			s.message(r.Message)
		}
	}
}

func (s *scan) message(w *messageWire) {
	s.info.Messages++
	if message.Role(w.Role) != message.User {
		return
	}
	for _, b := range w.Content {
		if b.Text != nil && b.CallID == nil {
			s.prompt(*b.Text)
			return
		}
	}
}

func (s *scan) prompt(text string) {
	if text = oneLine(text); text == "" {
		return
	}
	if s.info.First == "" {
		s.info.First = text
	}
	s.info.Last = text
}

// partial takes what it can from a row whose end was not read: a long first
// message begins in it.
func (s *scan) partial(part []byte) {
	if s.info.First != "" || !bytes.HasPrefix(part, []byte(`{"type":"message"`)) || !bytes.Contains(part, []byte(`"role":"user"`)) {
		return
	}
	_, rest, found := bytes.Cut(part, []byte(`"text":"`))
	if !found {
		return
	}
	rest = rest[:min(len(rest), 8*maxPreview)]
	if end := closingQuote(rest); end >= 0 {
		rest = rest[:end]
	}
	for cut := 0; cut < 12 && cut < len(rest); cut++ { // what is cut through is at most that long
		var text string
		quoted := append(append([]byte{'"'}, rest[:len(rest)-cut]...), '"')
		if json.Unmarshal(quoted, &text) == nil {
			s.prompt(text)
			return
		}
	}
}

// closingQuote is where the JSON string that b begins in ends, or -1.
func closingQuote(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// maxPreview bounds a preview, in characters.
const maxPreview = 200

// oneLine flattens text for a listing and drops what a terminal would obey.
func oneLine(text string) string {
	if len(text) > 8*maxPreview {
		text = cutRunes(text, 8*maxPreview)
	}
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return -1
		}
		return r
	}, text)
	if r := []rune(text); len(r) > maxPreview {
		return string(r[:maxPreview]) + "…"
	}
	return text
}

// Package session keeps conversations on disk. A session is a file of JSON
// lines that only ever grows; what it holds is never rewritten.
//
//	sessions/<hash of the folder>/20260504-030201-1a2b3c4d.jsonl
//	sessions/<hash of the folder>/blobs/<sha256>
//
// A line is a row: meta (where and with which model; a later one replaces an
// earlier one), message, usage, rename, and of our own compact, clear and
// activated. Rows of other types are passed over and kept.
// schemas/session.schema.json describes them. Images and long texts are not in
// the file but beside it, named by their content, so that forks share them.
//
//	store := session.NewStore(home.SessionsDir())
//	s, err := store.Create(session.Start{Cwd: cwd, Provider: "openai", Model: "m"})
//	defer s.Close()
//	err = s.Append(msg)
//
//	info, err := store.Latest(cwd)
//	s, loaded, err := store.Resume(info.Path, session.LoadOptions{})
//
// A session is open for writing in one process at a time. A file that a crash
// cut off is mended when it is resumed, and lines that make no sense are
// passed over with a notice.
package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/message"
)

// A Store is a folder of sessions. It is safe for concurrent use.
type Store struct {
	dir string
	now func() time.Time
}

// NewStore returns the store in dir, which is made when it is needed.
func NewStore(dir string) *Store { return &Store{dir: dir, now: time.Now} }

// Start says what a new session begins with.
type Start struct {
	Cwd       string // absolute
	Provider  string
	Model     string
	Reasoning string
	Version   string // of zot
	Title     string
}

// A Session is open for writing. Its methods may be called from any goroutine;
// each row is on disk, though perhaps not yet synced, when its method returns.
type Session struct {
	mu    sync.Mutex
	path  string
	meta  Meta
	file  *os.File
	lock  *fileLock
	blobs blobs

	size      int64 // of the file
	messages  int   // message rows in the file
	dirty     bool  // the first meta row is out of date
	sinceMeta int64 // bytes written after the last meta row
}

// metaEvery is after how many bytes a meta row that differs from the first one
// is written again, so that a listing finds it near the end of the file.
const metaEvery = tailSize - 8<<10

// Create begins a session. An empty one is deleted when it is closed.
func (st *Store) Create(start Start) (*Session, error) {
	now := st.now().UTC()
	return st.create(Meta{
		ID: newID(), Cwd: filepath.Clean(start.Cwd),
		Provider: start.Provider, Model: start.Model, Reasoning: start.Reasoning,
		Started: now, Version: start.Version, Title: start.Title,
	})
}

// create makes the file of meta under a name that no other has, and locks it.
func (st *Store) create(meta Meta) (*Session, error) {
	dir := st.Folder(meta.Cwd)
	if err := home.EnsureDir(dir); err != nil {
		return nil, fmt.Errorf("creating a session: %w", err)
	}
	path := filepath.Join(dir, fileName(meta.Started, meta.ID))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, home.FileMode)
	if err != nil {
		return nil, fmt.Errorf("creating a session: %w", err)
	}
	s := &Session{path: path, meta: meta, file: file, blobs: blobsOf(path)}
	if s.lock, err = lockFile(path); err == nil {
		err = s.write(metaRow(meta))
	}
	if err != nil {
		file.Close()
		s.lock.unlock()
		os.Remove(path)
		return nil, fmt.Errorf("creating a session: %w", err)
	}
	s.sinceMeta = 0
	return s, nil
}

// Resume opens a session to go on with it, and returns what it holds. A torn
// end is mended, and calls that were cut off at the end get their results
// written. Where another process has it open the error is ErrInUse.
func (st *Store) Resume(path string, o LoadOptions) (*Session, *Loaded, error) {
	s, loaded, err := st.resume(path, o)
	if err != nil {
		return nil, nil, fmt.Errorf("resuming session %q: %w", path, err)
	}
	return s, loaded, nil
}

func (st *Store) resume(path string, o LoadOptions) (s *Session, loaded *Loaded, err error) {
	lock, err := lockFile(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	defer func() {
		if err != nil {
			if file != nil {
				file.Close()
			}
			lock.unlock()
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	size, notice, err := mendTail(file)
	if err != nil {
		return nil, nil, err
	}
	if loaded, err = load(path, o); err != nil {
		return nil, nil, err
	}
	if notice != "" {
		loaded.Notices = append(loaded.Notices, notice)
	}
	s = &Session{
		path: path, meta: loaded.Meta, file: file, lock: lock, blobs: blobsOf(path),
		size: size, messages: loaded.rows, dirty: loaded.metas > 1, sinceMeta: metaEvery,
	}
	return s, loaded, s.appendStubs(loaded)
}

// appendStubs writes the results that loading made up for the calls at the
// end, so that the file says what the model will be shown.
func (s *Session) appendStubs(l *Loaded) error {
	first := len(l.Messages)
	for first > 0 && l.Ordinals[first-1] < 0 && l.Messages[first-1].Role == message.Tool {
		first--
	}
	for i := first; i < len(l.Messages); i++ {
		l.Ordinals[i] = s.messages
		if err := s.Append(l.Messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// Path is the session's file.
func (s *Session) Path() string { return s.path }

// Meta says what the session is.
func (s *Session) Meta() Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meta
}

// Append adds a message.
func (s *Session) Append(m message.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := messageRow(m, s.blobs)
	if err == nil {
		err = s.write(row)
	}
	if err != nil {
		return fmt.Errorf("saving a message: %w", err)
	}
	s.messages++
	return nil
}

// AppendUsage adds the tokens of a turn and the sums so far. A turn that is not
// Known adds the sums alone: a call that was no turn took something.
func (s *Session) AppendUsage(turn, cumulative message.Usage) error {
	return s.row("the usage", usageRow(turn, cumulative))
}

// Compact says that from now on the transcript is summary and after it the
// last keep messages of what it was. The messages stay in the file.
func (s *Session) Compact(summary message.Message, keep int) error {
	row, err := compactRow(summary, keep, s.blobs)
	if err != nil {
		return fmt.Errorf("saving the summary: %w", err)
	}
	return s.row("the summary", row)
}

// Clear says that from now on the transcript is empty and no tool is
// activated. The messages stay in the file.
func (s *Session) Clear() error { return s.row("the clearing", []byte(`{"type":"clear"}`)) }

// SetActivated records the deferred tools that are switched on, all of them.
func (s *Session) SetActivated(names []string) error {
	return s.row("the activated tools", activatedRow(names))
}

// SetModel records the model that later turns use.
func (s *Session) SetModel(provider, model, reasoning string) error {
	return s.change("the model", func(m *Meta) {
		m.Provider, m.Model, m.Reasoning = provider, model, reasoning
	})
}

// Rename gives the session a title.
func (s *Session) Rename(title string) error {
	if err := s.row("the title", renameRow(title)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meta.Title, s.dirty = title, true
	return nil
}

func (s *Session) row(what string, row []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(row); err != nil {
		return fmt.Errorf("saving %s: %w", what, err)
	}
	return nil
}

func (s *Session) change(what string, apply func(*Meta)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := s.meta
	apply(&meta)
	if meta == s.meta {
		return nil
	}
	if err := s.write(metaRow(meta)); err != nil {
		return fmt.Errorf("saving %s: %w", what, err)
	}
	s.meta, s.dirty, s.sinceMeta = meta, true, 0
	return nil
}

// errClosed is what writing to a closed session gives.
var errClosed = errors.New("the session is closed")

// write appends a row in one piece; s.mu is held. What a failed write left
// behind is taken away again, so that the next row begins a line.
func (s *Session) write(row []byte) error {
	if s.file == nil {
		return errClosed
	}
	line := append(row, '\n')
	s.sinceMeta += int64(len(line))
	if s.dirty && s.sinceMeta > metaEvery {
		line = append(append(line, metaRow(s.meta)...), '\n')
		s.sinceMeta = 0
	}
	n, err := s.file.Write(line)
	if err == nil {
		s.size += int64(n)
		return nil
	}
	if n > 0 {
		err = errors.Join(err, s.file.Truncate(s.size))
	}
	return err
}

// Sync makes what was written survive a loss of power.
func (s *Session) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	return s.file.Sync()
}

// Close ends the writing and gives the session free for others. A session
// without a message is deleted. Closing twice does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	empty := s.messages == 0
	var err error
	if !empty {
		err = s.file.Sync()
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	if empty {
		err = errors.Join(err, os.Remove(s.path))
	}
	s.lock.unlock()
	if err != nil {
		return fmt.Errorf("closing session %q: %w", s.path, err)
	}
	return nil
}

// mendTail makes the file end with a whole line: a last line that is complete
// but for its end gets one, and what a crash cut off, or the zeros that some
// file systems leave, is taken away. It returns the size then.
func mendTail(f *os.File) (size int64, notice string, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, "", err
	}
	size = info.Size()
	start, err := lastLineStart(f, size)
	if err != nil || start == size {
		return size, "", err
	}
	if tail := make([]byte, min(size-start, maxLine)); size-start <= maxLine {
		if _, err := f.ReadAt(tail, start); err != nil {
			return 0, "", err
		}
		if _, err := decodeRow(tail); err == nil {
			_, err := f.Write([]byte("\n"))
			return size + 1, "", err
		}
	}
	if err := f.Truncate(start); err != nil {
		return 0, "", err
	}
	return start, fmt.Sprintf("the last entry was cut off while it was written; its %d bytes were removed", size-start), nil
}

// lastLineStart returns the offset after the last line end.
func lastLineStart(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		begin := max(0, end-int64(len(buf)))
		part := buf[:end-begin]
		if _, err := f.ReadAt(part, begin); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return begin + int64(i) + 1, nil
		}
		end = begin
	}
	return 0, nil
}

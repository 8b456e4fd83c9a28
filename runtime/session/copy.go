package session

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/message"
)

// Fork begins a new session with the first messages of another: those before
// ordinal, and the results of the calls among them. An ordinal below 0 takes
// all. The fork belongs to cwd, or to the folder of the other where cwd is
// empty. It is closed when Fork returns.
func (st *Store) Fork(path string, ordinal int, cwd string) (Info, error) {
	info, err := st.fork(path, ordinal, cwd)
	if err != nil {
		return Info{}, fmt.Errorf("forking session %q: %w", path, err)
	}
	return info, nil
}

func (st *Store) fork(path string, ordinal int, cwd string) (Info, error) {
	source, err := stat(path)
	if err != nil {
		return Info{}, err
	}
	meta := source.Meta
	meta.ID, meta.Started, meta.Parent = newID(), st.now().UTC(), source.ID
	meta.Cwd = filepath.Clean(cmp.Or(cwd, source.Cwd))
	c := &copying{from: blobsOf(path), limit: ordinal}
	if meta.ForkPoint, err = c.count(path); err != nil {
		return Info{}, err
	}
	if meta.ForkPoint == 0 {
		return Info{}, errors.New("there is no message before that place")
	}
	return st.fill(meta, func(s *Session) error {
		c.to = s
		c.limit, c.taken = meta.ForkPoint, 0
		err := eachRow(path, c.row)
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}

// fill creates the session of meta, lets write put rows into it, and closes
// it. On an error nothing is left of it.
func (st *Store) fill(meta Meta, write func(*Session) error) (Info, error) {
	s, err := st.create(meta)
	if err != nil {
		return Info{}, err
	}
	if err := write(s); err != nil {
		s.messages = 0 // so that closing deletes it
		return Info{}, errors.Join(err, s.Close())
	}
	if err := s.Close(); err != nil {
		return Info{}, err
	}
	return stat(s.path)
}

// errEnough ends a copying.
var errEnough = errors.New("enough")

// copying takes rows from one session to another.
type copying struct {
	from  blobs
	to    *Session
	limit int // message rows to take; below 0 all
	taken int
}

// count returns how many message rows the limit means, so that no call is
// parted from its results.
func (c *copying) count(path string) (int, error) {
	err := eachRow(path, func(_ []byte, r row) error {
		if r.Type != rowMessage {
			return nil
		}
		if c.limit >= 0 && c.taken >= c.limit && (message.Role(r.Message.Role) != message.Tool || c.taken == 0) {
			return errEnough
		}
		c.taken++
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return c.taken, err
}

func (c *copying) row(line []byte, r row) error {
	switch r.Type {
	case rowMeta, rowRename:
		return nil // the fork's own meta row says it all
	case rowMessage:
		if c.taken == c.limit {
			return errEnough
		}
		c.taken++
		c.to.messages++
	}
	if r.Message != nil && c.from != c.to.blobs {
		for _, name := range blobNames(r.Message.Content) {
			if err := c.from.copyTo(c.to.blobs, name); err != nil {
				return err
			}
		}
	}
	return c.to.write(bytes.Clone(line))
}

func blobNames(content []blockWire) []string {
	var names []string
	for _, b := range content {
		if b.Blob != "" {
			names = append(names, b.Blob)
		}
		names = append(names, blobNames(b.Content)...)
	}
	return names
}

// Export writes a session as one stream that needs no other file and does not
// name the folder it was held in.
func (st *Store) Export(path string, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	from := blobsOf(path)
	err := eachRow(path, func(line []byte, r row) error {
		line, err := exported(line, r, from)
		if err != nil {
			return err
		}
		out.Write(line) // the error stays until Flush
		return out.WriteByte('\n')
	})
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("exporting session %q: %w", path, err)
	}
	return nil
}

// ExportFile exports to a file that must not exist yet; on an error nothing is
// left of it.
func (st *Store) ExportFile(path, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, home.FileMode)
	if err != nil {
		return fmt.Errorf("exporting a session: %w", err)
	}
	if err := errors.Join(st.Export(path, f), f.Close()); err != nil {
		_ = os.Remove(to) // half a file helps nobody
		return err
	}
	return nil
}

func exported(line []byte, r row, from blobs) ([]byte, error) {
	if r.Type == rowMeta {
		return withoutField(line, "meta", "cwd")
	}
	if r.Message == nil || len(blobNames(r.Message.Content)) == 0 {
		return line, nil
	}
	m, err := inlined(r.Message, from)
	if err != nil {
		return line, nil // a role of later times: it goes as it is
	}
	if r.Message, err = encodeMessage(m, ""); err != nil {
		return nil, err
	}
	return encode(r), nil
}

// inlined decodes a message with the content of its blobs.
func inlined(w *messageWire, from blobs) (message.Message, error) {
	d := decoder{blobs: from, budget: maxBlob}
	m, err := d.decodeMessage(w)
	d.loadHeld(0)
	return m, err
}

// withoutField drops a field of an object in a row, and leaves the rest.
func withoutField(line []byte, object, field string) ([]byte, error) {
	var outer, inner map[string]json.RawMessage
	if err := json.Unmarshal(line, &outer); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(outer[object], &inner); err != nil {
		return nil, err
	}
	delete(inner, field)
	outer[object] = encode(inner)
	return encode(outer), nil
}

// maxImport bounds an imported file, in bytes.
const maxImport = 1 << 30

// Import makes a session of cwd from an exported one, under an id of its own.
// Lines that make no sense are passed over; notices say how many.
func (st *Store) Import(r io.Reader, cwd string) (info Info, notices []string, err error) {
	info, notices, err = st.importFrom(r, cwd)
	if err != nil {
		return Info{}, nil, fmt.Errorf("importing a session: %w", err)
	}
	return info, notices, nil
}

// ImportFile imports a file that was exported.
func (st *Store) ImportFile(path, cwd string) (info Info, notices []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, nil, fmt.Errorf("importing a session: %w", err)
	}
	defer f.Close()
	return st.Import(f, cwd)
}

func (st *Store) importFrom(r io.Reader, cwd string) (Info, []string, error) {
	limited := &io.LimitedReader{R: r, N: maxImport + 1}
	var notices []string
	meta := Meta{ID: newID(), Cwd: filepath.Clean(cwd), Started: st.now().UTC()}
	info, err := st.fill(meta, func(s *Session) error {
		bad, err := eachRowOf(limited, s.importRow)
		switch {
		case err != nil:
			return err
		case limited.N == 0:
			return fmt.Errorf("it has more than %d bytes", maxImport)
		case s.messages == 0:
			return errors.New("it holds no message of a session")
		}
		if bad > 0 {
			notices = append(notices, fmt.Sprintf("%d damaged lines were passed over", bad))
		}
		return nil
	})
	return info, notices, err
}

// importRow takes a row of a stranger. Names of blobs mean nothing here, and
// what is large goes to blobs of our own.
func (s *Session) importRow(line []byte, r row) error {
	switch {
	case r.Type == rowMeta:
		meta := r.Meta.after(s.meta)
		meta.ID, meta.Cwd, meta.Started = s.meta.ID, s.meta.Cwd, s.meta.Started
		meta.Parent, meta.ForkPoint = "", 0
		s.meta, s.dirty = meta, true
		return s.write(metaRow(meta))
	case r.Message == nil:
		return s.write(bytes.Clone(line))
	}
	m, err := inlined(r.Message, "")
	if err != nil {
		return nil // of no role that we know
	}
	if r.Message, err = encodeMessage(m, s.blobs); err != nil {
		return err
	}
	if r.Type == rowMessage {
		s.messages++
	}
	return s.write(encode(r))
}

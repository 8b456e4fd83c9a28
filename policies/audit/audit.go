// Package audit keeps the log of policy decisions.
//
// The log is a file of JSON lines, each of which holds the hash of the line
// before: a line that was changed, taken out or put in is found by [Verify].
// What was cut off at the end is not, unless its hash is known from elsewhere.
//
// Values of secrets never belong into a record: of a variable its name is
// logged, of a file its path.
package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies"
)

// Bounds of the log.
const (
	MaxSize  = 16 << 20 // bytes, after which a new file begins
	Kept     = 4        // old files, audit.jsonl.1 being the newest
	maxLine  = 64 << 10
	maxValue = 1 << 10 // bytes of a value that are logged
)

// A Record is one decision.
type Record struct {
	Time       time.Time           `json:"time"`
	Code       policies.Code       `json:"code"`
	Verdict    policies.Verdict    `json:"verdict"`
	Extension  string              `json:"extension,omitempty"`
	Digest     string              `json:"digest,omitempty"` // of the extension
	Capability policies.Capability `json:"capability,omitempty"`
	Value      string              `json:"value,omitempty"`
	By         policies.Origin     `json:"by"`
	Policy     string              `json:"policy,omitempty"` // digest of the policy in force
	Enforced   []string            `json:"enforced,omitempty"`
	Unenforced []string            `json:"unenforced,omitempty"`
	Session    string              `json:"session,omitempty"`
}

// Of fills in a record from a decision.
func Of(d policies.Decision, extension string) Record {
	return Record{Code: d.Code, Verdict: d.Verdict, By: d.By, Extension: extension}
}

// line is a record as it is written. The fields of the chain come last.
type line struct {
	Record
	Prev string `json:"prev"`
	Hash string `json:"hash,omitempty"`
}

// A Log appends records. It may be used by several goroutines, and the file by
// several instances of zot that share a home.
type Log struct {
	home home.Home
	path string
	now  func() time.Time

	mu   sync.Mutex
	size int64  // of the file after our last append
	last string // hash of its last line then
}

// Open makes the log ready, and tells whether it can be written.
func Open(h home.Home) (*Log, error) {
	l := &Log{home: h, path: h.AuditFile(), now: time.Now, size: -1}
	if err := home.EnsureDir(filepath.Dir(l.path)); err != nil {
		return nil, fmt.Errorf("opening audit log: %w", err)
	}
	f, err := l.open()
	if err != nil {
		return nil, fmt.Errorf("opening audit log: %w", err)
	}
	return l, f.Close()
}

func (l *Log) open() (*os.File, error) {
	return os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, home.FileMode)
}

// Append writes a record. Time is filled in where it is zero.
func (l *Log) Append(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.home.Lock(l.path)
	if err != nil {
		return fmt.Errorf("writing audit log: %w", err)
	}
	defer unlock()
	if err := l.append(r); err != nil {
		l.size = -1
		return fmt.Errorf("writing audit log: %w", err)
	}
	return nil
}

func (l *Log) append(r Record) error {
	f, err := l.open()
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	prev, err := l.previous(f, info.Size())
	if err != nil {
		return err
	}
	if info.Size() > MaxSize {
		f.Close()
		rotate(l.path)
		if f, err = l.open(); err != nil {
			return err
		}
		info = nil
	}
	text, hash, err := chain(l.fill(r), prev)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	l.size, l.last = int64(len(text)), hash
	if info != nil {
		l.size += info.Size()
	}
	return nil
}

func (l *Log) fill(r Record) Record {
	if r.Time.IsZero() {
		r.Time = l.now()
	}
	r.Time = r.Time.UTC()
	if len(r.Value) > maxValue {
		r.Value = r.Value[:maxValue] + "…"
	}
	return r
}

// chain writes a record with the hash of the line before and its own.
func chain(r Record, prev string) (text []byte, hash string, err error) {
	bare, err := json.Marshal(line{Record: r, Prev: prev})
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(bare)
	hash = hex.EncodeToString(sum[:])
	text = append(bare[:len(bare)-1:len(bare)-1], `,"hash":"`+hash+"\"}\n"...)
	return text, hash, nil
}

// previous is the hash of the last line. Where others have written since, it is
// read from the file; a torn last line is ended first.
func (l *Log) previous(f *os.File, size int64) (string, error) {
	if size == l.size {
		return l.last, nil
	}
	if size == 0 {
		return "", nil
	}
	start := max(0, size-maxLine)
	tail := make([]byte, size-start)
	if _, err := f.ReadAt(tail, start); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if tail[len(tail)-1] != '\n' {
		if _, err := f.Write([]byte("\n")); err != nil {
			return "", err
		}
	}
	lines := bytes.Split(bytes.TrimRight(tail, "\n"), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		var last line
		if json.Unmarshal(lines[i], &last) == nil && last.Hash != "" {
			return last.Hash, nil
		}
	}
	return "", nil
}

// rotate moves the files on by one. The first line of the new file holds the
// hash of the last line of the old one.
func rotate(path string) {
	_ = os.Remove(fmt.Sprintf("%s.%d", path, Kept))
	for i := Kept - 1; i >= 1; i-- {
		_ = os.Rename(fmt.Sprintf("%s.%d", path, i), fmt.Sprintf("%s.%d", path, i+1))
	}
	_ = os.Rename(path, path+".1")
}

// A ChainError says where a log is not as it was written.
type ChainError struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (e *ChainError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Verify reads a log and checks its chain. It returns the number of records and
// the hash of the last. The first line may continue an older file. The error is
// a *ChainError at the first line that does not follow from the one before.
func Verify(path string) (n int, last string, err error) { return verify(path, "", false) }

// verify also checks, where follows is set, that the first line follows from
// the hash before.
func verify(path, before string, follows bool) (n int, last string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxLine)
	for number := 1; s.Scan(); number++ {
		if len(s.Bytes()) == 0 {
			continue
		}
		hash, prev, ok := check(s.Bytes())
		switch {
		case !ok:
			return n, last, &ChainError{path, number, "the line is not as it was written"}
		case n > 0 && prev != last, n == 0 && follows && prev != before:
			return n, last, &ChainError{path, number, "the line does not follow from the one before: something was taken out or put in"}
		}
		n, last = n+1, hash
	}
	return n, last, s.Err()
}

// check recomputes the hash of a line.
func check(text []byte) (hash, prev string, ok bool) {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return "", "", false
	}
	bare, found := bytes.CutSuffix(text, []byte(`,"hash":"`+l.Hash+`"}`))
	if !found {
		return "", "", false
	}
	sum := sha256.Sum256(append(bytes.Clone(bare), '}'))
	return l.Hash, l.Prev, l.Hash == hex.EncodeToString(sum[:])
}

package extension

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// LogPath is where the log of the extension called name lies in dir.
func LogPath(dir, name string) string { return filepath.Join(dir, "ext-"+name+".log") }

// A logFile takes what an extension writes to its standard error, and the
// host's own lines about it, which begin with "[zot] ". It is opened for append
// with mode 0600 and rotated at a size, keeping some older files (.1, .2, …).
// A log that cannot be written costs the lines, never the extension.
type logFile struct {
	mu    sync.Mutex
	path  string // empty: nothing is kept
	limit int64
	keep  int // older files; below 1 none
	file  *os.File
	size  int64
	fresh bool // at the beginning of a line
	ended bool // Close was called: what is still to be said opens the file anew
}

func openLog(dir, name string, limit int64) *logFile {
	l := &logFile{limit: limit, keep: 2, fresh: true}
	if dir == "" {
		return l
	}
	l.path = LogPath(dir, name)
	if err := os.MkdirAll(dir, 0o700); err == nil {
		l.open()
	}
	return l
}

// keeping sets how many older files are kept.
func (l *logFile) keeping(n int) *logFile {
	l.keep = n
	return l
}

// open opens or makes the file; the caller holds the lock or is alone.
func (l *logFile) open() {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = f, 0
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
}

// Write takes raw output of the extension. It never fails.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(p)
	return len(p), nil
}

// printf writes one line of the host's own.
func (l *logFile) printf(format string, args ...any) {
	text := []byte(fmt.Sprintf(format, args...))
	text = bytes.ReplaceAll(bytes.TrimRight(text, "\n"), []byte("\n"), []byte("\n[zot] "))
	l.mu.Lock()
	defer l.mu.Unlock()
	line := make([]byte, 0, len(text)+8)
	if !l.fresh {
		line = append(line, '\n')
	}
	line = append(line, "[zot] "...)
	line = append(append(line, text...), '\n')
	l.write(line)
}

func (l *logFile) write(p []byte) {
	if len(p) == 0 {
		return
	}
	l.fresh = p[len(p)-1] == '\n'
	if l.file == nil && l.ended && l.path != "" {
		l.open()
		defer l.shut()
	}
	if l.file == nil {
		return
	}
	if l.size+int64(len(p)) > l.limit && l.size > 0 {
		l.rotate()
	}
	if l.file == nil {
		return
	}
	// One oversized piece keeps its tail, where the reason of a failure stands.
	if int64(len(p)) > l.limit {
		p = p[int64(len(p))-l.limit:]
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
}

func (l *logFile) rotate() {
	_ = l.file.Close()
	l.file = nil
	older := func(n int) string { return fmt.Sprintf("%s.%d", l.path, n) }
	for n := l.keep; n > 1; n-- {
		_ = os.Rename(older(n-1), older(n))
	}
	if l.keep > 0 {
		_ = os.Rename(l.path, older(1))
	} else {
		_ = os.Remove(l.path)
	}
	l.open()
}

// Close closes the file. What comes later, like the failure of a request to
// an extension that is gone, is still written.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.shut()
	return nil
}

func (l *logFile) shut() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

var _ io.WriteCloser = (*logFile)(nil)

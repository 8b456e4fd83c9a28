package transports

import "sync"

// TailSize is how much of an extension's standard error is kept for
// [Exit.StderrTail].
const TailSize = 2 << 10

// A Tail keeps the last [TailSize] bytes written to it. Progress that is drawn
// with carriage returns needs no newline to be kept. Its zero value is ready,
// and it may be used by several goroutines.
type Tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write keeps the end of p. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) >= TailSize {
		t.kept = append(t.kept[:0], p[len(p)-TailSize:]...)
		return len(p), nil
	}
	if over := len(t.kept) + len(p) - TailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

// String returns what is kept. Where the start was lost, it begins after the
// first line end among the kept bytes, so that it holds whole lines.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.kept)
	if len(s) < TailSize {
		return s
	}
	for i := range len(s) - 1 {
		if s[i] == '\n' || s[i] == '\r' {
			return s[i+1:]
		}
	}
	return s
}

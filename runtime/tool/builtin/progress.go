package builtin

import (
	"bytes"
	"sync"
	"time"
)

const (
	// progressEvery is the least time between two batches of lines.
	progressEvery = 100 * time.Millisecond
	// maxBatch is how many lines one batch has; of more, the last ones.
	maxBatch = 20
	// maxProgressLine is the most of one line, in bytes.
	maxProgressLine = 500
)

// progress tells lines while a command runs, in batches, so that a command
// that prints a million lines a second costs a viewer no more than another.
type progress struct {
	tell func(string) // or nil

	mu      sync.Mutex
	text    []byte // what came since the last batch, or the end of it
	open    []byte // the unfinished line, if it was not told yet
	told    string
	last    time.Time
	pending *time.Timer // fires the next batch; nil if none is due
	closed  bool
}

func newProgress(tell func(string)) *progress { return &progress{tell: tell} }

// add takes text that mostly is whole lines.
func (p *progress) add(text []byte) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	const most = maxBatch * maxProgressLine
	p.text = append(p.text, text[max(0, len(text)-most):]...)
	if len(p.text) > 2*most {
		p.text = append(p.text[:0], p.text[len(p.text)-most:]...)
	}
	p.open = p.open[:0]
	p.schedule()
}

// current takes the line as it stands: a progress bar, a question.
func (p *progress) current(line []byte) {
	if p.tell == nil || len(line) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open[:0], line[:min(len(line), maxProgressLine)]...)
	p.schedule()
}

func shortLine(line []byte) string {
	return string(bytes.ToValidUTF8(line[:min(len(line), maxProgressLine)], nil))
}

// schedule tells now, or as soon as it is time. The lock is held.
func (p *progress) schedule() {
	if p.closed || p.pending != nil {
		return
	}
	wait := progressEvery - time.Since(p.last)
	if wait <= 0 {
		p.flush()
		return
	}
	p.pending = time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pending = nil
		if !p.closed {
			p.flush()
		}
	})
}

// flush tells what is there. The lock is held; tell does not block.
func (p *progress) flush() {
	p.last = time.Now()
	if len(p.text) > 0 {
		lines := bytes.Split(bytes.TrimSuffix(p.text, []byte{'\n'}), []byte{'\n'})
		for _, l := range lines[max(0, len(lines)-maxBatch):] {
			p.tell(shortLine(l))
		}
		p.text = p.text[:0]
	}
	if open := shortLine(p.open); open != "" && open != p.told {
		p.tell(open)
		p.told = open
	}
	p.open = p.open[:0]
}

// close tells what is left and nothing after it.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	if p.pending != nil {
		p.pending.Stop()
	}
	if p.tell != nil {
		p.flush()
	}
}

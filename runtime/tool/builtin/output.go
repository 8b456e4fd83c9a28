package builtin

import (
	"bytes"
	"fmt"
	"sync"
)

// An output gathers what a command prints: cleaned, cut to a head and a tail,
// saved as a whole if that is promised, and told as it goes. It is safe for
// concurrent use.
type output struct {
	mu       sync.Mutex
	clean    *cleaner
	cut      cut
	spill    *spill
	progress *progress
	detached bool // the result is done; what comes goes to the file only
	closed   bool
}

func newOutput(o Options, tell func(string)) *output {
	out := &output{cut: newCut(o.MaxBytes, o.MaxLines), spill: newSpill(o.SpillDir, o.MaxSpill), progress: newProgress(tell)}
	out.clean = newCleaner(out.add)
	return out
}

func (o *output) write(p []byte) {
	if len(p) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.clean.write(p)
	if !o.detached {
		o.progress.current(o.clean.line)
	}
}

// add takes clean text. The lock is held.
func (o *output) add(text []byte) {
	if o.detached {
		o.spill.write(text)
		return
	}
	if !o.spill.open() && o.cut.full(text) {
		o.startSpill()
	}
	o.spill.write(text)
	o.cut.add(text)
	o.progress.add(text)
}

// startSpill opens the file while everything so far still is in memory.
func (o *output) startSpill() {
	if o.spill.create() {
		o.spill.write(o.cut.head)
		o.spill.write(o.cut.tail)
	}
}

// detach ends the result; the file, if there is one to be, goes on.
func (o *output) detach() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.clean.finish()
	if !o.spill.open() {
		o.startSpill()
	}
	o.detached = true
	o.progress.close()
}

// close ends everything.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.clean.finish()
	o.closed = true
	o.spill.close()
	o.progress.close()
}

// text is the result's text and the notes that belong to it.
func (o *output) text() (string, []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var notes []string
	if o.clean.overdrawn > 0 {
		notes = append(notes, count(o.clean.overdrawn, "line")+" drawn over by later ones left out")
	}
	if o.clean.odd {
		notes = append(notes, "bytes that are not UTF-8 are shown as \uFFFD")
	}
	text := o.cut.text()
	if o.cut.dropped() {
		notes = append(notes, o.spill.words())
	}
	return text, notes
}

// savedTo is the file that takes further output, or "".
func (o *output) savedTo() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spill.failed != nil {
		return ""
	}
	return o.spill.path
}

// A cut keeps the start and the end of a text, within bounds.
type cut struct {
	maxBytes, maxLines   int
	headBytes, headLines int // the head's part of them
	head, tail           []byte
	headDone             bool
	bytes, lines         int64 // all that was added
}

// newCut gives a third to the head: what went wrong mostly stands at the end.
func newCut(maxBytes, maxLines int) cut {
	return cut{maxBytes: maxBytes, maxLines: maxLines, headBytes: maxBytes / 3, headLines: maxLines / 3}
}

// full reports whether text would no longer fit as a whole.
func (c *cut) full(text []byte) bool {
	return c.bytes+int64(len(text)) > int64(c.maxBytes) || c.lines+int64(bytes.Count(text, []byte{'\n'})) > int64(c.maxLines)
}

func (c *cut) add(text []byte) {
	c.bytes += int64(len(text))
	c.lines += int64(bytes.Count(text, []byte{'\n'}))
	if !c.headDone {
		text = c.fillHead(text)
	}
	c.tail = append(c.tail, text...)
	if len(c.tail) > 2*c.maxBytes { // more than could be shown; rare, so that moving is cheap
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.maxBytes:]...)
	}
}

// fillHead takes whole lines into the head while they fit and returns the rest.
func (c *cut) fillHead(text []byte) []byte {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		room := c.headBytes - len(c.head)
		if bytes.Count(c.head, []byte{'\n'}) >= c.headLines || n > room && len(c.head) > 0 {
			c.headDone = true
			return text
		}
		n = min(n, room)
		c.head, text = append(c.head, text[:n]...), text[n:]
	}
	return nil
}

// whole reports whether nothing has to be left out.
func (c *cut) whole() bool {
	return c.bytes <= int64(c.maxBytes) && c.lines <= int64(c.maxLines) && c.bytes == int64(len(c.head)+len(c.tail))
}

func (c *cut) dropped() bool { return !c.whole() }

// text joins head and tail, and says between them what is not there.
func (c *cut) text() string {
	if c.whole() {
		return string(c.head) + string(c.tail)
	}
	tail := c.tail[max(0, len(c.tail)-(c.maxBytes-c.headBytes)):]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 && len(tail) < int(c.bytes) {
		tail = tail[i+1:]
	}
	for n := bytes.Count(tail, []byte{'\n'}); n > c.maxLines-c.headLines; n-- {
		tail = tail[bytes.IndexByte(tail, '\n')+1:]
	}
	tail = bytes.TrimLeftFunc(tail, func(r rune) bool { return r == '\uFFFD' }) // a character that was cut
	kept := int64(len(c.head) + len(tail))
	lines := c.lines - int64(bytes.Count(c.head, []byte{'\n'})+bytes.Count(tail, []byte{'\n'}))
	gap := fmt.Sprintf("[... %s (%s) left out here ...]\n", count(int(lines), "line"), size(c.bytes-kept))
	head := bytes.ToValidUTF8(c.head, nil)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		gap = "\n" + gap
	}
	return string(head) + gap + string(tail)
}

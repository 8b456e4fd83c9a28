package tui

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// pauser is input that another program may need for a while.
type pauser interface {
	pause()
	resume()
}

// Limits of what comes from the keyboard.
const (
	maxPasteBytes = 16 << 20
	// pasteIdle ends a paste whose end never comes: without it every key after
	// it would be taken as pasted, for ever.
	pasteIdle = 2 * time.Second
	// burstIdle ends a burst: text with line ends that arrived in one piece on a
	// terminal that does not mark pastes.
	burstIdle = 30 * time.Millisecond
	// runeIdle is how long half a character waits for its rest on a slow line.
	runeIdle = 500 * time.Millisecond
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// pasteStore holds pastes outside of the stream of keys. In the stream a short
// reference stands for each, so that its place among the keys is kept and the
// decoder of keys does not have to go through megabytes one letter at a time.
type pasteStore struct {
	mu    sync.Mutex
	n     int
	texts map[string]string
}

// put keeps text and returns the reference to it.
func (s *pasteStore) put(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	s.n++
	ref := fmt.Sprintf("zot-paste-%p-%d", s, s.n)
	s.texts[ref] = text
	return ref
}

// take returns the text behind a reference; anything else is text itself.
func (s *pasteStore) take(ref string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.texts[ref]; ok {
		delete(s.texts, ref)
		return text
	}
	return ref
}

// guard passes bytes of the keyboard on, and takes pastes out of them.
type guard struct {
	store *pasteStore
	held  []byte // a beginning of pasteStart that may go on
	esc   bool   // the last byte passed on was an ESC of its own
	bare  bool   // the present paste's ESC was passed on already
	in    bool   // inside a paste
	burst bool   // … that no bracket marks
	paste []byte
	over  bool // the paste is too long; its rest is dropped
}

// feed takes what was read and returns what to pass on.
func (g *guard) feed(data []byte) []byte {
	data = append(g.held, data...)
	g.held = nil
	var out []byte
	for len(data) > 0 {
		if g.in {
			data = g.inPaste(data, &out)
			continue
		}
		data = g.outside(data, &out)
	}
	return out
}

func (g *guard) outside(data []byte, out *[]byte) []byte {
	if g.esc {
		start := pasteStart[1:]
		if bytes.HasPrefix(data, start) {
			g.esc, g.in, g.bare = false, true, true
			return data[len(start):]
		}
		if bytes.HasPrefix(start, data) { // the ESC is on its way already
			g.held = append([]byte(nil), data...)
			return nil
		}
	}
	at := bytes.Index(data, pasteStart)
	if end := bytes.Index(data, pasteEnd); end >= 0 && (at < 0 || end < at) {
		return g.strayEnd(data, end, out)
	}
	keys, rest := data, []byte(nil)
	if at >= 0 {
		keys, rest = data[:at], data[at+len(pasteStart):]
	} else if n := beginning(data); n > 0 {
		keys, g.held = data[:len(data)-n], append([]byte(nil), data[len(data)-n:]...)
	}
	if isBurst(keys) {
		g.paste = append(g.paste, keys...)
		if at < 0 {
			g.in, g.burst = true, true
			return nil
		}
		*out = append(*out, g.finish()...)
	} else if len(keys) > 0 {
		*out = append(*out, keys...)
		g.esc = keys[len(keys)-1] == 0x1b
	}
	if at >= 0 {
		g.in, g.esc = true, false
	}
	return rest
}

// strayEnd handles the end of a paste that was over already: the pasted text had
// such an end in it, and what stands before this one is the rest of it.
func (g *guard) strayEnd(data []byte, end int, out *[]byte) []byte {
	if end > 0 {
		g.paste = append(g.paste, data[:end]...)
		*out = append(*out, g.finish()...)
	}
	g.esc = false
	return data[end+len(pasteEnd):]
}

// beginning is how many bytes at the end of data may be the start of a paste, or
// are one of a character whose rest is still on its way.
// A lone ESC is passed on: it is a key, and the decoder has its own clock for it.
func beginning(data []byte) int {
	for n := len(pasteStart) - 1; n >= 2; n-- {
		if bytes.HasSuffix(data, pasteStart[:n]) {
			return n
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if last := data[len(data)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return n
			}
			break
		}
	}
	return 0
}

// isBurst reports whether keys are text with a line end inside. Nobody types
// Enter and more within one read; a terminal without marked pastes sends it.
func isBurst(keys []byte) bool {
	i := bytes.IndexAny(keys, "\r\n")
	if i < 1 || bytes.IndexByte(keys, 0x1b) >= 0 {
		return false
	}
	text := func(b []byte) bool {
		return bytes.IndexFunc(b, func(r rune) bool { return r > 0x20 && r != 0x7f }) >= 0
	}
	return text(keys[:i]) && text(keys[i:])
}

func (g *guard) inPaste(data []byte, out *[]byte) []byte {
	if g.burst {
		if i := bytes.IndexByte(data, 0x1b); i >= 0 {
			g.keep(data[:i])
			*out = append(*out, g.finish()...)
			return data[i:]
		}
		g.keep(data)
		return nil
	}
	from := max(len(g.paste)-len(pasteEnd)+1, 0)
	joined := append(append([]byte(nil), g.paste[from:]...), data...)
	i := bytes.Index(joined, pasteEnd)
	if i < 0 {
		g.keep(data)
		return nil
	}
	end := i + len(pasteEnd) - (len(g.paste) - from) // in data
	g.paste = append(g.paste[:from], joined[:i]...)
	*out = append(*out, g.finish()...)
	return data[end:]
}

func (g *guard) keep(data []byte) {
	if room := maxPasteBytes - len(g.paste); len(data) > room {
		// The last bytes stay: the end of the paste is looked for in them.
		g.over = true
		tail := data[max(len(data)-len(pasteEnd), 0):]
		data = data[:max(room, 0)]
		g.paste = append(g.paste, data...)
		g.paste = append(g.paste[:max(len(g.paste)-len(tail), 0)], tail...)
		return
	}
	g.paste = append(g.paste, data...)
}

// finish ends the paste and returns what stands for it among the keys.
func (g *guard) finish() []byte {
	text := strings.ToValidUTF8(string(g.paste), "\ufffd")
	head := "\x1b[200~"
	if g.bare {
		head = head[1:]
	}
	g.in, g.burst, g.bare, g.over, g.paste = false, false, false, false, nil
	return []byte(head + g.store.put(text) + "\x1b[201~")
}

// wait is how long to wait for more before expire; 0 for as long as it takes.
func (g *guard) wait() time.Duration {
	switch {
	case g.in && g.burst:
		return burstIdle
	case g.in:
		return pasteIdle
	case len(g.held) > 0 && g.held[0] >= utf8.RuneSelf:
		return runeIdle
	case len(g.held) > 0:
		return burstIdle
	}
	return 0
}

// expire ends the wait and returns what to pass on.
func (g *guard) expire() []byte {
	if g.in {
		return g.finish()
	}
	out := g.held
	g.held, g.esc = nil, false
	return out
}

package tui

import (
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A growth is text that is made beside the screen and shown while it grows. Who
// makes it never waits for the screen.
type growth struct {
	mu     sync.Mutex
	text   strings.Builder
	closed bool
	wake   chan struct{} // holds one token while there is something to see
}

func newGrowth() *growth { return &growth{wake: make(chan struct{}, 1)} }

// add adds a piece.
func (g *growth) add(piece string) {
	g.change(func() { g.text.WriteString(piece) })
}

// close says that nothing follows. It must be called, for the screen waits.
func (g *growth) close() { g.change(func() { g.closed = true }) }

func (g *growth) change(f func()) {
	g.mu.Lock()
	f()
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *growth) take() (text string, closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text = g.text.String()
	g.text.Reset()
	return text, g.closed
}

// follow hands what is new to piece, on the screen's goroutine and as often as
// other text is, and runs end after the last.
func (g *growth) follow(piece func(string), end func()) tea.Cmd { return g.next(0, piece, end) }

func (g *growth) next(after time.Duration, piece func(string), end func()) tea.Cmd {
	return work(func() func(*Model) {
		<-g.wake
		time.Sleep(after)
		text, closed := g.take()
		return func(m *Model) {
			piece(text)
			if closed {
				end()
				return
			}
			m.do(g.next(batchEvery, piece, end))
		}
	})
}

package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/keys"
)

type (
	askMsg       struct{ ask Ask }
	withdrawnMsg struct{ ask *pendingAsk }
)

// pendingAsk is a question that is shown or waits for its turn.
type pendingAsk struct {
	*dialog.Question
	over chan struct{}
}

// ask puts a question at the end of the queue.
func (m *Model) ask(a Ask) {
	p := &pendingAsk{Question: dialog.NewQuestion(a, time.Now()), over: make(chan struct{})}
	m.asks = append(m.asks, p)
	m.numberAsks()
	if len(m.asks) == 1 {
		m.announce()
	}
	if a.Withdrawn != nil {
		m.do(func() tea.Msg {
			select {
			case <-a.Withdrawn:
				return withdrawnMsg{p}
			case <-p.over:
			case <-m.ctx.Done():
			}
			return nil
		})
	}
}

func (m *Model) numberAsks() {
	for i, p := range m.asks {
		p.SetQueue(i+1, len(m.asks))
	}
}

func (m *Model) askKey(k keys.Key) {
	p := m.asks[0]
	if p.Key(k, time.Now()) {
		m.endAsk(p)
	}
}

// endAsk takes a question off the screen. The next one is new to the eye and is
// guarded like it.
func (m *Model) endAsk(p *pendingAsk) {
	i := slices.Index(m.asks, p)
	if i < 0 {
		return
	}
	close(p.over)
	m.asks = slices.Delete(m.asks, i, i+1)
	if i == 0 && len(m.asks) > 0 {
		m.asks[0].Opened(time.Now())
	}
	m.numberAsks()
}

// withdraw ends a question that needs no answer any more; it is answered with
// its refusal, which a late answer cannot change.
func (m *Model) withdraw(p *pendingAsk) {
	if slices.Contains(m.asks, p) {
		p.Cancel()
		m.endAsk(p)
	}
}

// denyAll refuses every open question.
func (m *Model) denyAll() {
	for len(m.asks) > 0 {
		m.withdraw(m.asks[0])
	}
}

package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/runtime/event"
)

// batchEvery is the shortest time between two batches. Fifteen a second read as
// one stream; keys do not wait for them.
const batchEvery = time.Second / 15

// maxPending is how many merged events wait for a busy screen before the pump
// stops reading, and so makes the runtime wait.
const maxPending = 4096

// batchMsg is what happened since the last one, merged.
type batchMsg struct{ events []event.Event }

// fatalMsg ends the program: a goroutine of ours failed.
type fatalMsg struct{ err error }

// pump carries events from the runtime to the screen until ctx ends or in is
// closed. The first event after a silence goes at once; after that there is a
// batch at most every batchEvery. send may block while the screen is busy: the
// pump goes on merging meanwhile.
func pump(ctx context.Context, in <-chan event.Event, send func(tea.Msg)) {
	out := make(chan batchMsg)
	defer close(out)
	go deliver(ctx, out, send) // ends when out is closed
	var m merger
	timer := time.NewTimer(0)
	<-timer.C
	waiting := false // a batch is held back until the timer fires
	last := time.Time{}
	for {
		source, target := in, chan batchMsg(nil)
		if len(m.events) >= maxPending {
			source = nil
		}
		if len(m.events) > 0 && !waiting {
			if wait := batchEvery - time.Since(last); wait > 0 {
				timer.Reset(wait)
				waiting = true
			} else {
				target = out
			}
		}
		if in == nil && len(m.events) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-source:
			if !ok {
				in = nil
				continue
			}
			m.add(ev, time.Now())
		case <-timer.C:
			waiting = false
		case target <- batchMsg{m.events}:
			m.taken()
			last = time.Now()
		}
	}
}

func deliver(ctx context.Context, in <-chan batchMsg, send func(tea.Msg)) {
	defer recovered(send)
	for b := range in {
		if ctx.Err() == nil {
			send(b)
		}
	}
}

// recovered turns a panic of one of our goroutines into an orderly end, so that
// the terminal is given back first.
func recovered(send func(tea.Msg)) {
	if r := recover(); r != nil {
		send(fatalMsg{fmt.Errorf("%v\n%s", r, debug.Stack())})
	}
}

// merger joins events that say the same thing twice.
type merger struct {
	events  []event.Event
	renders map[[2]string]int // panel → index of its render
	usage   int               // index + 1 of the last Usage
	state   int               // index + 1 of the last ExtState
	notes   map[string]*noteQuota
}

// noteQuota limits how fast one extension fills the screen.
type noteQuota struct {
	from    time.Time
	n, over int
}

// notesPerSecond is how many notes of one extension are shown in a second; of
// the rest only the number is.
const notesPerSecond = 20

func (m *merger) taken() {
	m.events, m.usage, m.state = nil, 0, 0
	clear(m.renders)
}

func (m *merger) add(ev event.Event, now time.Time) {
	if n := len(m.events); n > 0 && joinLast(m.events, ev) {
		return
	}
	switch e := ev.(type) {
	case event.ExtPanelRender:
		key := [2]string{e.Extension, e.ID}
		if i, ok := m.renders[key]; ok {
			m.events[i] = ev
			return
		}
		if m.renders == nil {
			m.renders = map[[2]string]int{}
		}
		m.renders[key] = len(m.events)
	case event.ExtPanelOpen, event.ExtPanelClose:
		clear(m.renders) // a frame for the panel before must not be taken for this one's
	case event.Usage:
		if m.usage > 0 {
			m.events[m.usage-1] = ev
			return
		}
		m.usage = len(m.events) + 1
	case event.ExtState:
		if m.state > 0 {
			m.events[m.state-1] = ev
			return
		}
		m.state = len(m.events) + 1
	case event.ExtNotify:
		if !m.allow(e, now) {
			return
		}
	}
	m.events = append(m.events, ev)
}

// allow counts a note. The first one of a new second says how many of the last
// were left out.
func (m *merger) allow(e event.ExtNotify, now time.Time) bool {
	if m.notes == nil {
		m.notes = map[string]*noteQuota{}
	}
	q := m.notes[e.Extension]
	if q == nil || now.Sub(q.from) >= time.Second {
		if q != nil && q.over > 0 {
			m.events = append(m.events, event.ExtNotify{Extension: e.Extension, Level: "warn", Message: fmt.Sprintf("%d more notes were left out", q.over)})
		}
		q = &noteQuota{from: now}
		m.notes[e.Extension] = q
	}
	if q.n++; q.n > notesPerSecond {
		q.over++
		return false
	}
	return true
}

// joinLast joins a piece to the piece before it.
func joinLast(events []event.Event, ev event.Event) bool {
	last := &events[len(events)-1]
	switch e := ev.(type) {
	case event.TextDelta:
		if l, ok := (*last).(event.TextDelta); ok {
			*last = event.TextDelta{Delta: l.Delta + e.Delta}
			return true
		}
	case event.ReasoningDelta:
		if l, ok := (*last).(event.ReasoningDelta); ok {
			*last = event.ReasoningDelta{Delta: l.Delta + e.Delta}
			return true
		}
	case event.ToolUseArgs:
		if l, ok := (*last).(event.ToolUseArgs); ok && l.ID == e.ID {
			*last = event.ToolUseArgs{ID: l.ID, Delta: l.Delta + e.Delta}
			return true
		}
	case event.ToolProgress:
		if l, ok := (*last).(event.ToolProgress); ok && l.ID == e.ID {
			text := l.Text + "\n" + e.Text
			if len(text) > 64<<10 { // only its end is ever shown
				text = text[len(text)-32<<10:]
			}
			*last = event.ToolProgress{ID: l.ID, Text: text}
			return true
		}
	}
	return false
}

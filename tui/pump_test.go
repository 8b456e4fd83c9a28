package tui

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
)

func TestMergerJoinsAndKeepsOrder(t *testing.T) {
	var m merger
	for _, ev := range []event.Event{
		event.TextDelta{Delta: "a"}, event.TextDelta{Delta: "b"},
		event.ExtPanelRender{Extension: "x", ID: "1", Footer: "old"},
		event.Usage{Turn: message.Usage{Input: 1}},
		event.TextDelta{Delta: "c"},
		event.ExtPanelRender{Extension: "x", ID: "1", Footer: "new"},
		event.ExtPanelRender{Extension: "y", ID: "1"},
		event.Usage{Turn: message.Usage{Input: 2}},
		event.ToolProgress{ID: "t", Text: "1"}, event.ToolProgress{ID: "t", Text: "2"},
	} {
		m.add(ev, time.Time{})
	}
	want := fmt.Sprintf("%#v", []event.Event{
		event.TextDelta{Delta: "ab"}, event.ExtPanelRender{Extension: "x", ID: "1", Footer: "new"},
		event.Usage{Turn: message.Usage{Input: 2}}, event.TextDelta{Delta: "c"},
		event.ExtPanelRender{Extension: "y", ID: "1"}, event.ToolProgress{ID: "t", Text: "1\n2"},
	})
	if got := fmt.Sprintf("%#v", m.events); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRendersDoNotCrossAnOpen(t *testing.T) {
	var m merger
	m.add(event.ExtPanelRender{Extension: "x", ID: "1", Footer: "first"}, time.Time{})
	m.add(event.ExtPanelClose{Extension: "x", ID: "1"}, time.Time{})
	m.add(event.ExtPanelOpen{Extension: "x", ID: "1"}, time.Time{})
	m.add(event.ExtPanelRender{Extension: "x", ID: "1", Footer: "second"}, time.Time{})
	if len(m.events) != 4 {
		t.Errorf("%d events: %v", len(m.events), m.events)
	}
}

// A stream of 13,831 pieces over 69 seconds makes at most thirty batches a
// second, the first one is not delayed, and nothing is lost.
func TestPumpBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := make(chan event.Event, 256)
		var batches, size int
		first := time.Duration(-1)
		start := time.Now()
		go pump(t.Context(), in, func(msg tea.Msg) {
			if b, ok := msg.(batchMsg); ok {
				if first < 0 {
					first = time.Since(start)
				}
				batches++
				for _, ev := range b.events {
					size += len(ev.(event.TextDelta).Delta)
				}
			}
		})
		for range 13831 {
			in <- event.TextDelta{Delta: "fourteen bytes"}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if size != 13831*14 {
			t.Errorf("%d bytes arrived, want %d", size, 13831*14)
		}
		if first > time.Millisecond {
			t.Errorf("the first piece waited %v", first)
		}
		if limit := 70 * 31; batches > limit {
			t.Errorf("%d batches, want at most %d", batches, limit)
		}
	})
}

// A screen that stands still makes the pump merge, not queue.
func TestPumpWhileTheScreenIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := make(chan event.Event)
		busy := make(chan struct{})
		var got []event.Event
		go pump(t.Context(), in, func(msg tea.Msg) {
			<-busy
			got = append(got, msg.(batchMsg).events...)
		})
		for i := range 20000 {
			in <- event.ExtPanelRender{Extension: "x", ID: "1", Footer: fmt.Sprint(i)}
		}
		close(busy)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) > 3 || got[len(got)-1].(event.ExtPanelRender).Footer != "19999" {
			t.Errorf("%d events, the last %v", len(got), got[len(got)-1])
		}
	})
}

func TestAsksAreAnsweredOnce(t *testing.T) {
	var l askLedger
	var got []int
	a := Ask{Cancel: 1, Answer: func(n int) { got = append(got, n) }}
	b := a
	l.add(&a)
	l.add(&b)
	a.Answer(0)
	a.Answer(1)
	l.close()
	c := Ask{Cancel: 1, Answer: func(n int) { got = append(got, n+10) }}
	l.add(&c)
	if fmt.Sprint(got) != "[0 1 11]" {
		t.Errorf("answers %v", got)
	}
}

package host

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
)

// A Prompt is what a user, or somebody in the user's place, sends.
type Prompt struct {
	Text   string
	Images []message.Image
}

// Blank reports whether there is nothing to send.
func (p Prompt) Blank() bool { return strings.TrimSpace(p.Text) == "" && len(p.Images) == 0 }

func (p Prompt) message() message.Message {
	m := message.Message{Role: message.User}
	if p.Text != "" {
		m.Content = append(m.Content, message.Text{Text: p.Text})
	}
	for _, img := range p.Images {
		m.Content = append(m.Content, img)
	}
	return m
}

// ErrClosed is what prompts get once the session is closing.
var ErrClosed = errors.New("the session is closing")

// ErrDropped is what a queued prompt gets that was taken back.
var ErrDropped = errors.New("the prompt was taken back before it ran")

// A Ticket follows a submitted prompt.
type Ticket struct {
	prompt Prompt
	work   func(context.Context) error // in place of the prompt; or nil
	done   chan struct{}
	err    error // valid after done

	cancelled bool // before it began, by Cancel; guarded by the queue
}

// Wait waits until the prompt is over and returns what ended it early, or
// ctx's error.
func (t *Ticket) Wait(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// queue runs prompts one after the other.
type queue struct {
	h *Host

	mu      sync.Mutex
	waiting []*Ticket
	cancel  context.CancelFunc // of the prompt that runs; nil when idle
	over    bool               // the prompt that runs has said Done
	idle    chan struct{}      // closed while nothing runs
	closed  bool
}

func (q *queue) init(h *Host) {
	q.h = h
	q.idle = make(chan struct{})
	close(q.idle)
}

// Submit runs a prompt, after those that are running or waiting. Text that is
// blank, without an image, is ignored: the ticket is done at once.
func (h *Host) Submit(p Prompt) (t *Ticket, queued bool) {
	t = &Ticket{prompt: p, done: make(chan struct{})}
	if p.Blank() {
		close(t.done)
		return t, false
	}
	return h.enqueue(t)
}

// SubmitCompact shortens the conversation, after the prompts that are running
// or waiting.
// Focus says what the summary should dwell on; it may be empty.
func (h *Host) SubmitCompact(focus string) *Ticket {
	work := func(ctx context.Context) error { return h.compact(ctx, focus) }
	t, _ := h.enqueue(&Ticket{done: make(chan struct{}), work: work})
	return t
}

func (h *Host) enqueue(t *Ticket) (_ *Ticket, queued bool) {
	q := &h.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		t.err = ErrClosed
		close(t.done)
		return t, false
	}
	queued = q.ahead() > 0
	if t.work == nil {
		h.manager.UserPromptSubmitted(t.prompt.Text, queued, len(t.prompt.Images))
	}
	if q.cancel != nil { // one that is over has yet to leave
		q.waiting = append(q.waiting, t)
		return t, queued
	}
	q.begin(t)
	return t, queued
}

// begin starts a prompt. q.mu is held.
func (q *queue) begin(t *Ticket) {
	ctx, cancel := context.WithCancel(context.Background())
	q.cancel, q.over, q.idle = cancel, false, make(chan struct{})
	if t.cancelled {
		cancel()
	}
	go func() { // ends with the prompt, which cancel ends at any time
		defer cancel()
		if t.work != nil {
			t.err = t.work(ctx)
		} else {
			t.err = q.h.agent.Prompt(ctx, t.prompt.message())
		}
		close(t.done)
		q.next()
	}()
}

// next starts the prompt that has waited longest, or marks the session idle.
func (q *queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancel = nil
	close(q.idle)
	if len(q.waiting) == 0 || q.closed {
		return
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.begin(t)
}

// Run submits a prompt and waits for its end. When ctx ends the prompt is
// cancelled, and Run waits until it has stopped.
func (h *Host) Run(ctx context.Context, p Prompt) error {
	t, _ := h.Submit(p)
	stop := context.AfterFunc(ctx, func() { h.cancelTicket(t) })
	defer stop()
	<-t.done
	return t.err
}

// cancelTicket cancels a prompt, running or waiting.
func (h *Host) cancelTicket(t *Ticket) {
	q := &h.queue
	q.mu.Lock()
	for i, w := range q.waiting {
		if w == t {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			q.mu.Unlock()
			t.err = context.Canceled
			close(t.done)
			return
		}
	}
	cancel := q.cancel
	q.mu.Unlock()
	select {
	case <-t.done:
	default:
		if cancel != nil {
			cancel()
		}
	}
}

// Cancel stops the running prompt; the waiting ones stay.
func (h *Host) Cancel() {
	q := &h.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.cancel == nil:
	case q.over && len(q.waiting) > 0: // the one that is about to run is meant
		q.waiting[0].cancelled = true
	default:
		q.cancel()
	}
}

// Busy reports whether a prompt runs or waits. One that has said Done does not
// run any more.
func (h *Host) Busy() bool { return h.Ahead() > 0 }

// Ahead counts what runs or waits: the prompts that the next one waits for.
func (h *Host) Ahead() int {
	h.queue.mu.Lock()
	defer h.queue.mu.Unlock()
	return h.queue.ahead()
}

// ahead is Ahead where q.mu is held.
func (q *queue) ahead() int {
	n := len(q.waiting)
	if q.cancel != nil && !q.over {
		n++
	}
	return n
}

// report publishes what a prompt reports of itself. At its Done the session is
// idle before anybody hears of it, so that who waited for Done may clear the
// conversation or change the model at once.
func (h *Host) report(e event.Event) {
	if _, done := e.(event.Done); done {
		h.queue.mu.Lock()
		h.queue.over = true
		h.queue.mu.Unlock()
	}
	h.bus.Publish(e)
}

// Queue lists the texts of the prompts that wait.
func (h *Host) Queue() []string {
	h.queue.mu.Lock()
	defer h.queue.mu.Unlock()
	var texts []string
	for _, t := range h.queue.waiting {
		if t.work == nil {
			texts = append(texts, t.prompt.Text)
		}
	}
	return texts
}

// TakeBack removes all that waits and returns the prompts among it.
func (h *Host) TakeBack() []Prompt {
	q := &h.queue
	q.mu.Lock()
	waiting := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	var prompts []Prompt
	for _, t := range waiting {
		if t.work == nil {
			prompts = append(prompts, t.prompt)
		}
		t.err = ErrDropped
		close(t.done)
	}
	return prompts
}

// WaitIdle waits until nothing runs or waits, or ctx ends.
func (h *Host) WaitIdle(ctx context.Context) error {
	for {
		h.queue.mu.Lock()
		idle, busy := h.queue.idle, h.queue.cancel != nil
		h.queue.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close cancels the running prompt, drops the waiting ones, and waits until
// nothing runs.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	if q.cancel != nil {
		q.cancel()
	}
	idle := q.idle
	q.mu.Unlock()
	<-idle
	q.h.TakeBack()
}

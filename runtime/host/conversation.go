package host

import (
	"crypto/rand"
	"errors"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
)

// A Journal keeps a conversation: package session has the one on disk.
type Journal interface {
	Append(m message.Message) error
	// AppendUsage records what a turn took and the sums so far; turn is not
	// Known where only the sums changed.
	AppendUsage(turn, cumulative message.Usage) error
	// Compact records that all but the last keep messages gave way to summary.
	Compact(summary message.Message, keep int) error
	Clear() error
	SetModel(provider, model, reasoning string) error
	// SetActivated records the deferred tools that are switched on.
	SetActivated(names []string) error
	Close() error
}

// A Conversation is what a session goes on with.
type Conversation struct {
	ID       string // empty takes one that lasts as long as the session
	Journal  Journal
	Messages []message.Message
	Usage    message.Usage
	LastTurn message.Usage // what the last model call took
	// Activated are the deferred tools that are switched on. Nil leaves it to
	// the results in Messages; what is recorded goes before them, since a reload
	// may have switched tools off again.
	Activated []string
}

// adopt makes c the conversation of the session.
func (h *Host) adopt(c Conversation) {
	if c.ID == "" {
		c.ID = rand.Text()
	}
	h.mu.Lock()
	h.sessionID, h.journal, h.lastTurn = c.ID, c.Journal, c.LastTurn
	h.auto.Reset()
	h.mu.Unlock()
	h.guard.Forget()
	h.agent.SetTranscript(c.Messages)
	if c.Activated != nil {
		h.agent.DeactivateTools()
		h.agent.Activate(c.Activated)
	}
	h.agent.SetUsage(c.Usage)
}

// ErrBusy is returned for what needs the session to be idle.
var ErrBusy = errors.New("a prompt is running; stop it or wait for its end")

// Switch goes on with another conversation; the former is closed.
func (h *Host) Switch(c Conversation) error {
	if h.Busy() {
		return ErrBusy
	}
	h.manager.CloseSession("session_switch")
	h.closeJournal()
	h.adopt(c)
	h.prompt.reset()
	h.manager.OpenSession(h.SessionID(), h.opts.CWD)
	return nil
}

// Clear empties the conversation; what is kept of it says so.
func (h *Host) Clear() error {
	if h.Busy() {
		return ErrBusy // a call under way would have no message left to belong to
	}
	if j := h.currentJournal(); j != nil {
		if err := j.Clear(); err != nil {
			return err
		}
	}
	h.mu.Lock()
	h.lastTurn = message.Usage{}
	h.auto.Reset()
	h.mu.Unlock()
	h.guard.Forget()
	h.agent.SetTranscript(nil)
	h.agent.SetUsage(message.Usage{})
	h.prompt.reset()
	return nil
}

func (h *Host) currentJournal() Journal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.journal
}

func (h *Host) closeJournal() {
	if j := h.currentJournal(); j != nil {
		if err := j.Close(); err != nil {
			h.bus.Publish(event.Notice{Level: "error", Text: err.Error()})
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.journal = nil
}

func (h *Host) record(m message.Message) error {
	if j := h.currentJournal(); j != nil {
		return j.Append(m)
	}
	return nil
}

func (h *Host) recordModel(c Connection) {
	if j := h.currentJournal(); j != nil {
		if err := j.SetModel(c.Provider, c.ID, c.Reasoning); err != nil {
			h.bus.Publish(event.Notice{Level: "error", Text: err.Error()})
		}
	}
}

// deactivateTools hides again what results switched on, on disk as well, so that
// a conversation that is resumed does not get it back.
func (h *Host) deactivateTools() {
	if len(h.agent.Activated()) == 0 {
		return
	}
	h.agent.DeactivateTools()
	if j := h.currentJournal(); j != nil {
		if err := j.SetActivated(nil); err != nil {
			h.bus.Publish(event.Notice{Level: "error", Text: err.Error()})
		}
	}
}

// recordUsage keeps what a turn took, or the sum alone where it was no turn. It
// subscribes to the bus, so it must not
// publish; a journal that fails has been complained of when the message was
// appended.
func (h *Host) recordUsage(e event.Event) {
	u, ok := e.(event.Usage)
	if !ok {
		return
	}
	h.mu.Lock()
	if u.Auxiliary {
		u.Turn = message.Usage{}
	} else {
		h.lastTurn = u.Turn
	}
	j := h.journal
	h.mu.Unlock()
	if j != nil {
		_ = j.AppendUsage(u.Turn, u.Cumulative)
	}
}

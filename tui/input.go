package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/runtime/command"
	"github.com/patriceckhart/zot/tui/composer"
	"github.com/patriceckhart/zot/tui/keys"
)

// key sends a key where it belongs: a question, a dialog, a panel with the
// focus, the list of completions, the prompt.
func (m *Model) key(k keys.Key) {
	switch {
	case len(m.asks) > 0:
		m.askKey(k)
	case m.dialog != nil:
		d := m.dialog
		if d.Key(k, time.Now()) && m.dialog == d { // it may have opened the next one
			m.dialog = nil
		}
	case m.panel != nil && m.panel.Focused:
		m.panelKey(k)
	case m.complete.key(m, k):
	default:
		m.promptKey(k)
	}
}

func (m *Model) promptKey(k keys.Key) {
	a := m.keys.Action(k.Chord)
	if a != keys.Interrupt {
		m.lastQuit = time.Time{}
	}
	if line := m.keys.Command(k.Chord); line != "" {
		if name, args, ok := command.Parse(line); ok {
			m.command(name, args)
		}
		return
	}
	if a == "" {
		if k.Text != "" {
			m.composer.Insert(k.Text)
			m.edited()
		}
		return
	}
	switch a {
	case keys.Send:
		m.send()
	case keys.Escape:
		m.escape()
	case keys.Interrupt:
		m.interrupt()
	case keys.Quit:
		if m.composer.Empty() {
			m.quit(nil)
		} else if m.composer.Do(composer.Delete) {
			m.edited()
		}
	case keys.Complete:
		m.complete.open(m)
	case keys.TakeBack:
		m.takeBack()
	default:
		if !m.viewKey(a) {
			m.editKey(composer.Step(a))
		}
	}
}

// viewKey handles the actions that change what is seen and not what is written.
func (m *Model) viewKey(a keys.Action) bool {
	t := m.transcript
	switch a {
	case keys.PageUp:
		t.Page(-1)
	case keys.PageDown:
		t.Page(1)
	case keys.LineUp:
		t.Scroll(-1)
	case keys.LineDown:
		t.Scroll(1)
	case keys.Top:
		t.Top()
	case keys.Bottom:
		t.Bottom()
	case keys.Fold:
		t.ToggleFold()
	case keys.Redraw:
		m.do(tea.ClearScreen)
	case keys.Editor:
		m.editPrompt()
	case keys.Pager:
		m.page()
	case keys.Suspend:
		m.suspend()
	case keys.Find:
		m.find("")
	case keys.Jump:
		m.jump("")
	case keys.History:
		m.pickHistory()
	case keys.PickModel:
		m.command("model", "")
	case keys.PickSession:
		m.command("sessions", "")
	case keys.PasteImage:
		m.pasteImage()
	case keys.FocusPanel:
		if m.panel != nil {
			m.panel.Focused = true
		}
	default:
		return false
	}
	return true
}

func (m *Model) editKey(s composer.Step) {
	moved := m.composer.Do(s)
	switch {
	case moved && s != composer.Up && s != composer.Down:
		m.edited()
	case !moved && s == composer.Up:
		m.history.Previous(&m.composer)
		m.complete.close()
	case !moved && s == composer.Down:
		m.history.Next(&m.composer)
		m.complete.close()
	}
}

// edited follows a change of the prompt.
func (m *Model) edited() { m.complete.update(m) }

// escape is one press: it clears notes, and stops what is at work. What is
// typed stays, and what was queued comes back to it.
func (m *Model) escape() {
	m.transcript.ClearAllNotes()
	m.status.clear()
	m.stop()
}

// stop ends the present work and reports whether there was any.
func (m *Model) stop() bool {
	stopped := m.stopTasks()
	if m.shell.cancel != nil {
		m.shell.cancel()
		stopped = true
	}
	if !m.state.Busy {
		return stopped
	}
	m.cancelled = true
	m.takeBack()
	m.rt.Cancel()
	m.status.set(m, "", "stopping…", 5*time.Second)
	return true
}

// takeBack puts the queue before what is in the prompt.
func (m *Model) takeBack() {
	back := m.rt.TakeBackQueue()
	if len(back) == 0 {
		return
	}
	if own := m.composer.Draft(); !m.composer.Empty() {
		m.composer.Restore(own)
		m.composer.Do(composer.Start)
		m.composer.Insert(strings.Join(back, "\n\n") + "\n\n")
		m.composer.Do(composer.End)
	} else {
		m.composer.SetText(strings.Join(back, "\n\n"))
	}
	m.queue = nil
}

// quitWithin is how soon the second Ctrl+C must follow to leave.
const quitWithin = 2 * time.Second

// interrupt stops work; without any it clears the prompt; and at an empty
// prompt a second press leaves.
func (m *Model) interrupt() {
	if m.stop() {
		return
	}
	if !m.composer.Empty() {
		if text := m.composer.Text(); len(text) < maxHistoryEntry {
			m.history.Add(text)
		}
		m.composer.Clear()
		m.edited()
		m.status.set(m, "", "cleared; up brings it back", 2*time.Second)
		return
	}
	now := time.Now()
	if now.Sub(m.lastQuit) < quitWithin {
		m.quit(nil)
		return
	}
	m.lastQuit = now
	m.status.set(m, "", "press ctrl+c again to leave", quitWithin)
}

// paste goes where keys go. A question takes no paste.
func (m *Model) paste(text string) {
	switch {
	case len(m.asks) > 0:
		m.asks[0].Paste(text)
	case m.dialog != nil:
		m.dialog.Paste(text)
	case m.panel != nil && m.panel.Focused:
		if text = keys.PanelPaste(text); text != "" {
			m.rt.PanelKey(m.panel.Ext, m.panel.ID, "rune", text)
		}
	default:
		m.pasteText(text)
	}
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	switch msg.Button {
	case tea.MouseWheelUp:
		m.transcript.Scroll(-3)
	case tea.MouseWheelDown:
		m.transcript.Scroll(3)
	}
}

package tui

import (
	"fmt"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/tui/screen"
)

// event changes the screen for one event of the runtime.
func (m *Model) event(ev event.Event) {
	t := m.transcript
	switch e := ev.(type) {
	case event.UserMessage:
		m.sawDone = false
		t.UserMessage(e.Message)
	case event.TurnStart:
		m.sawDone = false
	case event.Done:
		m.sawDone = true
	case event.AssistantStart:
		t.AnswerStart()
	case event.TextDelta:
		t.Text(e.Delta)
	case event.ReasoningDelta:
		t.Thought(e.Delta)
	case event.AssistantMessage:
		t.AnswerEnd(e.Visible, e.Suppressed, e.Reason, e.By)
	case event.ToolUseStart:
		t.CallStart(e.ID, e.Name)
	case event.ToolUseArgs:
		t.CallArgs(e.ID, e.Delta)
	case event.ToolCall:
		t.Call(e)
	case event.ToolProgress:
		t.Progress(e.ID, e.Text)
	case event.ToolResult:
		t.Result(e)
	case event.Usage:
		m.usage = e.Cumulative
	case event.TurnEnd:
		if e.Error != "" && !m.cancelled {
			t.Mark("error", screen.Line(e.Error))
		}
	case event.Retry:
		m.status.countDown(m, "warn", e.Wait, func(left time.Duration) string {
			return fmt.Sprintf("trying again in %s (%d of %d), %s to stop: %s", seconds(left+time.Second/2), e.Attempt, e.Of, m.keys.First("cancel"), screen.Line(e.Cause))
		})
	case event.CompactStart:
		m.status.set(m, "", "shortening the conversation…", time.Minute)
	case event.CompactDone:
		m.compacted(e)
	case event.ModelChanged:
		m.status.set(m, "", "model: "+screen.Line(e.Provider+" "+e.Model), 2*time.Second)
	case event.Error:
		if !m.cancelled {
			t.Mark("error", screen.Clean(e.Message))
		}
	case event.Notice:
		t.Say(e.Level, e.Text)
	default:
		m.extensionEvent(ev)
	}
}

func (m *Model) compacted(e event.CompactDone) {
	m.status.clear()
	if e.Error != "" {
		m.transcript.Mark("error", "shortening failed: "+screen.Line(e.Error))
		return
	}
	text := "conversation shortened"
	if e.Tokens > 0 {
		text += fmt.Sprintf(" to about %d tokens", e.Tokens)
	}
	m.transcript.Mark("", text)
}

// extensionEvent shows what an extension does.
func (m *Model) extensionEvent(ev event.Event) {
	switch e := ev.(type) {
	case event.ExtNotify:
		m.transcript.Note(e.Extension, e.Level, e.Message)
	case event.ExtDisplay:
		m.transcript.Display(e.Extension, e.Text)
	case event.ExtClearNotes:
		m.transcript.ClearNotes(e.Extension)
	case event.ExtPanelOpen:
		m.openPanel(e)
	case event.ExtPanelRender:
		if m.panel != nil && m.panel.Ext == e.Extension && m.panel.ID == e.ID {
			m.panel.Render(e.Title, e.Lines, e.Footer)
		}
	case event.ExtPanelClose:
		if m.panel != nil && m.panel.Ext == e.Extension && (e.ID == "" || m.panel.ID == e.ID) {
			m.panel = nil
		}
	case event.ExtFailed:
		m.extensionFailed(e.Extension, e.Message)
	case event.ExtState:
		loaded := m.loading[0] > 0 && e.Loading == 0
		m.loading = [2]int{e.Loading, e.Total}
		if loaded && m.opt.Theme != "" { // an extension may have brought it
			m.do(m.loadTheme(m.opt.Theme))
		}
	}
}

package transcript

import (
	"strings"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/screen"
)

// Load shows a conversation that was kept, in place of what is shown.
func (t *Transcript) Load(msgs []message.Message) {
	t.Clear()
	for _, m := range msgs {
		switch m.Role {
		case message.User:
			t.UserMessage(m)
		case message.Assistant:
			t.assistant(m)
		case message.Tool:
			for _, b := range m.Content {
				if r, ok := b.(message.ToolResult); ok {
					t.Result(event.ToolResult{ID: r.CallID, Content: r.Content, IsError: r.IsError, Extension: r.Extension, Changes: r.Changes, Executed: true})
				}
			}
		}
	}
	t.StopCalls()
	t.endAnswer()
	t.Bottom()
}

// UserMessage adds a message of the user with its pictures.
func (t *Transcript) UserMessage(m message.Message) {
	var images []Image
	for _, b := range m.Content {
		if img, ok := b.(message.Image); ok {
			images = append(images, Image(img))
		}
	}
	t.user(m.Time, m.Text(), images)
}

func (t *Transcript) assistant(m message.Message) {
	t.AnswerStart()
	for _, b := range m.Content {
		switch b := b.(type) {
		case message.Reasoning:
			if b.Summary != "" {
				t.Thought(b.Summary)
				t.endThought()
			}
		case message.Text:
			if t.answer != nil && t.answer.src.Len() > 0 {
				t.Text("\n\n")
			}
			t.Text(b.Text)
		case message.ToolCall:
			t.Call(event.ToolCall{ID: b.ID, Name: b.Name, Args: b.Args})
		}
	}
	t.endAnswer()
}

// A Turn is one message of the user, to jump to.
type Turn struct {
	Text  string // first line
	Index int    // for [Transcript.Jump]
}

// Turns lists the user's messages, oldest first.
func (t *Transcript) Turns() []Turn {
	var turns []Turn
	for i, c := range t.cells {
		if u, ok := c.content.(*userText); ok {
			first, _, _ := strings.Cut(strings.TrimSpace(u.src), "\n")
			turns = append(turns, Turn{Text: first, Index: i})
		}
	}
	return turns
}

// Jump shows the cell with that index at the top.
func (t *Transcript) Jump(index int) {
	if index >= 0 && index < len(t.cells) {
		t.anchor, t.row = t.cells[index], 0
		t.clamp()
	}
}

// LastAnswer is the source of the model's last message.
func (t *Transcript) LastAnswer() string {
	for i := len(t.cells) - 1; i >= 0; i-- {
		a, ok := t.cells[i].owner.(*answer)
		if ok && !a.note && strings.TrimSpace(a.src.String()) != "" {
			return strings.TrimSpace(a.src.String())
		}
	}
	return ""
}

// LastCode is the last code block of the model's last message that has one.
func (t *Transcript) LastCode() string {
	for i := len(t.cells) - 1; i >= 0; i-- {
		b, ok := t.cells[i].content.(*block)
		if !ok || b.of == nil || b.of.note {
			continue
		}
		src := strings.TrimLeft(b.src, " ")
		if strings.HasPrefix(src, "```") || strings.HasPrefix(src, "~~~") {
			_, body, _ := strings.Cut(b.src, "\n")
			body = strings.TrimRight(body, " \n`~")
			return body
		}
	}
	return ""
}

// PlainText is everything, for a pager.
func (t *Transcript) PlainText() string {
	var b strings.Builder
	for _, c := range t.cells {
		text := strings.TrimRight(c.text(), "\n ")
		if u, ok := c.content.(*userText); ok {
			text = "> " + strings.ReplaceAll(u.src, "\n", "\n  ")
		}
		if text != "" {
			b.WriteString(screen.Clean(text) + "\n\n")
		}
	}
	return b.String()
}

package history_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/provider/history"
)

func text(r message.Role, s string) message.Message {
	return message.Message{Role: r, Content: []message.Block{message.Text{Text: s}}}
}

func calls(ids ...string) message.Message {
	m := message.Message{Role: message.Assistant}
	for _, id := range ids {
		m.Content = append(m.Content, message.ToolCall{ID: id, Name: "t", Args: json.RawMessage(`{}`)})
	}
	return m
}

func results(ids ...string) message.Message {
	m := message.Message{Role: message.Tool}
	for _, id := range ids {
		m.Content = append(m.Content, message.ToolResult{CallID: id, Content: []message.Block{message.Text{Text: "r" + id}}})
	}
	return m
}

// describe writes a transcript in one line a message.
func describe(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role)
		for _, b := range m.Content {
			switch b := b.(type) {
			case message.Text:
				s += " " + b.Text
			case message.ToolCall:
				s += fmt.Sprintf(" call:%s%s%s", b.ID, b.Args, b.ArgsRaw)
			case message.ToolResult:
				s += fmt.Sprintf(" %s:%s", b.CallID, strings.ReplaceAll(message.TextOf(b.Content), history.Interrupted, "interrupted"))
			}
		}
		out = append(out, s)
	}
	return out
}

func TestRepair(t *testing.T) {
	user := text(message.User, "go")
	tests := []struct {
		name string
		in   []message.Message
		want []string
	}{
		{"sound", []message.Message{user, calls("a", "b"), results("a", "b")}, []string{"user go", "assistant call:a{} call:b{}", "tool a:ra b:rb"}},
		{"order", []message.Message{calls("a", "b"), results("b", "a")}, []string{"assistant call:a{} call:b{}", "tool a:ra b:rb"}},
		{"parted results", []message.Message{calls("a", "b"), results("a"), results("b")}, []string{"assistant call:a{} call:b{}", "tool a:ra b:rb"}},
		{"no result", []message.Message{calls("a", "b"), results("b"), user}, []string{"assistant call:a{} call:b{}", "tool a:interrupted b:rb", "user go"}},
		{"none at all", []message.Message{calls("a")}, []string{"assistant call:a{}", "tool a:interrupted"}},
		{"no call", []message.Message{user, results("x"), text(message.Assistant, "hi"), results("y")}, []string{"user go", "assistant hi"}},
		{"twice answered", []message.Message{calls("a"), results("a", "a")}, []string{"assistant call:a{}", "tool a:ra"}},
		{"same ids", []message.Message{calls("a", "a"), results("a", "a")}, []string{"assistant call:a{} call:a_2{}", "tool a:ra a_2:ra"}},
		{"no ids", []message.Message{calls("", ""), results("", "")}, []string{"assistant call:call_0{} call:call_0_2{}", "tool call_0:r call_0_2:r"}},
		{"ids of another turn", []message.Message{calls("a"), results("a"), calls("a"), results("a")}, []string{"assistant call:a{}", "tool a:ra", "assistant call:a{}", "tool a:ra"}},
		{"late result", []message.Message{calls("a"), user, results("a")}, []string{"assistant call:a{}", "tool a:interrupted", "user go"}},
		{"empty messages", []message.Message{text(message.User, ""), text(message.Assistant, ""), {Role: message.Assistant, Content: []message.Block{message.Reasoning{Summary: "hm"}}}, user}, []string{"user go"}},
		{"poisoned arguments", []message.Message{{Role: message.Assistant, Content: []message.Block{message.ToolCall{ID: "a", Name: "t", Args: json.RawMessage(`{"x": "y`)}}}, results("a")}, []string{`assistant call:a{}{"x": "y`, "tool a:ra"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := describe(tt.in)
			got := history.Repair(tt.in)
			if d := cmp.Diff(tt.want, describe(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, describe(tt.in)); d != "" {
				t.Errorf("the transcript given was changed:\n%s", d)
			}
			if d := cmp.Diff(describe(got), describe(history.Repair(got))); d != "" {
				t.Errorf("repairing again changes it:\n%s", d)
			}
		})
	}
}

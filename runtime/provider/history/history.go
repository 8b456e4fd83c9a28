// Package history makes a transcript fit to be sent to a model. Servers refuse
// a conversation in which a call has no result, or a result no call; a session
// that was killed, forked or written by another program may hold both.
package history

import (
	"fmt"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/provider/answer"
)

// Interrupted is the result of a call of which none was recorded.
const Interrupted = "The call was interrupted and no result was recorded."

// Repair returns msgs such that
//   - every call has exactly one result, in the tool message right behind it,
//   - results without a call are gone,
//   - the ids of the calls in one message differ and are not empty,
//   - the arguments of every call are a JSON object,
//   - no message is empty.
//
// The given messages are not changed. The same transcript always gives the
// same result, so that what a server cached of it stays good.
func Repair(msgs []message.Message) []message.Message {
	out := make([]message.Message, 0, len(msgs))
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		switch m.Role {
		case message.Tool:
			// Those that answer a call were taken along with it.
			continue
		case message.Assistant:
			results := resultsAfter(msgs, i)
			m, answers := pair(m, results, i)
			if !isEmpty(m) {
				out = append(out, m)
			}
			if len(answers.Content) > 0 {
				out = append(out, answers)
			}
		default:
			if !isEmpty(m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// resultsAfter collects the results in the tool messages that follow msgs[i].
func resultsAfter(msgs []message.Message, i int) []message.ToolResult {
	var results []message.ToolResult
	for _, m := range msgs[i+1:] {
		if m.Role != message.Tool {
			break
		}
		for _, b := range m.Content {
			if r, ok := b.(message.ToolResult); ok {
				results = append(results, r)
			}
		}
	}
	return results
}

// pair returns the assistant message with sound calls and the tool message
// that answers them. n is the message's place, for the ids it lacks.
func pair(m message.Message, results []message.ToolResult, n int) (assistant, answers message.Message) {
	answers = message.Message{Role: message.Tool, Time: m.Time}
	used := make([]bool, len(results))
	seen := make(map[string]bool)
	content := make([]message.Block, 0, len(m.Content))
	for _, b := range m.Content {
		c, ok := b.(message.ToolCall)
		if !ok {
			content = append(content, b)
			continue
		}
		result := take(results, used, c.ID)
		c.ID = distinct(c.ID, seen, n)
		result.CallID = c.ID
		if args, valid := answer.Args(string(c.Args)); valid {
			c.Args = args
		} else {
			c.Args, c.ArgsRaw = args, string(c.Args)
		}
		content = append(content, c)
		answers.Content = append(answers.Content, result)
	}
	m.Content = content
	return m, answers
}

// take returns the first unused result for id, or one that says there is none.
func take(results []message.ToolResult, used []bool, id string) message.ToolResult {
	for i, r := range results {
		if r.CallID == id && !used[i] {
			used[i] = true
			return r
		}
	}
	return message.ToolResult{IsError: true, Content: []message.Block{message.Text{Text: Interrupted}}}
}

func distinct(id string, seen map[string]bool, n int) string {
	if id == "" {
		id = fmt.Sprintf("call_%d", n)
	}
	base := id
	for k := 2; seen[id]; k++ {
		id = fmt.Sprintf("%s_%d", base, k)
	}
	seen[id] = true
	return id
}

// isEmpty reports whether a message says nothing: an answer cancelled before
// its first word, or a prompt of no text. Servers refuse such messages.
func isEmpty(m message.Message) bool {
	for _, b := range m.Content {
		switch b := b.(type) {
		case message.Text:
			if b.Text != "" {
				return false
			}
		case message.Image, message.ToolCall:
			return false
		}
	}
	return true
}

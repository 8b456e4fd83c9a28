package session

import (
	"slices"

	"github.com/patriceckhart/zot/runtime/message"
)

// StubResult is the text of the result that a call gets which has none.
const StubResult = "tool call was aborted; no result recorded."

// Repair returns a transcript that any provider takes: every call is followed
// by exactly one result, every result answers a call of the message before it,
// and no message is empty. A transcript that is so already is returned as it
// is.
func Repair(messages []message.Message) []message.Message {
	ordinals := make([]int, len(messages))
	fixed, _, _ := repair(messages, ordinals)
	return fixed
}

// fixes counts what was repaired.
type fixes struct{ stubs, orphans, empty int }

func (f *fixes) add(g fixes) {
	f.stubs += g.stubs
	f.orphans += g.orphans
	f.empty += g.empty
}

func (f fixes) report(n *notes) {
	if f.stubs > 0 {
		n.add("%d tool calls had no result: they count as aborted", f.stubs)
	}
	if f.orphans > 0 {
		n.add("%d tool calls or results are out of place and were left out", f.orphans)
	}
	if f.empty > 0 {
		n.add("%d empty messages were left out", f.empty)
	}
}

func repair(in []message.Message, ordinals []int) ([]message.Message, []int, fixes) {
	r := &repairer{out: make([]message.Message, 0, len(in)), ordinals: make([]int, 0, len(in))}
	for i := 0; i < len(in); {
		m := r.proper(in[i])
		switch {
		case m.Role == message.Tool:
			r.fixes.orphans += results(m)
			i++
		case len(m.Content) == 0:
			r.fixes.empty++
			i++
		default:
			r.keep(m, ordinals[i])
			i++
			if m.Role == message.Assistant {
				i += r.answers(m, in[i:], ordinals[i:])
			}
		}
	}
	return r.out, r.ordinals, r.fixes
}

type repairer struct {
	out      []message.Message
	ordinals []int
	fixes    fixes
}

// proper returns m without the results and calls that its role cannot have.
func (r *repairer) proper(m message.Message) message.Message {
	misplaced := func(b message.Block) bool {
		switch b.(type) {
		case message.ToolResult:
			return m.Role != message.Tool
		case message.ToolCall:
			return m.Role != message.Assistant
		}
		return false
	}
	if !slices.ContainsFunc(m.Content, misplaced) {
		return m
	}
	before := len(m.Content)
	m.Content = slices.DeleteFunc(slices.Clone(m.Content), misplaced)
	r.fixes.orphans += before - len(m.Content)
	return m
}

func (r *repairer) keep(m message.Message, ordinal int) {
	r.out = append(r.out, m)
	r.ordinals = append(r.ordinals, ordinal)
}

// answers keeps the results of m's calls, which come in the tool messages at
// the start of rest, makes up those that are missing, and returns how many
// messages it took.
func (r *repairer) answers(m message.Message, rest []message.Message, ordinals []int) int {
	calls := m.ToolCalls()
	open := make(map[string]int, len(calls))
	for _, c := range calls {
		open[c.ID]++
	}
	n := 0
	for n < len(rest) && rest[n].Role == message.Tool {
		if t := r.answering(rest[n], open); len(t.Content) > 0 {
			r.keep(t, ordinals[n])
		}
		n++
	}
	var stubs []message.Block
	for _, c := range calls {
		if open[c.ID] > 0 {
			open[c.ID]--
			stubs = append(stubs, message.ToolResult{
				CallID: c.ID, IsError: true, Content: []message.Block{message.Text{Text: StubResult}},
			})
		}
	}
	if len(stubs) > 0 {
		r.fixes.stubs += len(stubs)
		r.keep(message.Message{Role: message.Tool, Content: stubs, Time: m.Time}, -1)
	}
	return n
}

// answering returns t with the results alone that answer an open call.
func (r *repairer) answering(t message.Message, open map[string]int) message.Message {
	kept := make([]message.Block, 0, len(t.Content))
	for _, b := range t.Content {
		res, ok := b.(message.ToolResult)
		if !ok || open[res.CallID] == 0 {
			r.fixes.orphans++
			continue
		}
		open[res.CallID]--
		kept = append(kept, b)
	}
	if len(kept) < len(t.Content) {
		t.Content = kept
	}
	return t
}

func results(m message.Message) int { return max(1, len(m.Content)) }

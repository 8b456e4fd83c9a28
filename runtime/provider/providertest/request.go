package providertest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Request is what a client asked, in words that no wire is part of.
type Request struct {
	Wire      Wire
	Path      string
	Header    http.Header
	Body      []byte
	Model     string
	Stream    bool
	System    string
	Reasoning string // the level asked for, in the wire's word
	MaxTokens int
	Messages  []Message
	Tools     []Tool
}

// A Message is one entry of a request's transcript.
type Message struct {
	Role      string // user, assistant, result, or declare
	Text      string
	Reasoning string
	Images    []string // "image/png, 70 bytes"
	Calls     []Call
	CallID    string // of a result
	IsError   bool   // of a result, where the wire can say so
	Tools     []Tool // of a declaration
}

// A Call is a tool call in a request's transcript or in a script.
type Call struct{ ID, Name, Args string }

// A Tool is a tool that a request offers.
type Tool struct {
	Name, Description string
	Schema            string
}

// String writes the request for people and for comparing: one line a thing,
// further lines of a text indented.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s\n", r.Model)
	if len(r.Tools) > 0 {
		fmt.Fprintf(&b, "tools %s\n", strings.Join(names(r.Tools), " "))
	}
	if r.System != "" {
		b.WriteString("system ...\n") // it holds the date and the folder
	}
	for _, m := range r.Messages {
		b.WriteString(m.String())
	}
	return b.String()
}

// String writes the message as it stands in a Request's.
func (m Message) String() string {
	var b strings.Builder
	switch {
	case m.Role == "declare":
		fmt.Fprintf(&b, "declare %s\n", strings.Join(names(m.Tools), " "))
	case m.Role == "result":
		failed := ""
		if m.IsError {
			failed = " (error)"
		}
		fmt.Fprintf(&b, "result %s%s: %s\n", m.CallID, failed, indented(m.Text))
	case m.Text != "" || (len(m.Calls) == 0 && len(m.Images) == 0):
		fmt.Fprintf(&b, "%s: %s\n", m.Role, indented(m.Text))
	default:
		fmt.Fprintf(&b, "%s\n", m.Role)
	}
	if m.Reasoning != "" {
		fmt.Fprintf(&b, "  thought: %s\n", indented(m.Reasoning))
	}
	for _, img := range m.Images {
		fmt.Fprintf(&b, "  image %s\n", img)
	}
	for _, c := range m.Calls {
		fmt.Fprintf(&b, "  call %s %s %s\n", c.ID, c.Name, c.Args)
	}
	return b.String()
}

func indented(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ")
}

func names(tools []Tool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// Prompt is the text of the last user message.
func (r Request) Prompt() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// Results are the texts of the tool results behind the last answer.
func (r Request) Results() string {
	var out []string
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "assistant" {
			break
		}
		if m.Role == "result" {
			out = append(out, m.Text)
		}
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}

// check returns what an expectation finds wrong with the request, or "".
func (e Expectation) check(r Request) string {
	switch e.Subject {
	case "tool", "no tool":
		return e.checkTools(names(r.Tools))
	case "images":
		n := 0
		for _, m := range r.Messages {
			n += len(m.Images)
		}
		if strconv.Itoa(n) != e.Text {
			return fmt.Sprintf("expected %s images, got %d", e.Text, n)
		}
		return ""
	}
	got := map[string]string{
		"prompt": r.Prompt(), "result": r.Results(), "system": r.System,
		"model": r.Model, "reasoning": r.Reasoning, "transcript": r.String(), "header": r.Header.Get(e.Name),
	}[e.Subject]
	ok := false
	switch e.Verb {
	case "is":
		ok = got == e.Text
	case "contains":
		ok = strings.Contains(got, e.Text)
	case "lacks":
		ok = !strings.Contains(got, e.Text)
	case "matches":
		ok = regexp.MustCompile(e.Text).MatchString(got)
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("expected a request whose %s %s %q, got %q", strings.TrimSpace(e.Subject+" "+e.Name), e.Verb, e.Text, got)
}

func (e Expectation) checkTools(offered []string) string {
	for _, n := range e.Names {
		if slices.Contains(offered, n) != (e.Subject == "tool") {
			return fmt.Sprintf("expected %s %q among the tools, got %q", e.Subject, n, offered)
		}
	}
	return ""
}

// sound returns what a strict server would refuse in a transcript, or nil:
// every call is answered exactly once, right behind its message, and nothing
// else is.
func sound(msgs []Message) error {
	open := map[string]bool{}
	var owed []string
	for i, m := range msgs {
		if m.Role == "result" {
			if !open[m.CallID] {
				return fmt.Errorf("message %d is the result of %q, which the answer before it did not call", i, m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		for _, id := range owed {
			if open[id] {
				return fmt.Errorf("the call %q has no result before message %d", id, i)
			}
		}
		owed = nil
		for _, c := range m.Calls {
			if c.ID == "" || open[c.ID] {
				return fmt.Errorf("message %d has a call with the id %q, which is empty or taken", i, c.ID)
			}
			open[c.ID] = true
			owed = append(owed, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d calls of the last answer have no result", len(open))
	}
	return nil
}

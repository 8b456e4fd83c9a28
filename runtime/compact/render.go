package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/patriceckhart/zot/runtime/message"
)

// requestBudget is how many bytes of transcript one request carries: three
// fifths of the window, or what a common window takes.
func requestBudget(window int) int {
	if window <= 0 {
		return 300_000
	}
	return max(window*3/5*bytesPerToken, 4<<10)
}

// limits bound, in bytes, what is shown of one text, of the arguments of one
// call and of one result.
type limits struct{ text, args, result int }

// render writes messages as a text of at most budget bytes. Results are
// shortened first, then everything, then the middle is left out: the beginning
// holds the task and the end where it stands.
func render(messages []message.Message, budget int) string {
	var parts []string
	for _, l := range []limits{{16 << 10, 2 << 10, 4 << 10}, {8 << 10, 500, 800}, {2 << 10, 200, 200}} {
		parts = parts[:0]
		total := 0
		for _, m := range messages {
			part := renderMessage(m, l)
			parts = append(parts, part)
			total += len(part)
		}
		if total <= budget {
			return strings.Join(parts, "")
		}
	}
	return ends(parts, budget)
}

// ends joins the first parts and the last ones, as many as fit.
func ends(parts []string, budget int) string {
	const gap = 80 // bytes of the line between them
	room := budget - gap
	var first, last []string
	i, j := 0, len(parts)-1
	for i <= j {
		next := &first
		part := parts[i]
		if size(last) < 3*size(first) { // the end matters more
			next, part = &last, parts[j]
		}
		if len(part) > room {
			break
		}
		room -= len(part)
		*next = append(*next, part)
		if next == &first {
			i++
		} else {
			j--
		}
	}
	var b strings.Builder
	b.WriteString(strings.Join(first, ""))
	fmt.Fprintf(&b, "\n[%d messages are left out here]\n", j-i+1)
	for k := len(last) - 1; k >= 0; k-- {
		b.WriteString(last[k])
	}
	return b.String()
}

func size(parts []string) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}

func renderMessage(m message.Message, l limits) string {
	var b strings.Builder
	for _, block := range m.Content {
		switch c := block.(type) {
		case message.Text:
			fmt.Fprintf(&b, "\n[%s]\n%s\n", m.Role, clip(c.Text, l.text))
		case message.Image:
			fmt.Fprintf(&b, "\n[%s: an image, %s]\n", m.Role, c.MIMEType)
		case message.ToolCall:
			fmt.Fprintf(&b, "\n[call of %s] %s\n", c.Name, clip(string(c.Args), l.args))
		case message.ToolResult:
			kind := "result"
			if c.IsError {
				kind = "error"
			}
			fmt.Fprintf(&b, "\n[%s]\n%s\n", kind, clip(message.TextOf(c.Content), l.result))
		}
	}
	return b.String()
}

// clip returns at most about n bytes of s: its beginning and its end, whole
// characters, with a note of what is missing between.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := n*2/3, len(s)-n/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes …]\n%s", s[:head], tail-head, s[tail:])
}

// Bounds of a plain list.
const (
	plainRequests = 20
	plainBytes    = 400
	plainFiles    = 40
)

// plain stands for a summary that no model could write: what the user asked
// for, and what was touched.
func plain(head []message.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d earlier messages, about %d tokens, were left out because they no longer fit, and no summary of them could be written.\n", len(head), Estimate(head))
	requests, earlier := requestsOf(head)
	if earlier != "" {
		fmt.Fprintf(&b, "\nWhat was known before them:\n\n%s\n", clip(earlier, maxSummary/4))
	}
	if len(requests) > 0 {
		b.WriteString("\nWhat the user asked for in them, in order:\n\n")
		if n := len(requests) - plainRequests; n > 0 {
			fmt.Fprintf(&b, "- (%d earlier requests)\n", n)
			requests = requests[n:]
		}
		for _, r := range requests {
			fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(clip(r, plainBytes)), " "))
		}
	}
	if paths := pathsOf(head); len(paths) > 0 {
		fmt.Fprintf(&b, "\nFiles that were read or changed: %s\n", strings.Join(paths, ", "))
	}
	return b.String()
}

// requestsOf lists the texts of the user, and the text of an earlier summary.
func requestsOf(messages []message.Message) (requests []string, earlier string) {
	for _, m := range messages {
		text := m.Text()
		if m.Role != message.User || strings.TrimSpace(text) == "" {
			continue
		}
		if summary, ok := strings.CutPrefix(text, heading); ok {
			earlier = summary
			continue
		}
		requests = append(requests, text)
	}
	return requests, earlier
}

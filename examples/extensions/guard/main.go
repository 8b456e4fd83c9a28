// The program guard looks at every shell command before it runs, refuses the
// dangerous ones, and counts what it has seen.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sync/atomic"

	"github.com/patriceckhart/zot/packages/agent/ext"
)

// danger pairs a pattern with what is said when it matches. The model reads
// that, so it says what to do instead.
var danger = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{regexp.MustCompile(`\brm\s+(-\w+\s+)*-\w*[rR]\w*`), "deleting folders is for the user to do; name the files you want gone"},
	{regexp.MustCompile(`\b(mkfs(\.\w+)?|dd\s+.*\bof=/dev/)`), "disks are off limits"},
	{regexp.MustCompile(`\bgit\s+push\b.*\s(-f|--force)\b`), "rewriting published history is for the user to do"},
	{regexp.MustCompile(`\b(curl|wget)\b[^|]*\|\s*(sudo\s+)?(ba|z)?sh\b`), "download the script, show it, and let the user run it"},
}

func main() {
	if err := newExtension().Run(); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

func newExtension() *ext.Extension {
	e := ext.New("guard", "1.0.0")
	var seen, refused atomic.Int64

	// An observer is told and cannot change anything.
	e.On("tool_call", func(ext.Event) { seen.Add(1) })

	// An interceptor is asked, and the call waits for its answer.
	e.InterceptToolCall(func(tool string, args json.RawMessage) (allow bool, reason string) {
		reason = objection(tool, args)
		if reason != "" {
			refused.Add(1)
			e.Notify("warn", reason)
		}
		return reason == "", reason
	})

	e.Command("guard", "show what the guard has seen", func(string) ext.Response {
		return ext.Display(fmt.Sprintf("%d tool calls seen, %d refused", seen.Load(), refused.Load()))
	})
	return e
}

// objection says why a call must not run; empty where it may.
func objection(tool string, args json.RawMessage) string {
	var in struct{ Command string }
	if tool != "bash" || json.Unmarshal(args, &in) != nil {
		return ""
	}
	for _, d := range danger {
		if match := d.pattern.FindString(in.Command); match != "" {
			return fmt.Sprintf("refused because of %q: %s", match, d.advice)
		}
	}
	return ""
}

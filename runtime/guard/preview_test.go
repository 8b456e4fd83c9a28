package guard_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patriceckhart/zot/runtime/guard"
)

// previewed is a tool that tells itself what a call would do.
type previewed struct {
	plain
	text string
}

func (p previewed) Preview(json.RawMessage) string { return p.text }

func TestPreview(t *testing.T) {
	long := strings.Repeat("x", 120)
	for _, c := range []struct{ says, args, want string }{
		{"12 lines into a.go", `{"path":"a.go"}`, "12 lines into a.go"},
		{"", `{"command":"ls -l","path":"a.go"}`, "ls -l"},
		{"", `{"path":"a.go","url":"http://x"}`, "a.go"},
		{"", `{"file_path":"b.go","name":"n"}`, "b.go"},
		{"", `{"url":"http://x","query":"q"}`, "http://x"},
		{"", `{"query":"q","name":"n"}`, "q"},
		{"", `{"name":"n","other":1}`, "n"},
		{"", `{"command":"","path":"a.go"}`, "a.go"},
		{"", `{"command":["ls"]}`, `{"command":["ls"]}`},
		{"", `{ "city" : "Berlin" }`, `{"city":"Berlin"}`},
		{"", `{}`, `{}`},
		{"", ``, ``},
		{"", `{"broken`, `{"broken`},
		{"two\n\tlines  of\r\nit", `{}`, "two lines of it"},
		{"", `{"command":"a\nb"}`, "a b"},
		{long, `{}`, long},
		{long + "y", `{}`, long[:117] + "…"},
		{strings.Repeat("ä", 70), `{}`, strings.Repeat("ä", 58) + "…"},
	} {
		got := guard.Preview(previewed{text: c.says}, json.RawMessage(c.args))
		if got != c.want {
			t.Errorf("%q, %s: %q, want %q", c.says, c.args, got, c.want)
		}
		if len(got) > 120 || !utf8.ValidString(got) {
			t.Errorf("%q is %d bytes, or broken", got, len(got))
		}
	}
}

func FuzzPreview(f *testing.F) {
	f.Add("", `{"command":"ls"}`)
	f.Add("ä\n", `{`)
	f.Fuzz(func(t *testing.T, says, args string) {
		got := guard.Preview(previewed{text: says}, json.RawMessage(args))
		if len(got) > 120 || strings.ContainsAny(got, "\n\r\t") {
			t.Errorf("%q", got)
		}
		if utf8.ValidString(says) && utf8.ValidString(args) && !utf8.ValidString(got) {
			t.Errorf("%q is cut inside a character", got)
		}
	})
}

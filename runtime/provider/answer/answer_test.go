package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/answer"
)

func TestArgs(t *testing.T) {
	tests := []struct {
		raw, want string
		ok        bool
	}{
		{``, `{}`, true},
		{`null`, `{}`, true},
		{` {"a": 1} `, `{"a": 1}`, true},
		{`"{\"a\":1}"`, `{"a":1}`, true},
		{`{"a": "b`, `{}`, false},
		{`[1]`, `{}`, false},
		{`"x"`, `{}`, false},
		{`{} {}`, `{}`, false},
	}
	for _, tt := range tests {
		got, ok := answer.Args(tt.raw)
		if string(got) != tt.want || ok != tt.ok {
			t.Errorf("Args(%q) = %s, %v; want %s, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
	}
}

// Blocks keep the order in which they came, and Break parts them.
func TestBlocks(t *testing.T) {
	b := answer.New(func(model.Chunk) {})
	b.Reasoning("one ")
	b.Proof("r1", "sig")
	b.Text("Hel")
	b.Reasoning("thought")
	b.Text("lo.")
	b.Break()
	b.Text("More.")
	m := b.Message(answer.Whole)
	if len(m.Content) != 3 || m.Text() != "Hello.\nMore." {
		t.Fatalf("got %+v", m.Content)
	}
	if r := m.Content[0].(message.Reasoning); r != (message.Reasoning{ID: "r1", Summary: "one thought", Encrypted: "sig"}) {
		t.Errorf("reasoning = %+v", r)
	}
}

// FuzzCalls feeds fragments of any disorder. What comes out is always a sound
// message, and what was emitted for a call is what its arguments are.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x00\x00a\x01r{}\x01"), uint8(0))
	f.Add([]byte("\x05\x01\x02{\"a\":1}\xff"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, end uint8) {
		started := map[string]string{}
		args := map[string]string{}
		ended := map[string]bool{}
		b := answer.New(func(c model.Chunk) {
			switch {
			case c.ToolStart != nil:
				if _, twice := started[c.ToolStart.ID]; twice || c.ToolStart.ID == "" || c.ToolStart.Name == "" {
					t.Fatalf("bad start %+v", c.ToolStart)
				}
				started[c.ToolStart.ID] = c.ToolStart.Name
			case c.ToolArgs != nil:
				if _, ok := started[c.ToolArgs.ID]; !ok {
					t.Fatalf("arguments before the start of %q", c.ToolArgs.ID)
				}
				args[c.ToolArgs.ID] += c.ToolArgs.Delta
			case c.ToolEnd != nil:
				ended[c.ToolEnd.ID] = true
			}
		})
		for len(in) >= 4 {
			b.Call(answer.Fragment{
				Index: int(in[0]%5) - 1,
				ID:    strings.Repeat("i", int(in[1]%4)),
				Name:  strings.Repeat("n", int(in[2]%3)),
				Args:  string(in[3 : 3+min(len(in)-3, int(in[3]%8))]),
			})
			in = in[4:]
		}
		m := b.Message(answer.End(end % 3))
		seen := map[string]bool{}
		for _, c := range m.ToolCalls() {
			if seen[c.ID] || c.ID == "" || c.Name == "" || !json.Valid(c.Args) || c.Args[0] != '{' || !ended[c.ID] {
				t.Fatalf("unsound call %+v", c)
			}
			seen[c.ID] = true
			if want, ok := answer.Args(args[c.ID]); string(want) != string(c.Args) || ok != (c.ArgsRaw == "") {
				t.Fatalf("emitted %q, kept %s and %q", args[c.ID], c.Args, c.ArgsRaw)
			}
		}
		if len(ended) != len(seen) || (end%3 == 2 && len(seen) > 0) {
			t.Fatalf("ended %v, kept %v, end %d", ended, seen, end%3)
		}
	})
}

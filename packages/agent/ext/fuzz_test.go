package ext_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/packages/agent/extproto/extprototest"
)

// Whatever a host sends after the handshake, the run ends well and all that
// was said are frames.
func FuzzHostLines(f *testing.F) {
	for _, c := range extprototest.Load(f, "../extproto/testdata/frames") {
		var lines []string
		for _, s := range c.Steps {
			if s.Frame != nil && s.FromHost() {
				lines = append(lines, string(s.Frame))
			}
		}
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, lines string) {
		e := quiet("x")
		e.Command("greet", "", func(args string) ext.Response { return ext.Display(args) })
		e.Tool("weather", "", nil, func(args json.RawMessage) ext.ToolResult { return ext.TextResult(city(args)) })
		watch("turn_start", "tool_result")(e, 0)
		scrub(e, 0)
		guardX(ext.ToolCallDecision{})(e, 0)
		drawKeys(e)
		var out bytes.Buffer
		err := e.RunIO(context.Background(), strings.NewReader(ack+"\n"+lines), &out)
		if err != nil && len(lines) <= extproto.MaxFrame {
			t.Fatalf("Run returned %v", err)
		}
		said := extproto.NewReader(&out)
		for {
			line, err := said.Next()
			if err == io.EOF {
				return
			}
			if _, err = extproto.DecodeFromExtension(line); err != nil {
				t.Fatalf("it said %q: %v", line, err)
			}
		}
	})
}

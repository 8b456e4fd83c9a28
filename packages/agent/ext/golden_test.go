package ext_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/patriceckhart/zot/packages/agent/ext"
	"github.com/patriceckhart/zot/packages/agent/extproto"
	"github.com/patriceckhart/zot/packages/agent/extproto/extprototest"
)

// The SDK plays the extension's part of the golden conversations: shown the
// host's lines of a file, it writes the file's other lines.
func TestGoldenConversations(t *testing.T) {
	played := map[string]bool{}
	for _, c := range extprototest.Load(t, "../extproto/testdata/frames") {
		if !c.SDK {
			continue
		}
		played[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			build := authors[c.Name]
			if build == nil {
				t.Fatalf("no extension is written for this conversation (authors in authors_test.go)")
			}
			for i, steps := range connections(c.Steps) {
				play(t, i, build, steps)
			}
		})
	}
	for name := range authors {
		if !played[name] {
			t.Errorf("there is no conversation %s for the extension written for it", name)
		}
	}
}

// connections cuts the steps where the extension is started anew.
func connections(steps []extprototest.Step) [][]extprototest.Step {
	all := [][]extprototest.Step{nil}
	for _, s := range steps {
		if s.NewConnection {
			all = append(all, nil)
			continue
		}
		last := len(all) - 1
		all[last] = append(all[last], s)
	}
	return all
}

// play runs one connection. The pipes have no buffer, so the order of the
// lines is that of the file.
func play(t *testing.T, connection int, build func(*ext.Extension, int), steps []extprototest.Step) {
	e := ext.New(nameIn(steps), "1.0.0")
	e.LogTo(t.Output())
	build(e, connection)
	fromHost, toExt := io.Pipe()
	fromExt, toHost := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- e.RunIO(context.Background(), fromHost, toHost)
		toHost.Close()
	}()
	lines := extproto.NewReader(fromExt)
	for _, s := range steps {
		switch {
		case s.Frame == nil:
		case s.FromHost():
			if _, err := toExt.Write(append(compact(t, s.Frame), '\n')); err != nil {
				t.Fatalf("line %d: %v", s.Line, err)
			}
		default:
			line, err := lines.Next()
			if err != nil {
				t.Fatalf("line %d: the extension ended (%v) where it had to say %s", s.Line, err, s.Frame)
			}
			if diff := cmp.Diff(decoded(t, s.Frame), decoded(t, line)); diff != "" {
				t.Fatalf("line %d (-file +extension):\n%s", s.Line, diff)
			}
		}
	}
	toExt.Close()
	if line, err := lines.Next(); err != io.EOF {
		t.Errorf("after the end of the conversation: %s, %v", line, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
}

func nameIn(steps []extprototest.Step) string {
	var hello extproto.Hello
	json.Unmarshal(steps[0].Frame, &hello)
	return hello.Name
}

func compact(t *testing.T, frame json.RawMessage) []byte {
	t.Helper()
	line, err := json.Marshal(frame)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func decoded(t *testing.T, line []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return v
}

// describe says in a line what an event was, for the event conversations.
func describe(ev ext.Event) string {
	parts := []string{ev.Name}
	add := func(format string, v any) {
		if s := fmt.Sprint(v); s != "" && s != "0" {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	switch ev.Name {
	case "user_prompt_submit", "assistant_message":
		add("%s", ev.Text)
	case "turn_start":
		add("%d", ev.Step)
	case "turn_end":
		if ev.Error != "" {
			return fmt.Sprintf("turn_end %s: %s", ev.Stop, ev.Error)
		}
		add("%s", ev.Stop)
	case "tool_call":
		add("%s", ev.ToolName)
		add("%s", string(ev.ToolArgs))
	case "tool_confirmation_requested":
		add("%s", ev.ToolPreview)
	case "permission_decision":
		return fmt.Sprintf("permission_decision %s by %s", ev.Decision, ev.Source)
	case "tool_result":
		if ev.Result != nil && ev.Executed {
			return fmt.Sprintf("tool_result %s: %s", ev.Status, ev.Result.Content[0].Text)
		}
		return fmt.Sprintf("tool_result %s for %s", ev.Status, ev.OriginExtension)
	case "pre_compact", "post_compact":
		add("%d", ev.MessageCount)
	case "model_changed":
		return "model_changed " + ev.Provider + "/" + ev.Model
	case "session_end":
		add("%s", ev.Reason)
	}
	return strings.Join(parts, " ")
}

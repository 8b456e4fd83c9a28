package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/runtime/model"
	"github.com/patriceckhart/zot/runtime/provider/providertest"
	"github.com/patriceckhart/zot/runtime/tool"
)

// parrot is a model of the program's own: it looks at the clock and repeats
// what it saw.
type parrot struct{}

func (parrot) Generate(_ context.Context, req model.Request, emit func(model.Chunk)) (model.Response, error) {
	last := req.Messages[len(req.Messages)-1]
	for _, b := range last.Content {
		if r, ok := b.(message.ToolResult); ok {
			text := "The clock says " + message.TextOf(r.Content)
			emit(model.Chunk{Text: text})
			return model.Response{Stop: model.StopEndTurn, Message: message.Message{Role: message.Assistant, Content: []message.Block{message.Text{Text: text}}}}, nil
		}
	}
	call := message.ToolCall{ID: "1", Name: "clock", Args: []byte("{}")}
	return model.Response{Stop: model.StopToolUse, Message: message.Message{Role: message.Assistant, Content: []message.Block{call}}}, nil
}

func TestAModelOfItsOwn(t *testing.T) {
	got, err := ask(t.Context(), parrot{}, "parrot", t.TempDir(), []tool.Tool{clock{}}, "what time is it?")
	if err != nil || !strings.HasPrefix(got, "The clock says ") || !strings.Contains(got, " 20") {
		t.Errorf("got %q, %v", got, err)
	}
}

// The program as it stands, with a model server and a file to look at.
func TestTheProgram(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs go to build the program")
	}
	bin := filepath.Join(t.TempDir(), "embed.exe")
	if out, err := exec.Command(goTool, "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	srv := providertest.New(t, `
turn
  expect prompt is "which files are here?"
  expect tool read write edit bash clock
  call read {"path": "notes.txt"}
turn
  expect result contains "buy milk"
  say One, notes.txt: it says to buy milk.
`)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "which", "files", "are", "here?")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ZOT_BASE_URL="+srv.URL(), "ZOT_MODEL=fake", "ZOT_API_KEY=a-key")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "One, notes.txt: it says to buy milk." {
		t.Errorf("%v\n%s", err, out)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

func start(t *testing.T, dir string) *exttest.Host {
	return exttest.StartWith(t, newExtension(), exttest.Options{Ack: extproto.HelloAck{DataDir: dir}})
}

func TestPanelAndTool(t *testing.T) {
	dir := t.TempDir()
	zot := start(t, dir)
	zot.Command("todo", "buy milk")
	if got := exttest.Text(zot.CallTool("todo_add", `{"text":"write docs"}`)); got != "added: write docs" {
		t.Errorf("the tool gave %q", got)
	}
	zot.WaitLine(panelID, "□ write docs")
	zot.Key(panelID, "down", "enter")
	zot.WaitLine(panelID, "▸ ✓ write docs")
	zot.Key(panelID, "up")
	zot.Type(panelID, "d")
	if p := zot.WaitPanel(panelID, func(p exttest.Panel) bool { return len(p.Lines) == 1 }); p.Lines[0] != "▸ ✓ write docs" {
		t.Errorf("after the deletion the panel is %v", p)
	}
	if err := zot.Shutdown(); err != nil {
		t.Fatal(err)
	}

	// The next run finds the list as it was.
	if got := start(t, dir).Command("todo", ""); !strings.Contains(got.OpenPanel.Lines[0], "✓ write docs") {
		t.Errorf("after a restart the panel is %v", got.OpenPanel)
	}
}

func TestBrokenFileIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "todos.json")
	if err := os.WriteFile(path, []byte("[half"), 0o600); err != nil {
		t.Fatal(err)
	}
	zot := start(t, dir)
	zot.WaitNote("reading " + path)
	if got := zot.Command("todo", "x"); !strings.Contains(got.Error, "not saved") {
		t.Errorf("/todo x gave %+v", got)
	}
	if data, _ := os.ReadFile(path); string(data) != "[half" {
		t.Errorf("the file is now %q", data)
	}
}

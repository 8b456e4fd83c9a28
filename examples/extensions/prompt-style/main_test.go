package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/patriceckhart/zot/packages/agent/ext/exttest"
	"github.com/patriceckhart/zot/packages/agent/extproto"
)

func TestRules(t *testing.T) {
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	project, dir := t.TempDir(), t.TempDir()
	zot := exttest.StartWith(t, newExtension(), exttest.Options{Ack: extproto.HelloAck{CWD: project, ExtensionDir: dir}})

	if got := zot.BeforeAgentStart("Base."); got != "Base." {
		t.Errorf("without rules the prompt became %q", got)
	}
	write(filepath.Join(dir, "style.md"), "- ours\n")
	if got := zot.BeforeAgentStart("Base."); got != "Base.\n\n# House rules\n\n- ours\n" {
		t.Errorf("with our rules the prompt became %q", got)
	}
	write(filepath.Join(project, ".zot", "style.md"), "- the project's")
	if got := zot.BeforeAgentStart(""); got != "\n\n# House rules\n\n- the project's\n" {
		t.Errorf("with the project's rules the prompt became %q", got)
	}
}

package doctorcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/cmd/zot/internal/doctorcmd"
	"github.com/patriceckhart/zot/cmd/zot/internal/iostreams"
	"github.com/patriceckhart/zot/cmd/zot/internal/workspace"
	"github.com/patriceckhart/zot/runtime/provider"
)

// examine looks at a home with the given settings, with nothing of the
// machine's own environment.
func examine(t *testing.T, settings string, options func(*workspace.Workspace) (provider.Options, error)) []doctorcmd.Line {
	t.Helper()
	home, project := filepath.Join(t.TempDir(), "home"), t.TempDir()
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Options{Home: home, CWD: project})
	if err != nil {
		t.Fatal(err)
	}
	streams, _, _ := iostreams.Test("")
	return doctorcmd.Examine(t.Context(), doctorcmd.Deps{Streams: streams, Version: "0.1.0", Provider: options}, w, false)
}

func find(lines []doctorcmd.Line, subject, name string) (found doctorcmd.Line) {
	for _, l := range lines {
		if l.Subject == subject && l.Name == name {
			return l
		}
	}
	return found
}

func builtinOnly(*workspace.Workspace) (provider.Options, error) {
	return provider.Options{Catalogue: provider.Builtin(), Getenv: func(string) string { return "" }}, nil
}

func TestShellOfTheSettings(t *testing.T) {
	lines := examine(t, `{"bash": {"shell": "/no/such/shell"}}`, builtinOnly)
	if l := find(lines, "system", "shell"); l.State != doctorcmd.Wrong || !strings.Contains(l.Advice, "bash.shell") {
		t.Errorf("got %+v", l)
	}
}

func TestKeymap(t *testing.T) {
	lines := examine(t, `{"keymap": {"ctrl+nothing+x": "/model"}}`, builtinOnly)
	if l := find(lines, "terminal", "keymap"); l.State != doctorcmd.Hint || l.Advice == "" {
		t.Errorf("got %+v", l)
	}
}

func TestListOfModelsThatCannotBeRead(t *testing.T) {
	lines := examine(t, `{}`, func(*workspace.Workspace) (provider.Options, error) {
		return provider.Options{}, errors.New("models.json:1:2: bad")
	})
	if l := find(lines, "model", "models.json"); l.State != doctorcmd.Wrong || l.Value != "models.json:1:2: bad" {
		t.Errorf("got %+v", l)
	}
}

func TestMarkdown(t *testing.T) {
	text := doctorcmd.Markdown([]doctorcmd.Line{
		{Subject: "model", Name: "key", State: doctorcmd.Info, Value: "$OPENAI_API_KEY"},
		{Subject: "model", Name: "model", State: doctorcmd.Wrong, Value: "there is none", Advice: "choose one"},
		{Subject: "theme", Name: "chosen", State: doctorcmd.OK, Value: "auto"},
	})
	want := "**model**\n\n- key: `$OPENAI_API_KEY`\n- **wrong** model: there is none\n  - choose one\n\n**theme**\n\n- ok chosen: auto\n\n1 wrong, 0 could be better"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

package systemprompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patriceckhart/zot/runtime/systemprompt"
)

// A repository that nobody trusts cannot have the user's other files read to
// the model by linking to them. A link within its own folder is as good as a
// file, and so is any link once the project is trusted.
func TestALinkThatLeadsOut(t *testing.T) {
	cwd, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(outside, "the secret")
	write(filepath.Join(cwd, "CLAUDE.md"), "the house rules")
	link := filepath.Join(cwd, systemprompt.FileName)
	for _, tt := range []struct {
		target, want, never string
		how                 systemprompt.Admission
	}{
		{outside, "", "the secret", systemprompt.Untrusted},
		{outside, "the secret", "", systemprompt.Trusted},
		{"CLAUDE.md", "the house rules", "", systemprompt.Untrusted},
	} {
		_ = os.Remove(link) // of the case before
		if err := os.Symlink(tt.target, link); err != nil {
			t.Skip("no links here: ", err)
		}
		text, report := systemprompt.Build(systemprompt.Options{Cwd: cwd, Admit: func(string) systemprompt.Admission { return tt.how }})
		if !strings.Contains(text, tt.want) || tt.never != "" && strings.Contains(text, tt.never) {
			t.Errorf("%s, %v: the prompt is %s", tt.target, tt.how, text)
		}
		if f := report.Files[len(report.Files)-1]; tt.never != "" && !strings.Contains(f.Skipped, "a link out of its folder") {
			t.Errorf("reported as %+v", f)
		}
	}
}

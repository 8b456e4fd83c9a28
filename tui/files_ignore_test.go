package tui

import (
	"os"
	"path/filepath"
	"testing"
)

// A repository can have a link in place of a file. It is not followed: it may
// lead to a device that has no end.
func TestIgnoreFileThatIsALink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.WriteFile(real, []byte("*.o\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, ".gitignore")); err != nil {
		t.Skip("no links here: ", err)
	}
	if rules := readIgnore(dir, ""); len(rules) > 0 {
		t.Errorf("rules %v came from a link", rules)
	}
	if err := os.Rename(real, filepath.Join(dir, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	if rules := readIgnore(dir, ""); len(rules) != 1 {
		t.Errorf("rules %v, want the one of the file", rules)
	}
}

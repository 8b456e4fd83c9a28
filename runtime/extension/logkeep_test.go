package extension

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// As many older logs are kept as were asked for, the newest first.
func TestOlderLogs(t *testing.T) {
	for keep, want := range map[int]string{0: "ext-a.log", -1: "ext-a.log", 1: "ext-a.log ext-a.log.1", 3: "ext-a.log ext-a.log.1 ext-a.log.2 ext-a.log.3"} {
		dir := t.TempDir()
		l := openLog(dir, "a", 8).keeping(keep)
		for range 6 {
			_, _ = l.Write([]byte("123456\n"))
		}
		_ = l.Close()
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			files[i] = filepath.Base(f)
			if text, _ := os.ReadFile(f); string(text) != "123456\n" {
				t.Errorf("keeping %d: %s holds %q", keep, files[i], text)
			}
		}
		if got := strings.Join(files, " "); got != want {
			t.Errorf("keeping %d: got %s, want %s", keep, got, want)
		}
	}
}

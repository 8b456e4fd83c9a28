package extension

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func readLog(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The log keeps what the extension writes, byte for byte, and the host's own
// lines, which begin with [zot] and stand on lines of their own.
func TestLogLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	l := openLog(dir, "ext", 1<<20)
	_, _ = l.Write([]byte("10%\r20%"))
	l.printf("it ended: %s\nlast lines", "exit status 1")
	_, _ = l.Write([]byte("done\n"))
	l.printf("bye")
	_ = l.Close()
	l.printf("late")
	path := LogPath(dir, "ext")
	if got, want := readLog(t, path), "10%\r20%\n[zot] it ended: exit status 1\n[zot] last lines\ndone\n[zot] bye\n[zot] late\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	l = openLog(dir, "ext", 1<<20) // appends
	l.printf("again")
	_ = l.Close()
	if got := readLog(t, path); !strings.HasSuffix(got, "late\n[zot] again\n") {
		t.Errorf("got %q", got)
	}
}

// A log is rotated at its size, and two older ones are kept, whatever is
// written.
func TestLogRotation(t *testing.T) {
	dir := t.TempDir()
	l := openLog(dir, "ext", 1000)
	for n := range 500 {
		_, _ = l.Write([]byte(strings.Repeat(string(rune('a'+n%26)), 30) + "\n"))
	}
	_, _ = l.Write([]byte(strings.Repeat("x", 5000) + "the reason\n"))
	_ = l.Close()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, _ := os.Stat(f); info.Size() > 1000 {
			t.Errorf("%s has %d bytes", f, info.Size())
		}
	}
	if got := readLog(t, LogPath(dir, "ext")); !strings.HasSuffix(got, "xthe reason\n") {
		t.Errorf("the end of a long piece is missing: %.50q", got)
	}
}

// A log that cannot be written costs nothing else.
func TestNoLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*logFile{openLog(dir, "ext", 10), openLog("", "ext", 10)} {
		if n, err := l.Write([]byte("hello")); n != 5 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		l.printf("x")
		_ = l.Close()
		l.printf("x")
	}
}

// Credentials are withheld by name, and named; what the manifest declares is
// laid over the rest, empty values included.
func TestEnviron(t *testing.T) {
	env, withheld := Environ(
		[]string{"PATH=/bin", "API_KEY=secret", "MODE=a", "HTTP_PROXY=p", "ZOT_CWD=old", "EMPTY=x"},
		[]string{"API_KEY", "OTHER_KEY"},
		map[string]string{"MODE": "b", "EMPTY": ""}, "ext", "/proj")
	want := []string{"PATH=/bin", "HTTP_PROXY=p", "EMPTY=", "MODE=b", "ZOT_EXTENSION=ext", "ZOT_CWD=/proj"}
	if !slices.Equal(env, want) {
		t.Errorf("got  %q\nwant %q", env, want)
	}
	if !slices.Equal(withheld, []string{"API_KEY"}) {
		t.Errorf("withheld %q", withheld)
	}
}

//go:build linux && (amd64 || arm64)

package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a shell tries in order to change a folder behind the shield. Each ends
// well where it could.
var attempts = []struct{ name, script string }{
	{"write", `echo x >kept/file`},
	{"append", `echo x >>kept/file`},
	{"create", `echo x >kept/new`},
	{"remove", `rm -f kept/file && test ! -e kept/file`},
	{"move over", `echo x >mine && mv mine kept/file`},
	{"move away", `mv kept kept2`},
	{"change its mode", `chmod 666 kept/file`},
	{"through a link", `ln -s kept/file link && echo x >link`},
	{"through a hard link", `ln kept/file hard && echo x >hard`},
	{"from within", `cd kept && echo x >file`},
	{"through an absolute path", `echo x >"$PWD/kept/file"`},
	{"through the process that started it", `echo x >"/proc/$PPID/root$PWD/kept/file"`},
	{"through its working folder", `echo x >"/proc/$PPID/cwd/kept/file"`},
	{"through the first process", `echo x >"/proc/1/root$PWD/kept/file"`},
	{"unmount", `umount kept && echo x >kept/file`},
	{"mount again", `mount -o remount,rw,bind kept && echo x >kept/file`},
	{"mounts of its own", `unshare -rm sh -c 'mount -o remount,rw,bind kept; umount kept; echo x >kept/file'`},
}

// TestShield leaves a process everything but the folders that are kept.
func TestShield(t *testing.T) {
	if cause := ShieldMissing(); cause != "" {
		t.Skip(cause)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	run := func(dir, script string) (string, error) {
		cmd := exec.Command(sh, "-c", script)
		cmd.Dir = dir
		s := Shield{Keep: []string{filepath.Join(dir, "kept"), filepath.Join(dir, "missing")}, But: []string{filepath.Join(dir, "kept", "open")}}
		must(t, s.Over(cmd))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	fresh := func() string {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, "kept", "open"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "kept", "file"), []byte("as it was"), 0o600))
		return dir
	}
	for _, a := range attempts {
		dir := fresh()
		out, err := run(dir, a.script)
		text, readErr := os.ReadFile(filepath.Join(dir, "kept", "file"))
		entries, _ := os.ReadDir(filepath.Join(dir, "kept"))
		info, _ := os.Stat(filepath.Join(dir, "kept", "file"))
		if err == nil || readErr != nil || string(text) != "as it was" || len(entries) != 2 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: ended with %v and %q; the file holds %q, the folder %v, %v", a.name, err, out, text, entries, readErr)
		}
	}
	dir := fresh()
	out, err := run(dir, `cat kept/file && echo x >kept/open/new && echo x >other && mkdir d && id -u && pwd`)
	if err != nil || !strings.Contains(out, "as it was") || !strings.Contains(out, filepath.Base(dir)) {
		t.Errorf("what is not kept: %v\n%s", err, out)
	}
	for _, name := range []string{"kept/open/new", "other", "d"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	cmd := exec.Command(sh, "-c", `ls -A kept/open; cat kept/file; test -w kept/open || echo hidden`)
	cmd.Dir = dir
	must(t, Shield{Hide: []string{filepath.Join(dir, "kept", "open"), filepath.Join(dir, "kept", "file")}}.Over(cmd))
	if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "new") || strings.Contains(string(out), "as it was") {
		t.Errorf("what is hidden: %s", out)
	}
	// The test's own process is behind nothing.
	must(t, os.WriteFile(filepath.Join(dir, "kept", "file"), nil, 0o600))
}

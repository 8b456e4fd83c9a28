//go:build unix

package subprocess

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// file writes a file of that mode and returns its path.
func file(t *testing.T, dir, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartErrorsNameTheCause(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "absent"), "there is no such file"},
		{"dangling link", link, "a link to a file that does not exist"},
		{"folder", dir, "it is a folder"},
		{"device", os.DevNull, "it is no regular file"},
		{"relative", "x", "not absolute"},
		{"no execute bit", file(t, dir, "plain.sh", "#!/bin/sh\n", 0o644), "no execute permission (chmod +x"},
		{"interpreter missing", file(t, dir, "gone", "#!/opt/none/python\n", 0o755), `its interpreter "/opt/none/python" does not exist`},
		{"interpreter is a folder", file(t, dir, "tmp", "#!/tmp\n", 0o755), `its interpreter "/tmp" is not executable`},
		{"interpreter line empty", file(t, dir, "empty-line", "#!\nx\n", 0o755), "names no interpreter"},
		{"carriage return", file(t, dir, "cr", "#!/bin/sh\r\necho\r\n", 0o755), `first line "#!/bin/sh\r" ends in a carriage return`},
		{"env with carriage return", file(t, dir, "env-cr", "#!/usr/bin/env sh\r\n", 0o755), "ends in a carriage return"},
		{"env of nothing", file(t, dir, "env", "#!/usr/bin/env no-such-program\n", 0o755), `"no-such-program" is not in the PATH`},
		{"env alone", file(t, dir, "env-alone", "#!/usr/bin/env\n", 0o755), "env without a program"},
		{"no interpreter line", file(t, dir, "text", "echo hello\n", 0o755), "it has no interpreter line"},
		{"byte order mark", file(t, dir, "bom", "\xef\xbb\xbf#!/bin/sh\n", 0o755), "byte order mark"},
		{"empty", file(t, dir, "empty", "", 0o755), "the file is empty"},
		{"batch file", file(t, dir, "run.BAT", "echo hello\r\n", 0o755), "a Windows batch file"},
		{"Windows program", file(t, dir, "x.exe", "MZ\x90\x00\x03", 0o755), "a program for Windows"},
		{"module", file(t, dir, "x.wasm", "\x00asm\x01\x00\x00\x00", 0o755), "a WebAssembly module"},
		{"binary of no kind", file(t, dir, "junk", "\x01\x02\x00\x03", 0o755), "no program for this system"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := Start(t.Context(), Options{Path: test.path, Env: []string{"PATH=/usr/bin:/bin"}})
			if err == nil {
				conn.Stop(t.Context(), grace)
				t.Fatal("it started")
			}
			var startErr *StartError
			if !errors.As(err, &startErr) || startErr.Path != test.path {
				t.Errorf("%#v does not name the path %q", err, test.path)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q in it", err, test.want)
			}
		})
	}
}

// TestForeignArchitecture asks for the cause alone, since a system may well be
// set up to run programs of another processor.
func TestForeignArchitecture(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs an ELF program at hand")
	}
	data, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(data[18:], uint16(elf.EM_S390))
	path := file(t, t.TempDir(), "foreign", string(data), 0o755)
	if got := formatCause(path); !strings.Contains(got, "another system or processor (s390)") {
		t.Errorf("cause = %q", got)
	}
}

func TestMissingWorkingDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, err := Start(t.Context(), Options{Path: self(t), Dir: dir})
	if err == nil || !strings.Contains(err.Error(), `working directory "`+dir+`"`) {
		t.Errorf("error = %v", err)
	}
}

func TestScriptsStart(t *testing.T) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no /bin/sh here")
	}
	dir := filepath.Join(t.TempDir(), "a folder with spaces")
	script := "#!/bin/sh\nprintf '{\"dir\":\"%s\",\"arg\":\"%s\"}\\n' \"$PWD\" \"$1\"\n"
	file(t, dir, "run me.sh", script, 0o755)
	for _, name := range []string{"./run me.sh", "../" + filepath.Base(dir) + "/run me.sh", filepath.Join(dir, "run me.sh")} {
		path, err := Resolve(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		conn := start(t, Options{Path: path, Args: []string{"a b"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}})
		var got struct{ Dir, Arg string }
		readInto(t, conn, &got)
		if filepath.Base(got.Dir) != filepath.Base(dir) || got.Arg != "a b" {
			t.Errorf("%q: got %+v", name, got)
		}
		conn.Stop(t.Context(), grace)
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	bin := t.TempDir()
	inPath := file(t, bin, "weather", "#!/bin/sh\n", 0o755)
	file(t, dir, "local", "#!/bin/sh\n", 0o755)
	t.Setenv("PATH", bin)
	for _, test := range []struct{ exec, want string }{
		{"weather", inPath},
		{"./weather", filepath.Join(dir, "weather")}, // whether it exists is for Start to say
		{"../weather", filepath.Join(filepath.Dir(dir), "weather")},
		{"bin/weather", filepath.Join(dir, "bin/weather")},
		{".", dir},
		{"/opt/x", "/opt/x"},
	} {
		if got, err := Resolve(dir, test.exec); err != nil || got != test.want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", test.exec, got, err, test.want)
		}
	}
	for _, test := range []struct{ exec, want string }{
		{"", "no program is named"},
		{"a\x00b", "zero byte"},
		{"nowhere", "no such program in PATH"},
		{"local", `write "./local"`},
	} {
		if got, err := Resolve(dir, test.exec); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Resolve(%q) = %q, %v, want %q", test.exec, got, err, test.want)
		}
	}
}

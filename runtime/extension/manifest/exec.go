package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/schemas"
)

// An ExecError says why the program of an extension cannot start.
type ExecError struct {
	Name   string // of the extension
	Exec   string // as the manifest has it
	Path   string // what was looked at; empty for a name that is not in PATH
	Cause  string
	Remedy string
	// Machine says that the fault is not in the folder: something else has to
	// be installed on this machine.
	Machine bool
}

func (e *ExecError) Error() string {
	what := fmt.Sprintf("exec %q of extension %q", e.Exec, e.Name)
	if e.Path != "" {
		what += " (" + e.Path + ")"
	}
	return what + " " + e.Cause + "; " + e.Remedy
}

// ExecPath finds the program. An absolute path stands for itself, one with a
// separator is relative to the folder, a bare name is looked up in PATH; a
// WebAssembly module is always a path. Where the program cannot start for a
// reason that can be seen without starting it, the error is an *ExecError.
func (m *Manifest) ExecPath() (string, error) {
	if m.Exec == "" {
		return "", nil
	}
	x := execCheck{m: m}
	if m.Transport == WASI {
		return x.module(filepath.Join(m.Dir, filepath.FromSlash(m.Exec)))
	}
	if !hasSeparator(m.Exec) {
		return x.bare()
	}
	path := filepath.FromSlash(m.Exec)
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.Dir, path)
	}
	return x.program(path)
}

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || runtime.GOOS == "windows" && strings.ContainsAny(name, `\:`)
}

type execCheck struct{ m *Manifest }

func (x execCheck) fail(path, cause, remedy string) *ExecError {
	return &ExecError{Name: x.m.Name, Exec: x.m.Exec, Path: path, Cause: cause, Remedy: remedy}
}

func (x execCheck) bare() (string, error) {
	path, err := exec.LookPath(x.m.Exec)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	if _, err := os.Stat(filepath.Join(x.m.Dir, x.m.Exec)); err == nil {
		return "", x.fail("", "is a bare name and not in PATH", fmt.Sprintf("for the file in the folder write \"./%s\"", x.m.Exec))
	}
	e := x.fail("", "is not in PATH", "install it, or give a path such as \"./"+x.m.Exec+"\"")
	e.Machine = true
	return "", e
}

// module checks a WebAssembly module, which needs no permission to execute.
func (x execCheck) module(path string) (string, error) {
	if err := x.isFile(path); err != nil {
		return "", err
	}
	head, err := readHead(path)
	if err != nil {
		return "", x.fail(path, "cannot be read: "+err.Error(), "check its permissions")
	}
	if !bytes.HasPrefix(head, []byte("\x00asm")) {
		return "", x.fail(path, "is not a WebAssembly module", `build it for wasip1, or set "transport": "subprocess"`)
	}
	return path, nil
}

func (x execCheck) program(path string) (string, error) {
	if runtime.GOOS == "windows" {
		if found, err := exec.LookPath(path); err == nil {
			path = found // the ending may be left out there
		}
	}
	if err := x.isFile(path); err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		return "", x.fail(path, "is not executable", "run: chmod +x "+quotePath(path))
	}
	head, err := readHead(path)
	if err != nil {
		return path, nil // executable and not readable is allowed
	}
	if err := x.head(path, head); err != nil {
		return "", err
	}
	return path, nil
}

// isFile tells missing files, folders and broken links apart.
func (x execCheck) isFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if target, linkErr := os.Readlink(path); linkErr == nil {
			return x.fail(path, fmt.Sprintf("is a link to %q, which is not there", target), "mend the link")
		}
		return x.fail(path, "is not there", x.missingRemedy(path))
	case err != nil:
		return x.fail(path, "cannot be looked at: "+err.Error(), "check the permissions of its folder")
	case info.IsDir():
		return x.fail(path, "is a folder", "name the program in it")
	case !info.Mode().IsRegular():
		return x.fail(path, "is a "+home.Kind(info.Mode()), "name a program")
	}
	return nil
}

func (x execCheck) missingRemedy(path string) string {
	var names []string
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if !e.IsDir() && e.Name() != FileName {
			names = append(names, e.Name())
		}
	}
	if near := schemas.Nearest(filepath.Base(path), names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	switch strings.ToLower(x.m.Language) {
	case "go", "golang":
		return fmt.Sprintf("build it first: go build -o %s .", quotePath(filepath.Base(path)))
	case "rust":
		return "build it first, for example with cargo build --release, and put the program there"
	}
	return "build it first if it is built, or correct the path in " + FileName
}

const headSize = 512

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return head[:n], nil
}

// head looks at the first bytes of a program for what makes a system refuse it
// with words that say little.
func (x execCheck) head(path string, head []byte) error {
	if len(head) == 0 {
		return x.fail(path, "is empty", "put a program there")
	}
	if foreign := foreignProgram(head); foreign != "" {
		return x.fail(path, "is a program for "+foreign, "build it for "+runtime.GOOS)
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")) {
		return x.fail(path, "begins with a byte order mark, which hides its #! line", "save it without the mark")
	}
	line, isScript := bytes.CutPrefix(head, []byte("#!"))
	if !isScript || runtime.GOOS == "windows" {
		return nil
	}
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return x.fail(path, fmt.Sprintf("has a first line that ends in a carriage return, so the system looks for %q", interpreterOf(string(line))),
			"save it with LF line ends")
	}
	return x.interpreter(path, strings.Fields(string(line)))
}

func interpreterOf(line string) string {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) == 0 {
		return line
	}
	return fields[len(fields)-1]
}

// interpreter checks that what the #! line names exists, through env too.
func (x execCheck) interpreter(path string, words []string) error {
	if len(words) == 0 {
		return x.fail(path, "has a #! line that names no interpreter", "write for example #!/bin/sh")
	}
	e := x.fail(path, "", "")
	e.Machine = true
	if _, err := os.Stat(words[0]); err != nil && filepath.IsAbs(words[0]) {
		e.Cause, e.Remedy = fmt.Sprintf("needs %s, which is not there", words[0]), "install it, or correct the #! line"
		return e
	}
	if filepath.Base(words[0]) != "env" {
		return nil
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if _, err := exec.LookPath(word); err != nil {
			e.Cause, e.Remedy = fmt.Sprintf("needs %q, which is not in PATH", word), "install it, or correct the #! line"
			return e
		}
		break
	}
	return nil
}

// foreignProgram names the system that a program was built for, where that is
// plainly another one.
func foreignProgram(head []byte) string {
	systems := map[string]string{"\x7fELF": "linux", "MZ": "windows", "\xcf\xfa\xed\xfe": "darwin", "\xca\xfe\xba\xbe": "darwin"}
	for magic, system := range systems {
		if !bytes.HasPrefix(head, []byte(magic)) {
			continue
		}
		elfElsewhere := system == "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows"
		if system == runtime.GOOS || elfElsewhere {
			return ""
		}
		return system
	}
	return ""
}

// quotePath is a path as a shell takes it.
func quotePath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("/._-+:@%", r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A StartError says why a program cannot be started.
type StartError struct {
	Path  string // the program, or the name that was looked for
	Cause string // the true cause and, where there is one, the remedy
	Err   error  // what the system said, or nil
}

func (e *StartError) Error() string { return fmt.Sprintf("cannot start %q: %s", e.Path, e.Cause) }

// Unwrap returns what the system said.
func (e *StartError) Unwrap() error { return e.Err }

// Resolve finds the program that an extension in folder dir names as exec: an
// absolute path is taken as it is, one with a separator is relative to dir, and
// a bare name is looked up in PATH. It says nothing about the file at a path;
// that is for [Start]. The error is a *[StartError].
func Resolve(dir, name string) (string, error) {
	switch {
	case name == "":
		return "", &StartError{Cause: "no program is named"}
	case strings.ContainsRune(name, 0):
		return "", &StartError{Path: name, Cause: "its name holds a zero byte"}
	case filepath.IsAbs(name):
		return withExtension(filepath.Clean(name)), nil
	case isPath(name):
		path, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", &StartError{Path: name, Cause: err.Error(), Err: err}
		}
		return withExtension(path), nil
	}
	return lookUp(dir, name)
}

// isPath tells a path from a bare name.
func isPath(name string) bool {
	separators := "/"
	if runtime.GOOS == "windows" {
		separators = `/\:` // "c:x" is no bare name either
	}
	return name == "." || name == ".." || strings.ContainsAny(name, separators)
}

// withExtension adds what Windows lets one leave out: "./weather" is
// weather.exe there.
func withExtension(path string) string {
	if runtime.GOOS != "windows" {
		return path
	}
	if found, err := exec.LookPath(path); err == nil {
		return found
	}
	return path
}

func lookUp(dir, name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	cause := "no such program in PATH"
	if path != "" { // found by a relative entry of PATH
		cause = fmt.Sprintf("PATH finds it at %q only, which depends on the current folder", path)
	}
	if info, statErr := os.Stat(filepath.Join(dir, name)); statErr == nil && !info.IsDir() {
		cause += fmt.Sprintf("; to run the file in the extension's folder, write %q", "./"+name)
	}
	return "", &StartError{Path: name, Cause: cause, Err: err}
}

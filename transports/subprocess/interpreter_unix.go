//go:build unix

package subprocess

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkInterpreter looks at the first line of a script. The system reports a
// missing interpreter as a missing script, and env reports one on standard
// error after a start that seemed to work.
func checkInterpreter(o Options) error {
	line, ok := interpreterLine(o.Path)
	if !ok {
		return nil
	}
	if strings.HasSuffix(line, "\r") {
		return fail(o, fmt.Sprintf("its first line %q ends in a carriage return, so that no such interpreter is found (save the file with LF line ends)", "#!"+line), nil)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return fail(o, `its first line "#!" names no interpreter`, nil)
	}
	interpreter := words[0]
	if !filepath.IsAbs(interpreter) {
		interpreter = filepath.Join(o.Dir, interpreter) // as the system would take it
	}
	if info, err := os.Stat(interpreter); err != nil {
		return fail(o, fmt.Sprintf("its interpreter %q does not exist", words[0]), err)
	} else if info.IsDir() || info.Mode()&0o111 == 0 {
		return fail(o, fmt.Sprintf("its interpreter %q is not executable", words[0]), nil)
	}
	if filepath.Base(interpreter) == "env" {
		return checkEnv(o, words[1:])
	}
	return nil
}

// checkEnv looks for the program in "#!/usr/bin/env program". Where options or
// variables make it unclear which that is, nothing is said.
func checkEnv(o Options, words []string) error {
	if len(words) > 0 && words[0] == "-S" {
		words = words[1:]
	}
	if len(words) == 0 {
		return fail(o, "its first line runs env without a program", nil)
	}
	name := words[0]
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "=/") || inPath(o.Env, name) {
		return nil
	}
	return fail(o, fmt.Sprintf("its interpreter %q is not in the PATH that it is given", name), nil)
}

// inPath says whether name is a program in the PATH of env. Without one, env
// has a default of its own that we do not know.
func inPath(env []string, name string) bool {
	path, ok := "", false
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, "PATH="); found {
			path, ok = value, true
		}
	}
	if !ok {
		return true
	}
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// interpreterLine returns the first line after "#!", if the file starts so.
func interpreterLine(path string) (string, bool) {
	head := readHead(path)
	line, ok := strings.CutPrefix(string(head), "#!")
	if !ok {
		return "", false
	}
	line, _, _ = strings.Cut(line, "\n")
	return line, true
}

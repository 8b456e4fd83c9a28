package confinement

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/patriceckhart/zot/transports/confine"
)

// FilesUnenforced says why this system cannot confine the files of a command;
// empty where it can.
func FilesUnenforced() string { return confine.Supported().Unenforced[confine.Files] }

// Shell returns what to start so that a shell, and all that it starts, writes
// below the given folders alone, and reads there, in the further ones, and what
// programs need in order to run: the system's folders, those of PATH, and git's
// own settings. The network and other processes stay in its reach.
func Shell(write, read []string, cmd *exec.Cmd) (string, []string, error) {
	if cause := FilesUnenforced(); cause != "" {
		return "", nil, errors.New(cause)
	}
	p := confine.Policy{Exec: true, OnlyFiles: true, Write: existing(append(slices.Clone(write), devices...))}
	p.Read = existing(slices.Concat(systemDirs(cmd.Path), settingsOfGit(cmd.Env), read))
	return confine.Command(p, cmd.Path, cmd.Args[1:])
}

// devices are what scripts write to and read from as a matter of course.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// settingsOfGit are the files without which git does not start at all where it
// may not look at them.
func settingsOfGit(env []string) []string {
	var home, xdg string
	for _, kv := range env {
		if v, ok := cutName(kv, "HOME"); ok {
			home = v
		}
		if v, ok := cutName(kv, "XDG_CONFIG_HOME"); ok {
			xdg = v
		}
	}
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	var all []string
	for _, path := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(xdg, "git", "config"), filepath.Join(xdg, "git", "ignore"), filepath.Join(xdg, "git", "attributes")} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, path)
		}
	}
	return all
}

func cutName(kv, name string) (value string, ok bool) {
	if len(kv) > len(name) && kv[:len(name)] == name && kv[len(name)] == '=' {
		return kv[len(name)+1:], true
	}
	return "", false
}

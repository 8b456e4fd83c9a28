package home

import (
	"os"
	"path/filepath"
)

// ProjectRoot finds the folder of the project that dir belongs to: the nearest
// one, dir included, that holds .zot or .git, below the user's home folder or
// the root of the file system. Where there is none, dir itself is the project.
// A folder is only looked at, never entered, and git is not run.
func ProjectRoot(dir, userHome string) string {
	dir = filepath.Clean(dir)
	stop := ""
	if userHome != "" {
		stop = Real(userHome)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if parent := filepath.Dir(at); parent == at || Real(at) == stop {
			return dir
		}
		if exists(filepath.Join(at, ".zot")) || exists(filepath.Join(at, ".git")) {
			return at
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ProjectConfigDir holds the settings that are committed with a project.
func ProjectConfigDir(root string) string { return filepath.Join(root, ".zot") }

// LocalConfigDir holds the settings for this checkout alone; git is told to
// ignore it.
func LocalConfigDir(root string) string { return filepath.Join(root, ".zot", "local") }

// ProjectExtensionsDir holds the extensions of a project.
func ProjectExtensionsDir(root string) string { return filepath.Join(root, ".zot", "extensions") }

// ProjectLockFile pins the extensions of a project.
func ProjectLockFile(root string) string { return filepath.Join(root, ".zot", "extensions.lock.json") }

// Package trust remembers what the user approved of a project: which project,
// which bytes, and which rights of each extension.
//
// [Identify] says which project a folder is, [Scan] which files zot would act
// on in it. A [Record] is what was approved; [Record.Approval] gives what of it
// still holds for an extension, and [Record.Compare] what has to be asked.
// Nothing here runs git or anything else of the project.
package trust

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config/home"
)

// An Identity says which project a folder is. Work trees of one repository are
// one project; a repository inside another is a project of its own.
type Identity struct {
	ID   string // a single path element
	Root string // real path of the project's folder
	// Repository is the real path of the common folder of git; empty where the
	// project is in no repository.
	Repository string
	// Session says that trust lasts for this session at most: the user's home
	// folder and the root of a file system are no projects.
	Session bool
}

// Identify finds the identity of the project whose folder is root.
func Identify(root, userHome string) Identity {
	id := Identity{Root: home.Real(root)}
	id.Session = filepath.Dir(id.Root) == id.Root || userHome != "" && id.Root == home.Real(userHome)
	key := id.Root
	if work, repository := findRepository(id.Root); repository != "" {
		id.Repository = repository
		// Of two projects in one repository each has its own place there.
		inside, err := filepath.Rel(work, id.Root)
		if err == nil {
			key = repository + "\x00" + filepath.ToSlash(inside)
		}
	}
	sum := sha256.Sum256([]byte("zot project\x00" + key))
	id.ID = hex.EncodeToString(sum[:16])
	return id
}

// findRepository looks for .git in dir and above, and returns the folder that
// has it and the repository's common folder.
func findRepository(dir string) (work, common string) {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			return at, home.Real(git)
		case err == nil && info.Mode().IsRegular():
			return at, linkedRepository(git)
		case err == nil:
			return at, "" // a link or worse: not for us to follow
		}
		if filepath.Dir(at) == at {
			return "", ""
		}
	}
}

// linkedRepository reads a .git file, as work trees and submodules have one. It
// counts as a work tree of a repository only where the repository knows it by
// this very path: a file alone could name any repository that the user trusts.
func linkedRepository(file string) string {
	target := firstLine(file)
	dir, ok := strings.CutPrefix(target, "gitdir:")
	if !ok {
		return home.Real(file)
	}
	dir = absoluteTo(filepath.Dir(file), strings.TrimSpace(dir))
	back := firstLine(filepath.Join(dir, "gitdir"))
	common := firstLine(filepath.Join(dir, "commondir"))
	if back == "" || common == "" || home.Real(absoluteTo(dir, back)) != home.Real(file) {
		return home.Real(file)
	}
	return home.Real(absoluteTo(dir, common))
}

func absoluteTo(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// firstLine returns the first line of a small regular file, or "".
func firstLine(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	if !s.Scan() {
		return ""
	}
	return strings.TrimSpace(s.Text())
}

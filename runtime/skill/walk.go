package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A walk goes through the folders below root, real ones before links, and
// enters no folder twice, so that links in a circle end.
type walk struct {
	root string
	// within, when not empty, is the real path that links may not leave.
	within    string
	onFile    func(path, rel string) // a SKILL.md, and its folder relative to root
	onProblem func(Problem)

	visited map[string]bool
	full    bool
}

func (w *walk) run() {
	w.visited = map[string]bool{}
	w.enter(w.root, "", 0)
}

func (w *walk) enter(dir, rel string, depth int) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		w.onProblem(Problem{Path: dir, Reason: reason(err)})
		return
	}
	if w.visited[real] || w.full {
		return
	}
	if w.within != "" && !inside(w.within, real) {
		w.onProblem(Problem{Path: dir, Reason: "the link leaves the extension's folder"})
		return
	}
	if len(w.visited) >= maxFolders {
		w.full = true
		w.onProblem(Problem{Path: w.root, Reason: fmt.Sprintf("more than %d folders: the rest was not searched", maxFolders)})
		return
	}
	w.visited[real] = true
	if depth > maxDepth {
		w.onProblem(Problem{Path: dir, Reason: fmt.Sprintf("more than %d folders deep: not searched", maxDepth)})
		return
	}
	w.list(dir, rel, depth)
}

func (w *walk) list(dir, rel string, depth int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.onProblem(Problem{Path: dir, Reason: reason(err)})
		return
	}
	var folders, links []string
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		isDir, isLink := e.IsDir(), e.Type()&os.ModeSymlink != 0
		if isLink {
			info, err := os.Stat(path)
			isDir = err == nil && info.IsDir()
		}
		switch {
		case isDir && (name == ".git" || name == "node_modules"):
		case isDir && isLink:
			links = append(links, name)
		case isDir:
			folders = append(folders, name)
		case name == FileName:
			w.file(path, rel, isLink)
		case strings.EqualFold(name, FileName):
			w.onProblem(Problem{Path: path, Reason: "the file must be named " + FileName})
		}
	}
	for _, name := range slices.Concat(folders, links) {
		w.enter(filepath.Join(dir, name), filepath.Join(rel, name), depth+1)
	}
}

func (w *walk) file(path, rel string, isLink bool) {
	if w.within != "" && isLink {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !inside(w.within, real) {
			w.onProblem(Problem{Path: path, Reason: "the link leaves the extension's folder"})
			return
		}
	}
	w.onFile(path, rel)
}

// inside reports whether path is base or below it; both are real paths.
func inside(base, path string) bool {
	rel, err := filepath.Rel(base, path)
	return err == nil && filepath.IsLocal(rel)
}

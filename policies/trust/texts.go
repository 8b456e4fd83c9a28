package trust

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/policies/tree"
)

// maxTextDepth is how deep below its folder a skill can be; zot looks for none
// deeper down.
const maxTextDepth = 10

// A texts adds what of a project a model is told to a bundle. These are files of
// other programs, too, in which links are common: they are followed inside the
// project, and both where a link leads and the bytes there count. What cannot be
// pinned, a link out of the project for one, is left out and said, and does not
// keep the rest from being trusted.
type texts struct {
	b       *Bundle
	root    string
	files   *tree.Files
	seen    map[string]bool // paths of the bundle
	visited map[string]bool // real folders below the one that is being searched
}

// addTexts adds files and folders of texts.
func (b *Bundle) addTexts(root string, s Sources, seen map[string]bool, cache *tree.Cache) error {
	files, err := tree.OpenFiles(root, cache)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer files.Close()
	t := &texts{b: b, root: root, files: files, seen: seen}
	for _, p := range s.Files {
		t.place(path.Clean(p))
	}
	for _, p := range s.Texts {
		t.visited = map[string]bool{}
		t.place(path.Clean(p))
	}
	return nil
}

// place adds one file or folder, and the links on the way to it.
func (t *texts) place(p string) {
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return // nothing of the project
	}
	at := ""
	for _, name := range strings.Split(p, "/") {
		at = path.Join(at, name)
		info, err := t.files.Root().Lstat(at)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.skip(at, err)
			}
			return
		}
		if info.Mode()&fs.ModeSymlink != 0 && !t.link(at) {
			return
		}
	}
	t.visit(p, 0)
}

// visit adds what is at p, through a link or not.
func (t *texts) visit(p string, depth int) {
	info, err := t.files.Root().Stat(p)
	switch {
	case err != nil:
		t.skip(p, err)
	case info.IsDir():
		t.folder(p, depth)
	case info.Mode().IsRegular():
		t.file(p)
	}
}

func (t *texts) file(p string) {
	f, err := t.files.Hash(p)
	if err != nil {
		t.skip(p, err)
		return
	}
	t.put(f)
}

// folder adds what is in a folder, real folders before links, and each once: so
// does the search for skills.
func (t *texts) folder(p string, depth int) {
	real, err := filepath.EvalSymlinks(filepath.Join(t.root, filepath.FromSlash(p)))
	if err != nil || depth > maxTextDepth || t.visited[real] {
		return
	}
	if t.visited != nil {
		t.visited[real] = true
	}
	entries, err := fs.ReadDir(t.files.Root().FS(), p)
	if err != nil {
		t.skip(p, err)
		return
	}
	var links []string
	for _, e := range entries {
		at := path.Join(p, e.Name())
		switch {
		case e.Name() == ".git", e.Name() == "node_modules":
		case e.Type()&fs.ModeSymlink != 0:
			if t.link(at) {
				links = append(links, at)
			}
		default:
			t.visit(at, depth+1)
		}
	}
	for _, at := range links {
		t.visit(at, depth+1)
	}
}

// link adds where a link leads, as a file of its own; false says that it leads
// to nothing in the project.
func (t *texts) link(p string) bool {
	target, err := t.files.Root().Readlink(p)
	if err != nil {
		t.skip(p, err)
		return false
	}
	if _, err := t.files.Root().Stat(p); err != nil {
		t.skip(p, err)
		return false
	}
	t.put(tree.File{Path: p + " -> " + filepath.ToSlash(target), Size: int64(len(target)), Sum: sha256.Sum256([]byte(target))})
	return true
}

func (t *texts) put(f tree.File) {
	if !t.seen[f.Path] {
		t.seen[f.Path] = true
		t.b.Files = append(t.b.Files, f)
	}
}

// skip notes what is left out. An os.Root does not say in a form of its own that
// a path leads out of it.
func (t *texts) skip(p string, err error) {
	why := "cannot be pinned: " + cause(err)
	if pinned := (*tree.Error)(nil); errors.As(err, &pinned) {
		why = pinned.Reason
	} else if strings.Contains(err.Error(), "escapes") {
		why = "leads out of the project"
	} else if errors.Is(err, fs.ErrNotExist) {
		why = "leads nowhere"
	}
	t.b.Skipped = append(t.b.Skipped, p+" "+why)
}

func cause(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

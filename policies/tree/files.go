package tree

import "os"

// Files hashes single files of a folder, and so does not mind what else is in
// it. Links are followed as long as they lead to a place inside the folder. The
// bounds of a [Tree] hold for all of them together.
type Files struct{ h hasher }

// OpenFiles opens a folder. Close it.
func OpenFiles(dir string, cache *Cache) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Files{h: hasher{dir: dir, root: root, o: Options{Cache: cache}, tree: &Tree{}}}, nil
}

// Close lets go of the folder.
func (f *Files) Close() error { return f.h.root.Close() }

// Root is the folder, through which nothing outside it can be reached.
func (f *Files) Root() *os.Root { return f.h.root }

// Hash hashes the regular file at p, with forward slashes. The error is an
// *Error where it is none, or one too many.
func (f *Files) Hash(p string) (File, error) {
	if err := f.h.file(p); err != nil {
		return File{}, err
	}
	return f.h.tree.Files[len(f.h.tree.Files)-1], nil
}

// Package tree hashes a folder, so that a digest stands for exactly its files:
// their paths, sizes, contents and whether they can be executed.
//
// What a digest could not stand for is refused: links and special files, a
// nested .git, two paths that some file systems hold to be one, and trees
// beyond the bounds.
package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// The bounds of a tree.
const (
	MaxFiles = 20_000
	MaxSize  = 256 << 20 // bytes in all files
)

// Version begins every digest; it changes when the way of hashing does.
const Version = "zt1"

// A File is a regular file of a tree.
type File struct {
	Path string // with forward slashes, relative to the tree
	Exec bool
	Size int64
	Sum  [sha256.Size]byte
}

// A Tree is all files of a folder, sorted by the bytes of their paths.
type Tree struct {
	Files []File
	Size  int64
}

// An Error says why a folder cannot be hashed.
type Error struct {
	Dir    string
	Path   string // inside Dir; may be empty
	Reason string
	Remedy string
}

func (e *Error) Error() string { return e.What() + "; " + e.Remedy }

// What is the error without its remedy.
func (e *Error) What() string {
	at := e.Dir
	if e.Path != "" {
		at = path.Join(e.Dir, e.Path)
	}
	return at + " " + e.Reason
}

// Options changes what [Hash] does. The zero value hashes everything anew.
type Options struct {
	// Skip leaves out a path, and with a folder all below it.
	Skip func(path string) bool
	// Cache saves reading files that have not changed; nil: all are read.
	Cache *Cache
	// Copy is given each file's content while it is hashed; nil: nobody.
	Copy func(f File, mode fs.FileMode) (io.WriteCloser, error)
}

// Hash reads all files below dir. Paths cannot lead out of dir while it is
// read: it is opened once, and everything else through it.
func Hash(dir string, o Options) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("hashing %q: %w", dir, err)
	}
	defer root.Close()
	h := &hasher{dir: dir, root: root, o: o, tree: &Tree{}, folded: map[string]string{}}
	if err := fs.WalkDir(root.FS(), ".", h.visit); err != nil {
		return nil, err
	}
	sort.Slice(h.tree.Files, func(i, j int) bool { return h.tree.Files[i].Path < h.tree.Files[j].Path })
	return h.tree, nil
}

type hasher struct {
	dir    string
	root   *os.Root
	o      Options
	tree   *Tree
	folded map[string]string
	buf    []byte
}

func (h *hasher) fail(p, reason, remedy string) error {
	return &Error{Dir: h.dir, Path: p, Reason: reason, Remedy: remedy}
}

func (h *hasher) visit(p string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("hashing %q: %w", path.Join(h.dir, p), err)
	case p == ".":
		return nil
	case h.o.Skip != nil && h.o.Skip(p):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case strings.EqualFold(d.Name(), ".git"):
		return h.fail(p, "is a repository inside the folder", "remove it: its history is no part of an extension")
	}
	key := strings.ToLower(norm.NFC.String(p))
	if twin, ok := h.folded[key]; ok {
		return h.fail(p, fmt.Sprintf("and %q are one file on some systems", twin), "rename one of them")
	}
	h.folded[key] = p
	if d.IsDir() {
		return nil
	}
	if !d.Type().IsRegular() {
		return h.fail(p, "is a link or a special file", "put the file or folder itself in its place")
	}
	return h.file(p)
}

func (h *hasher) file(p string) error {
	f, err := h.root.Open(p)
	if err != nil {
		return fmt.Errorf("hashing %q: %w", path.Join(h.dir, p), err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("hashing %q: %w", path.Join(h.dir, p), err)
	}
	if !info.Mode().IsRegular() { // it was swapped since the folder was read
		return h.fail(p, "is a link or a special file", "put the file or folder itself in its place")
	}
	if len(h.tree.Files) == MaxFiles {
		return h.fail("", fmt.Sprintf("holds more than %d files", MaxFiles), "leave out what the extension does not need")
	}
	if h.tree.Size+info.Size() > MaxSize {
		return h.fail("", fmt.Sprintf("holds more than %d MiB", MaxSize>>20), "leave out what the extension does not need")
	}
	entry := File{Path: p, Exec: info.Mode()&0o111 != 0, Size: info.Size()}
	if sum, ok := h.o.Cache.get(h.dir, p, info); ok && h.o.Copy == nil {
		entry.Sum = sum
	} else if err := h.read(f, &entry, info); err != nil {
		return err
	}
	h.o.Cache.put(h.dir, p, info, entry.Sum)
	h.tree.Files = append(h.tree.Files, entry)
	h.tree.Size += entry.Size
	return nil
}

// read hashes the content. The size that counts is what was read: a file that
// grows meanwhile is one that changed.
func (h *hasher) read(f *os.File, entry *File, info fs.FileInfo) (err error) {
	if h.buf == nil {
		h.buf = make([]byte, 256<<10)
	}
	sum := sha256.New()
	to := io.Writer(sum)
	if h.o.Copy != nil {
		w, err := h.o.Copy(*entry, info.Mode())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		to = io.MultiWriter(sum, w)
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{to}, io.LimitReader(f, MaxSize-h.tree.Size+1), h.buf)
	if err != nil {
		return fmt.Errorf("hashing %q: %w", path.Join(h.dir, entry.Path), err)
	}
	if n != entry.Size {
		return h.fail(entry.Path, "changed while it was read", "try again")
	}
	sum.Sum(entry.Sum[:0])
	return nil
}

// Digest is the tree's digest: SHA-256 over a version line, the number of
// files, and a line for each with its executable flag, path, size and SHA-256.
// The length before each path keeps any two trees apart.
func (t *Tree) Digest() string { return Version + ":" + t.sum(Version) }

// DigestAs is Digest under another name, for trees that mean something else.
func (t *Tree) DigestAs(version string) string { return version + ":" + t.sum(version) }

func (t *Tree) sum(version string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%d\n", version, len(t.Files))
	for _, f := range t.Files {
		flag := "-"
		if f.Exec {
			flag = "x"
		}
		fmt.Fprintf(&b, "%s %d %s %d %x\n", flag, len(f.Path), f.Path, f.Size, f.Sum)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

// Changed lists the paths that are not the same in both trees.
func Changed(a, b *Tree) []string {
	was := make(map[string]File, len(a.Files))
	for _, f := range a.Files {
		was[f.Path] = f
	}
	var out []string
	for _, f := range b.Files {
		if was[f.Path] != f {
			out = append(out, f.Path)
		}
		delete(was, f.Path)
	}
	for p := range was {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

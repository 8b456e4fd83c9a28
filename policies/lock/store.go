package lock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/policies/tree"
)

// A Store keeps folders of extensions by the digest of their content, read-only.
type Store struct {
	Dir string
	// Copies says that the folders are copies that a project carries: whoever
	// keeps the project must be able to move and remove them. What they hold
	// counts only after it was hashed, as everywhere.
	Copies bool
}

// A DriftError says that a folder of the store does not hold what it should.
type DriftError struct {
	Dir  string
	Want string
	Got  string
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("stored extension %s has digest %s and should have %s; remove the folder and run zot ext sync", e.Dir, e.Got, e.Want)
}

// Path is where the folder with the digest is, or would be.
func (s Store) Path(digest string) (string, error) {
	if !IsDigest(digest) {
		return "", fmt.Errorf("%q is not a digest", digest)
	}
	return filepath.Join(s.Dir, strings.Replace(digest, ":", "-", 1)), nil
}

// Digests lists what the store has folders for, unchecked.
func (s Store) Digests() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if digest := strings.Replace(e.Name(), "-", ":", 1); IsDigest(digest) {
			out = append(out, digest)
		}
	}
	return out, err
}

// Has tells whether the store has a folder for the digest, unchecked.
func (s Store) Has(digest string) bool {
	dir, err := s.Path(digest)
	if err != nil {
		return false
	}
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// Open returns the folder with the digest, after reading all of it: what it
// holds is what the digest stands for. It is a *DriftError where it is not, and
// wraps fs.ErrNotExist where there is none.
func (s Store) Open(digest string) (string, error) {
	dir, err := s.Path(digest)
	if err != nil {
		return "", err
	}
	t, err := tree.Hash(dir, tree.Options{})
	if err != nil {
		return "", err
	}
	if got := t.Digest(); got != digest {
		return "", &DriftError{Dir: dir, Want: digest, Got: got}
	}
	return dir, nil
}

// Put copies a folder into the store while it hashes it, so that what is stored
// is what was hashed, and returns its digest. A folder that is there already is
// checked and kept; one that has drifted is replaced.
func (s Store) Put(from string) (digest string, t *tree.Tree, err error) {
	if err := s.ensure(); err != nil {
		return "", nil, err
	}
	tmp := filepath.Join(s.Dir, ".new-"+rand.Text()[:12])
	if err := os.Mkdir(tmp, home.DirMode); err != nil {
		return "", nil, fmt.Errorf("storing %q: %w", from, err)
	}
	defer removeAll(tmp)
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return "", nil, fmt.Errorf("storing %q: %w", from, err)
	}
	defer root.Close()
	t, err = tree.Hash(from, tree.Options{Copy: func(f tree.File, _ fs.FileMode) (io.WriteCloser, error) {
		return s.create(root, f)
	}})
	if err != nil {
		return "", nil, err
	}
	digest = t.Digest()
	dir, err := s.Path(digest)
	if err != nil {
		return "", nil, err
	}
	if _, err := s.Open(digest); err == nil {
		return digest, t, nil
	}
	removeAll(dir)
	if err := s.seal(tmp); err != nil {
		return "", nil, fmt.Errorf("storing %q: %w", from, err)
	}
	if err := os.Rename(tmp, dir); err != nil && !s.Has(digest) {
		return "", nil, fmt.Errorf("storing %q: %w", from, err)
	}
	return digest, t, nil
}

// ensure makes the store's folder. Copies are the project's, as open as its
// other files; git must not change line ends in them.
func (s Store) ensure() error {
	if !s.Copies {
		return home.EnsureDir(s.Dir)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("making a folder for copies: %w", err)
	}
	attributes := filepath.Join(s.Dir, ".gitattributes")
	if _, err := os.Lstat(attributes); err == nil {
		return nil
	}
	return os.WriteFile(attributes, []byte("* -text -filter -ident\n"), 0o644)
}

func (s Store) create(root *os.Root, f tree.File) (io.WriteCloser, error) {
	if dir := filepath.Dir(filepath.FromSlash(f.Path)); dir != "." {
		if err := root.MkdirAll(dir, home.DirMode); err != nil {
			return nil, err
		}
	}
	mode := fs.FileMode(0o400)
	if s.Copies {
		mode = 0o644
	}
	if f.Exec {
		mode |= (mode & 0o444) >> 2
	}
	file, err := root.OpenFile(filepath.FromSlash(f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return synced{file}, nil
}

// synced is a file that is on disk when it is closed.
type synced struct{ *os.File }

func (s synced) Close() error { return errors.Join(s.File.Sync(), s.File.Close()) }

// seal takes the right to write from all folders below dir, dir included.
func (s Store) seal(dir string) error {
	mode := fs.FileMode(0o500)
	if s.Copies {
		mode = 0o755
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, mode)
	})
}

// removeAll removes a folder that may be sealed.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, home.DirMode)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// Remove takes a folder out of the store.
func (s Store) Remove(digest string) error {
	dir, err := s.Path(digest)
	if err != nil {
		return err
	}
	removeAll(dir)
	return nil
}

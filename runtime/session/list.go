package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotFound says that there is no such session.
var ErrNotFound = errors.New("no such session")

// An AmbiguousError says that several sessions answer to a reference.
type AmbiguousError struct {
	Ref      string
	Sessions []Info
}

func (e *AmbiguousError) Error() string {
	var ids []string
	for _, s := range e.Sessions {
		ids = append(ids, fmt.Sprintf("%s (%s)", s.ID, s.Cwd))
	}
	return fmt.Sprintf("%q could be any of %s: write more of the id", e.Ref, strings.Join(ids, ", "))
}

// List returns the sessions of exactly the folder cwd, the latest first, and
// an error for each file that could not be read. Empty ones are left out. It
// reads at most 64 KiB of each.
func (st *Store) List(cwd string) ([]Info, []error) {
	infos, errs := listFolder(st.Folder(cwd))
	clean := filepath.Clean(cwd)
	infos = slices.DeleteFunc(infos, func(i Info) bool { return i.Cwd != clean })
	return infos, errs
}

// ListAll returns the sessions of all folders, the latest first.
func (st *Store) ListAll() ([]Info, []error) {
	folders, err := filepath.Glob(filepath.Join(st.dir, "*"))
	if err != nil {
		return nil, []error{err}
	}
	var all []Info
	var errs []error
	for _, dir := range folders {
		infos, more := listFolder(dir)
		all, errs = append(all, infos...), append(errs, more...)
	}
	slices.SortStableFunc(all, latestFirst)
	return all, errs
}

func listFolder(dir string) ([]Info, []error) {
	files, err := filesIn(dir)
	if err != nil {
		return nil, []error{err}
	}
	var infos []Info
	var errs []error
	for _, f := range files {
		info, err := stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			errs = append(errs, fmt.Errorf("reading session %q: %w", f.path, err))
		case !info.Empty():
			infos = append(infos, info)
		}
	}
	slices.SortStableFunc(infos, latestFirst)
	return infos, errs
}

func latestFirst(a, b Info) int {
	return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(b.Path, a.Path))
}

// Latest returns the session of exactly the folder cwd that was written last.
// Where there is none the error is ErrNotFound.
func (st *Store) Latest(cwd string) (Info, error) {
	files, err := filesIn(st.Folder(cwd))
	if err != nil {
		return Info{}, err
	}
	for _, f := range files {
		if info, err := stat(f.path); err == nil && !info.Empty() && info.Cwd == filepath.Clean(cwd) {
			return info, nil
		}
	}
	return Info{}, fmt.Errorf("%w in %q", ErrNotFound, cwd)
}

// minRef is how many characters of an id a reference must have.
const minRef = 4

const whatThereIs = "zot sessions list --all shows what there is"

// Find returns the session that ref means: the path of its file, its name, or
// the beginning of its id, whatever folder it belongs to. The error is
// ErrNotFound or a *AmbiguousError.
func (st *Store) Find(ref string) (Info, error) {
	if strings.ContainsAny(ref, `/\`) || strings.HasSuffix(ref, ext) && exists(ref) {
		return st.Stat(ref)
	}
	name := strings.TrimSuffix(ref, ext)
	if len(name) < minRef {
		return Info{}, fmt.Errorf("%w: %q could be the beginning of many ids; write at least %d characters; "+whatThereIs, ErrNotFound, ref, minRef)
	}
	paths, err := filepath.Glob(filepath.Join(st.dir, "*", "*"+ext))
	if err != nil {
		return Info{}, err
	}
	var found []Info
	for _, path := range paths {
		prefix := idPrefix(path)
		if base := strings.TrimSuffix(filepath.Base(path), ext); base != name && !sharePrefix(prefix, name) {
			continue
		}
		info, err := stat(path)
		if err == nil && (strings.HasPrefix(info.ID, name) || strings.TrimSuffix(filepath.Base(path), ext) == name) {
			found = append(found, info)
		}
	}
	switch len(found) {
	case 0:
		return Info{}, fmt.Errorf("%w: %q; "+whatThereIs, ErrNotFound, ref)
	case 1:
		return found[0], nil
	}
	return Info{}, &AmbiguousError{Ref: ref, Sessions: found}
}

// Rename gives a session that is not open a title. One that is open is
// ErrInUse.
func (st *Store) Rename(path, title string) error {
	s, _, err := st.Resume(path, LoadOptions{MaxBlobs: 1})
	if err != nil {
		return err
	}
	return errors.Join(s.Rename(title), s.Close())
}

// sharePrefix reports whether one of a and b begins with the other.
func sharePrefix(a, b string) bool {
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

type file struct {
	path string
	info fs.FileInfo
}

// filesIn returns the sessions in a folder, which need not exist, the latest
// first, by what the folder says of them.
func filesIn(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	var files []file
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ext {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, file{filepath.Join(dir, e.Name()), info})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), cmp.Compare(b.path, a.path))
	})
	return files, nil
}

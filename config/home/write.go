package home

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// WriteFile replaces the content of path in one step: a reader sees the old
// content or the new, also after a crash. Missing folders are created for the
// user alone. A file that exists keeps its permissions; a new one gets mode.
// Where path is a symbolic link the file it leads to is replaced and the link
// stays. On an error the file is as before and nothing is left beside it.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	if err := replace(path, data, mode); err != nil {
		return fmt.Errorf("writing %q: %w", path, plain(err))
	}
	return nil
}

func replace(path string, data []byte, mode fs.FileMode) error {
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	if err := EnsureDir(filepath.Dir(target)); err != nil {
		return err
	}
	switch info, err := os.Stat(target); {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+rand.Text()[:10]+".tmp")
	if err := writeSynced(tmp, data, mode); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := os.Rename(tmp, target); err != nil {
		os.Remove(tmp)
		return err
	}
	syncDir(filepath.Dir(target))
	return nil
}

func writeSynced(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode) // the umask may have taken some bits
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the rename itself durable. Not every system can do so to a
// folder, and the content is safe without it.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}

// followLinks returns what path leads to, which need not exist.
func followLinks(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		dest, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(dest) {
			dest = filepath.Join(filepath.Dir(path), dest)
		}
		path = dest
	}
	return "", errors.New("too many symbolic links")
}

// Update changes a file that several instances of zot may change at once. It
// takes the lock of path, reads the file (nil where there is none), and writes
// what fn returns; where fn returns the same bytes or an error nothing is
// written. An error of fn is returned as it is. A new file gets FileMode. Where a
// program that knows of no lock has changed the file meanwhile, fn is asked again.
//
// Locks are files of their own below locks/, so that none appear in a project.
func (h Home) Update(path string, fn func(old []byte) ([]byte, error)) error {
	unlock, err := h.Lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	if err := writable(path); err != nil {
		return err
	}
	for range updateTries {
		old, err := existing(path)
		if err != nil {
			return err
		}
		data, err := fn(old)
		if err != nil {
			return err
		}
		if old != nil && bytes.Equal(old, data) {
			return nil
		}
		now, err := existing(path)
		if err != nil {
			return err
		}
		if (now == nil) == (old == nil) && bytes.Equal(now, old) {
			return WriteFile(path, data, FileMode)
		}
	}
	return fmt.Errorf("writing %q: another program keeps changing the file; try again", path)
}

// updateTries is how often a change is made again because of another program.
const updateTries = 5

// existing reads a file; nil where there is none.
func existing(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %q: %w", path, plain(err))
	case data == nil:
		data = []byte{} // an empty file is one
	}
	return data, nil
}

// writable refuses what is no file, and a file that its owner has made read-only,
// which replacing it would pass over.
func writable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would wait for ever
		return fmt.Errorf("%q is a %s, and must be a file", path, Kind(info.Mode()))
	}
	if err == nil && info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("writing %q: the file is read-only; if it is to be changed, make it writable first", path)
	}
	return nil // a file that cannot be looked at is reported by who reads it
}

// Lock waits for the lock that [Home.Update] holds while it changes path, and
// returns the function that gives it back. The lock falls with the process.
func (h Home) Lock(path string) (unlock func(), err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("locking %q: %w", path, err)
	}
	dir := h.Path("locks")
	if err := EnsureDir(dir); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(fold(Real(abs))))
	l := flock.New(filepath.Join(dir, hex.EncodeToString(sum[:8])+".lock"), flock.SetPermissions(FileMode))
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("locking %q: %w", path, plain(err))
	}
	return func() { _ = l.Unlock() }, nil
}

// plain drops the path from an error whose message will name it anyway.
func plain(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

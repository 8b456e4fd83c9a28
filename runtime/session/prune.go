package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// PruneOptions says which sessions are deleted. A session has to be met by
// each condition that is set; with none set only empty ones are.
type PruneOptions struct {
	// Cwd, if not empty, is the folder whose sessions are looked at.
	Cwd string
	// OlderThan, if not zero, is how long ago a session was written last.
	OlderThan time.Duration
	// Keep, if not zero, is how many of the latest sessions of each folder stay.
	Keep int
	// DryRun deletes nothing and says what would be.
	DryRun bool
}

// Pruned says what was deleted.
type Pruned struct {
	Sessions []Info // those that were empty are not listed
	InUse    []Info // met the conditions and are open somewhere
	Bytes    int64  // what the files took, blobs included
}

// grace is how long an unused blob or an empty session stays: it may belong to
// a session that is being written at this moment.
const grace = 24 * time.Hour

// Prune deletes sessions, and blobs that no session names any more.
func (st *Store) Prune(o PruneOptions) (Pruned, error) {
	folders := []string{st.Folder(o.Cwd)}
	if o.Cwd == "" {
		var err error
		if folders, err = filepath.Glob(filepath.Join(st.dir, "*")); err != nil {
			return Pruned{}, err
		}
	}
	var out Pruned
	var errs []error
	for _, dir := range folders {
		errs = append(errs, st.pruneFolder(dir, o, &out))
	}
	if err := errors.Join(errs...); err != nil {
		return out, fmt.Errorf("pruning sessions: %w", err)
	}
	return out, nil
}

func (st *Store) pruneFolder(dir string, o PruneOptions, out *Pruned) error {
	files, err := filesIn(dir)
	if err != nil {
		return err
	}
	kept := 0
	var left []string
	for _, f := range files {
		info, err := stat(f.path)
		age := st.now().Sub(f.info.ModTime())
		switch {
		case err != nil: // not ours to judge
		case info.Empty() && age > grace:
			if o.DryRun || remove(f.path) == nil {
				out.Bytes += info.Size
				continue
			}
		case !info.Empty() && o.met(age, kept):
			err := error(nil)
			if !o.DryRun {
				err = remove(f.path)
			}
			if err == nil {
				out.Sessions, out.Bytes = append(out.Sessions, info), out.Bytes+info.Size
				continue
			}
			if !errors.Is(err, ErrInUse) {
				return err
			}
			out.InUse = append(out.InUse, info)
		default:
			kept++
		}
		left = append(left, f.path)
	}
	return st.cleanFolder(dir, left, o.DryRun, out)
}

func (o PruneOptions) met(age time.Duration, kept int) bool {
	if o.OlderThan == 0 && o.Keep == 0 {
		return false
	}
	return (o.OlderThan == 0 || age > o.OlderThan) && kept >= o.Keep
}

// Remove deletes one session. One that is open somewhere is ErrInUse. Blobs
// that nothing else names go with the next Prune.
func (st *Store) Remove(path string) error {
	if err := remove(path); err != nil {
		return fmt.Errorf("deleting session %q: %w", path, err)
	}
	return nil
}

func remove(path string) error {
	lock, err := lockFile(path)
	if err != nil {
		return err
	}
	defer lock.unlock()
	return os.Remove(path)
}

// cleanFolder deletes the blobs that none of the sessions names, and the
// folder once nothing is in it.
func (st *Store) cleanFolder(dir string, sessions []string, dry bool, out *Pruned) error {
	blobDir := filepath.Join(dir, "blobs")
	entries, err := os.ReadDir(blobDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	used := map[string]bool{}
	if len(entries) > 0 {
		if used, err = usedBlobs(sessions); err != nil {
			return err // without knowing what is used nothing is deleted
		}
	}
	for _, e := range entries {
		info, err := e.Info()
		name, _, temporary := strings.Cut(e.Name(), ".")
		if err != nil || !isHash(name) || used[name] && !temporary || st.now().Sub(info.ModTime()) < grace {
			continue
		}
		if dry || os.Remove(filepath.Join(blobDir, e.Name())) == nil {
			out.Bytes += info.Size()
		}
	}
	if !dry {
		_ = os.Remove(blobDir) // fails, as it should, while something is in it
		_ = os.Remove(dir)
	}
	return nil
}

func usedBlobs(sessions []string) (map[string]bool, error) {
	used := map[string]bool{}
	for _, path := range sessions {
		err := eachRow(path, func(_ []byte, r row) error {
			if r.Message != nil {
				for _, name := range blobNames(r.Message.Content) {
					used[name] = true
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return used, nil
}

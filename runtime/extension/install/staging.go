package install

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/patriceckhart/zot/config/home"
	"github.com/patriceckhart/zot/runtime/extension/manifest"
)

const stagingPrefix = ".staging-"

// A staging is a folder beside the installed extensions in which the next state
// of one is put together. Its lock says that its process lives.
type staging struct {
	home home.Home
	dir  string
	lock *flock.Flock
}

// What a staging folder may hold.
const (
	treeDir    = "tree"   // the new extension
	cloneDir   = "clone"  // what git brought
	oldDir     = "old"    // the one that was replaced or is being removed
	targetFile = "target" // the name of the folder that old belongs to, while it may have to go back
	lockSuffix = ".lock"  // of the lock beside the folder
	originsDir = ".origins"
)

// stage clears what interrupted operations have left and makes a folder.
func stage(h home.Home) (*staging, error) {
	if err := h.Ensure(); err != nil {
		return nil, err
	}
	if err := home.EnsureDir(h.ExtensionsDir()); err != nil {
		return nil, err
	}
	unlock, err := h.Lock(h.ExtensionsDir())
	if err != nil {
		return nil, err
	}
	defer unlock()
	tidy(h)
	if err := step("stage"); err != nil {
		return nil, err
	}
	var id [6]byte
	rand.Read(id[:])
	s := &staging{home: h, dir: filepath.Join(h.ExtensionsDir(), stagingPrefix+hex.EncodeToString(id[:]))}
	s.lock = flock.New(s.dir + lockSuffix)
	if ok, err := s.lock.TryLock(); err != nil || !ok {
		return nil, fmt.Errorf("locking the staging folder: %w", errors.Join(err, errIf(!ok, "taken")))
	}
	if err := os.Mkdir(s.dir, home.DirMode); err != nil {
		s.clear()
		return nil, err
	}
	return s, nil
}

func errIf(yes bool, text string) error {
	if yes {
		return errors.New(text)
	}
	return nil
}

func (s *staging) path(name string) string { return filepath.Join(s.dir, name) }

// clear removes the folder and gives up the lock. Where something resists, the
// next operation tries again.
func (s *staging) clear() {
	if step("clear") != nil {
		return
	}
	_ = os.RemoveAll(s.dir)
	_ = s.lock.Unlock()
	_ = os.Remove(s.lock.Path())
}

// Tidy finishes or undoes what an interrupted operation has left. Every
// operation begins with it; a start of zot may call it too.
func Tidy(zotHome string) error {
	h := home.Home(zotHome)
	if _, err := os.Stat(h.ExtensionsDir()); err != nil {
		return nil
	}
	unlock, err := h.Lock(h.ExtensionsDir())
	if err != nil {
		return err
	}
	defer unlock()
	tidy(h)
	return nil
}

// tidy is [Tidy] with the lock held. What it cannot mend it leaves for the next
// time: it must not keep a user from installing something else.
func tidy(h home.Home) {
	entries, _ := os.ReadDir(h.ExtensionsDir())
	folders := map[string]string{} // folded -> as it is
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			folders[manifest.Fold(e.Name())] = e.Name()
		}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagingPrefix) && !strings.HasSuffix(e.Name(), lockSuffix) {
			if back := tidyStaging(h, filepath.Join(h.ExtensionsDir(), e.Name())); back != "" {
				folders[manifest.Fold(back)] = back
			}
		}
	}
	for _, e := range entries {
		if dir, ok := strings.CutSuffix(e.Name(), lockSuffix); ok && strings.HasPrefix(dir, stagingPrefix) {
			if _, err := os.Lstat(filepath.Join(h.ExtensionsDir(), dir)); errors.Is(err, fs.ErrNotExist) {
				dropLock(filepath.Join(h.ExtensionsDir(), e.Name()))
			}
		}
	}
	for _, name := range recordNames(h) {
		settleRecord(h, name, folders[name])
	}
}

// tidyStaging clears one staging folder whose process is gone. It returns the
// name of the extension that it put back, if any.
func tidyStaging(h home.Home, dir string) (putBack string) {
	lock := flock.New(dir + lockSuffix)
	if ok, err := lock.TryLock(); err != nil || !ok {
		return ""
	}
	defer func() {
		_ = lock.Unlock()
		_ = os.Remove(lock.Path())
	}()
	if name, err := os.ReadFile(filepath.Join(dir, targetFile)); err == nil && manifest.CheckName(string(name)) == nil {
		target := filepath.Join(h.ExtensionsDir(), string(name))
		if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
			if os.Rename(filepath.Join(dir, oldDir), target) == nil {
				putBack = string(name)
			}
		}
	}
	_ = os.RemoveAll(dir)
	return putBack
}

// dropLock removes a lock whose folder was never made or is gone.
func dropLock(path string) {
	lock := flock.New(path)
	if ok, err := lock.TryLock(); err == nil && ok {
		_ = lock.Unlock()
		_ = os.Remove(path)
	}
}

// settleRecord makes a record agree with the folder it is about; folderName is
// empty where there is none.
func settleRecord(h home.Home, name, folderName string) {
	path := recordPath(h, name)
	r, err := readRecord(path)
	if err != nil {
		return // kept for the user to look at
	}
	if folderName == "" {
		_ = writeRecord(path, record{})
		return
	}
	if r.Pending == nil {
		return
	}
	_ = writeRecord(path, record{Current: r.truth(filepath.Join(h.ExtensionsDir(), folderName))})
}

package session

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// ErrInUse says that another process, or another part of this one, has the
// session open.
var ErrInUse = errors.New("it is open in another zot: close it there, or fork it")

// A fileLock keeps a session to one writer. It falls with the process.
type fileLock struct{ flock *flock.Flock }

// lockFile takes the lock of a session that exists, without waiting.
func lockFile(path string) (*fileLock, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	l := flock.New(lockPath(path), flock.SetFlag(lockFlag), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrInUse
	}
	// It may have been deleted between the look and the lock.
	if _, err := os.Stat(path); err != nil {
		(&fileLock{l}).unlock()
		return nil, fs.ErrNotExist
	}
	return &fileLock{l}, nil
}

// unlock gives the lock back. It may be called on nil.
func (l *fileLock) unlock() {
	if l == nil {
		return
	}
	_ = l.flock.Unlock()
	afterUnlock(l.flock.Path())
}

package engine

import (
	"io/fs"
	"path"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"

	"github.com/patriceckhart/zot/transports"
)

// MaxRefusals is how many different refusals are told of one guest.
const MaxRefusals = 64

// maxPath bounds the path in a refusal, in bytes: a guest may try any.
const maxPath = 512

// refusals tells what a guest is refused, each thing once. A guest runs on one
// goroutine, so there is no lock.
type refusals struct {
	tell func(transports.Refusal) // or nil
	told map[transports.Refusal]bool
	// errno is what the guest is to see in place of the EIO that it gets: the
	// engine does not know the errors of limits.
	errno uint32
}

func (r *refusals) add(refusal transports.Refusal) {
	if len(refusal.Path) > maxPath {
		refusal.Path = refusal.Path[:maxPath]
	}
	if r.tell == nil || r.told[refusal] || len(r.told) >= MaxRefusals {
		return
	}
	if r.told == nil {
		r.told = map[transports.Refusal]bool{}
	}
	r.told[refusal] = true
	r.tell(refusal)
}

// limit notes that a limit was met, and gives what the engine can carry.
func (r *refusals) limit(name string, errno uint32) experimental.Errno {
	r.errno = errno
	r.add(transports.Refusal{Limit: name})
	return experimental.EIO
}

// seen is the error that the guest is to see.
func (r *refusals) seen(errno uint32) uint32 {
	if errno == errIo && r.errno != 0 {
		errno = r.errno
	}
	r.errno = 0
	return errno
}

// A watchedFS notes what is refused of the file system in it.
type watchedFS struct {
	experimental.FS
	at   string // where the guest finds it
	note *refusals
}

func (w watchedFS) saw(name string, write bool, errno experimental.Errno) experimental.Errno {
	if errno == experimental.EPERM || errno == experimental.EROFS {
		w.note.add(transports.Refusal{Path: path.Join(w.at, name), Write: write})
	}
	return errno
}

// OpenFile implements [experimental.FS].
func (w watchedFS) OpenFile(name string, flag experimental.Oflag, perm fs.FileMode) (experimental.File, experimental.Errno) {
	f, errno := w.FS.OpenFile(name, flag, perm)
	return f, w.saw(name, writes(flag) || flag&changes != 0, errno)
}

// Stat implements [experimental.FS].
func (w watchedFS) Stat(name string) (sys.Stat_t, experimental.Errno) {
	st, errno := w.FS.Stat(name)
	return st, w.saw(name, false, errno)
}

// Lstat implements [experimental.FS].
func (w watchedFS) Lstat(name string) (sys.Stat_t, experimental.Errno) {
	st, errno := w.FS.Lstat(name)
	return st, w.saw(name, false, errno)
}

// Readlink implements [experimental.FS].
func (w watchedFS) Readlink(name string) (string, experimental.Errno) {
	text, errno := w.FS.Readlink(name)
	return text, w.saw(name, false, errno)
}

// Mkdir implements [experimental.FS].
func (w watchedFS) Mkdir(name string, perm fs.FileMode) experimental.Errno {
	return w.saw(name, true, w.FS.Mkdir(name, perm))
}

// Chmod implements [experimental.FS].
func (w watchedFS) Chmod(name string, perm fs.FileMode) experimental.Errno {
	return w.saw(name, true, w.FS.Chmod(name, perm))
}

// Rename implements [experimental.FS].
func (w watchedFS) Rename(from, to string) experimental.Errno {
	return w.saw(from, true, w.FS.Rename(from, to))
}

// Rmdir implements [experimental.FS].
func (w watchedFS) Rmdir(name string) experimental.Errno { return w.saw(name, true, w.FS.Rmdir(name)) }

// Unlink implements [experimental.FS].
func (w watchedFS) Unlink(name string) experimental.Errno {
	return w.saw(name, true, w.FS.Unlink(name))
}

// Link implements [experimental.FS].
func (w watchedFS) Link(from, to string) experimental.Errno {
	return w.saw(to, true, w.FS.Link(from, to))
}

// Symlink implements [experimental.FS].
func (w watchedFS) Symlink(text, name string) experimental.Errno {
	return w.saw(name, true, w.FS.Symlink(text, name))
}

// Utimens implements [experimental.FS].
func (w watchedFS) Utimens(name string, atim, mtim int64) experimental.Errno {
	return w.saw(name, true, w.FS.Utimens(name, atim, mtim))
}

package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// A rootFS is a folder of the host as a guest sees it. Nothing outside can be
// reached: every name is resolved by [os.Root], which follows a link only as
// long as it stays inside, and is not fooled when names change meanwhile.
// Beyond that a guest cannot make links, hard or symbolic, that might lead
// others astray; cannot change permissions; and can open folders and regular
// files only, so that no pipe hangs it and no device answers.
//
// What a guest may not do is EPERM, and EROFS in a read-only mount.
type rootFS struct {
	experimental.UnimplementedFS
	root     *os.Root
	readOnly bool
	quota    *quota // or nil
	files    *openFiles
	kept     kept
}

// folders are the open mounts of a guest, in their order.
type folders []*rootFS

func openMounts(c Config, note *refusals) (folders, error) {
	var f folders
	files := &openFiles{most: c.OpenFiles, note: note}
	for _, m := range c.Mounts {
		fs, err := newRootFS(m.Host, m.ReadOnly)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("mount %q: %w", m.Guest, err)
		}
		fs.files, fs.quota, fs.kept = files, newQuota(fs.root, m.Most, note), newKept(m.Closed, m.Fixed)
		f = append(f, fs)
	}
	return f, nil
}

func (f folders) close() {
	for _, fs := range f {
		_ = fs.root.Close()
	}
}

func newRootFS(dir string, readOnly bool) (*rootFS, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%q is not an absolute path", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &rootFS{root: root, readOnly: readOnly, files: &openFiles{}}, nil
}

// changing answers any call that would change something, with what a read-only
// mount says or else the given error.
func (r *rootFS) changing(otherwise experimental.Errno) experimental.Errno {
	if r.readOnly {
		return experimental.EROFS
	}
	return otherwise
}

const changes = experimental.O_CREAT | experimental.O_TRUNC | experimental.O_APPEND

func writes(flag experimental.Oflag) bool {
	return flag&(experimental.O_WRONLY|experimental.O_RDWR) != 0
}

// OpenFile implements [experimental.FS].
func (r *rootFS) OpenFile(name string, flag experimental.Oflag, perm fs.FileMode) (experimental.File, experimental.Errno) {
	follow := flag&experimental.O_NOFOLLOW == 0
	judge := r.look
	if writes(flag) || flag&changes != 0 {
		judge = r.change
	}
	if errno := judge(name, follow); errno != 0 {
		return nil, errno
	}
	isNew, errno := r.openable(name, flag)
	if errno != 0 {
		return nil, errno
	}
	if isNew {
		if errno := r.quota.take(1); errno != 0 {
			return nil, errno
		}
	}
	if errno := r.files.take(); errno != 0 {
		return nil, errno
	}
	f, errno := r.open(name, flag, perm)
	if errno != 0 {
		r.files.giveBack()
	}
	return f, errno
}

func (r *rootFS) open(name string, flag experimental.Oflag, perm fs.FileMode) (experimental.File, experimental.Errno) {
	f, err := r.root.OpenFile(name, hostFlags(flag), perm&0o777)
	if err != nil {
		return nil, errnoOf(err)
	}
	info, err := f.Stat() // once more: it is what was opened that counts
	if err != nil {
		_ = f.Close()
		return nil, errnoOf(err)
	}
	if errno := allowed(info, flag); errno != 0 {
		_ = f.Close()
		return nil, errno
	}
	file := seeker[int64]{file: f, dir: info.IsDir()}
	return &rootFile{fs: r, name: name, seeker: file, appending: flag&experimental.O_APPEND != 0}, 0
}

// openable looks before a file is opened, since opening alone can hang or do
// something. isNew says that opening makes the file.
func (r *rootFS) openable(name string, flag experimental.Oflag) (isNew bool, errno experimental.Errno) {
	if flag&experimental.O_NOFOLLOW != 0 {
		if info, err := r.root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return false, experimental.ELOOP
		}
	}
	info, err := r.root.Stat(name)
	if err != nil {
		if errnoOf(err) == experimental.ENOENT && writes(flag) && flag&experimental.O_CREAT != 0 {
			return true, 0 // unless it is a link to the outside: os.Root refuses that
		}
		return false, errnoOf(err)
	}
	return false, allowed(info, flag)
}

func allowed(info fs.FileInfo, flag experimental.Oflag) experimental.Errno {
	switch {
	case info.IsDir() && (writes(flag) || flag&experimental.O_CREAT != 0):
		return experimental.EISDIR
	case !info.IsDir() && flag&experimental.O_DIRECTORY != 0:
		return experimental.ENOTDIR
	case !info.IsDir() && !info.Mode().IsRegular():
		return experimental.EPERM
	}
	return 0
}

// hostFlags passes on what opens, and of what changes only what goes with
// writing. Appending is done by rootFile, whose flag can be taken away again.
func hostFlags(flag experimental.Oflag) int {
	host := os.O_RDONLY | openNonblock
	switch {
	case flag&experimental.O_RDWR != 0:
		host |= os.O_RDWR
	case flag&experimental.O_WRONLY != 0:
		host |= os.O_WRONLY
	default:
		return host
	}
	for from, to := range map[experimental.Oflag]int{
		experimental.O_CREAT: os.O_CREATE, experimental.O_EXCL: os.O_EXCL, experimental.O_TRUNC: os.O_TRUNC,
		experimental.O_SYNC: os.O_SYNC, experimental.O_DSYNC: os.O_SYNC,
	} {
		if flag&from != 0 {
			host |= to
		}
	}
	return host
}

// Stat implements [experimental.FS].
func (r *rootFS) Stat(name string) (sys.Stat_t, experimental.Errno) {
	if errno := r.look(name, true); errno != 0 {
		return sys.Stat_t{}, errno
	}
	return stat(r.root.Stat(name))
}

// Lstat implements [experimental.FS].
func (r *rootFS) Lstat(name string) (sys.Stat_t, experimental.Errno) {
	if errno := r.look(name, false); errno != 0 {
		return sys.Stat_t{}, errno
	}
	return stat(r.root.Lstat(name))
}

func stat(info fs.FileInfo, err error) (sys.Stat_t, experimental.Errno) {
	if err != nil {
		return sys.Stat_t{}, errnoOf(err)
	}
	return sys.NewStat_t(info), 0
}

// Readlink implements [experimental.FS]. The text of a link that leads outside
// would tell about the outside.
func (r *rootFS) Readlink(name string) (string, experimental.Errno) {
	if errno := r.look(name, false); errno != 0 {
		return "", errno
	}
	target, err := r.root.Readlink(name)
	if err != nil {
		return "", errnoOf(err)
	}
	if _, err := r.root.Stat(name); err != nil && errnoOf(err) != experimental.ENOENT {
		return "", errnoOf(err)
	}
	target = filepath.ToSlash(target)
	if path.IsAbs(target) || !filepath.IsLocal(path.Join(path.Dir(name), target)) {
		return "", experimental.EPERM
	}
	return target, 0
}

// Mkdir implements [experimental.FS].
func (r *rootFS) Mkdir(name string, perm fs.FileMode) experimental.Errno {
	if errno := r.change(name, false); errno != 0 {
		return errno
	}
	if errno := r.quota.take(1); errno != 0 {
		return errno
	}
	return errnoOf(r.root.Mkdir(name, perm&0o777))
}

// Rename implements [experimental.FS]. A link stays where it is, since from
// another place it may lead elsewhere.
func (r *rootFS) Rename(from, to string) experimental.Errno {
	for _, name := range []string{from, to} {
		if errno := r.move(name); errno != 0 {
			return errno
		}
	}
	if info, err := r.root.Lstat(from); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return experimental.EPERM
	}
	return errnoOf(r.root.Rename(from, to))
}

// Rmdir implements [experimental.FS].
func (r *rootFS) Rmdir(name string) experimental.Errno {
	return r.remove(name, true)
}

// Unlink implements [experimental.FS].
func (r *rootFS) Unlink(name string) experimental.Errno {
	return r.remove(name, false)
}

func (r *rootFS) remove(name string, dir bool) experimental.Errno {
	if errno := r.move(name); errno != 0 {
		return errno
	}
	info, err := r.root.Lstat(name)
	switch {
	case err != nil:
		return errnoOf(err)
	case dir && !info.IsDir():
		return experimental.ENOTDIR
	case !dir && info.IsDir():
		return experimental.EISDIR
	}
	return errnoOf(r.root.Remove(name))
}

// Utimens implements [experimental.FS].
func (r *rootFS) Utimens(name string, atim, mtim int64) experimental.Errno {
	if errno := r.change(name, true); errno != 0 {
		return errno
	}
	return errnoOf(r.root.Chtimes(name, timeOf(atim), timeOf(mtim)))
}

// timeOf gives the zero time, which leaves a file's as it is, where the guest
// asks for that.
func timeOf(nanos int64) time.Time {
	if nanos == experimental.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}

// Chmod implements [experimental.FS].
func (r *rootFS) Chmod(string, fs.FileMode) experimental.Errno {
	return r.changing(experimental.EPERM)
}

// Link implements [experimental.FS].
func (r *rootFS) Link(string, string) experimental.Errno {
	return r.changing(experimental.EPERM)
}

// Symlink implements [experimental.FS].
func (r *rootFS) Symlink(string, string) experimental.Errno {
	return r.changing(experimental.EPERM)
}

package engine

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// outsideFS stands for everything that is not mounted. Without it a path
// outside of the mounts would be a bad descriptor to some languages and a lack
// of a capability to others; with it, it is EPERM to all. The folders that lead
// to a mount are there, so that a program can walk down to it, and show nothing
// but that way. It holds no host path at all.
type outsideFS struct {
	experimental.UnimplementedFS
	mounts []string // guest paths without the leading slash
}

func newOutside(mounts []Mount) *outsideFS {
	o := &outsideFS{}
	for _, m := range mounts {
		o.mounts = append(o.mounts, strings.TrimPrefix(m.Guest, "/"))
	}
	return o
}

// children are the names in a folder on the way to a mount; ok says that it is
// one, or the root.
func (o *outsideFS) children(name string) (names []string, ok bool) {
	if name = path.Clean(name); name == "." {
		name, ok = "", true
	}
	for _, m := range o.mounts {
		rest := m
		if name != "" {
			var below bool
			if rest, below = strings.CutPrefix(m, name+"/"); !below {
				continue
			}
		}
		child, _, _ := strings.Cut(rest, "/")
		if !slices.Contains(names, child) {
			names = append(names, child)
		}
	}
	return names, ok || len(names) > 0
}

var wayStat = sys.Stat_t{Mode: fs.ModeDir | 0o555, Nlink: 1}

// Stat implements [experimental.FS].
func (o *outsideFS) Stat(name string) (sys.Stat_t, experimental.Errno) {
	if _, ok := o.children(name); !ok {
		return sys.Stat_t{}, experimental.EPERM
	}
	return wayStat, 0
}

// Lstat implements [experimental.FS].
func (o *outsideFS) Lstat(name string) (sys.Stat_t, experimental.Errno) { return o.Stat(name) }

// OpenFile implements [experimental.FS].
func (o *outsideFS) OpenFile(name string, flag experimental.Oflag, _ fs.FileMode) (experimental.File, experimental.Errno) {
	names, ok := o.children(name)
	if !ok || writes(flag) || flag&changes != 0 {
		return nil, experimental.EPERM
	}
	return &wayFile{left: names}, 0
}

// Readlink implements [experimental.FS].
func (o *outsideFS) Readlink(name string) (string, experimental.Errno) {
	if _, ok := o.children(name); ok {
		return "", experimental.EINVAL // it is no link
	}
	return "", experimental.EPERM
}

// Mkdir implements [experimental.FS].
func (o *outsideFS) Mkdir(name string, _ fs.FileMode) experimental.Errno {
	if _, ok := o.children(name); ok {
		return experimental.EEXIST // what makes all folders of a path goes on then
	}
	return experimental.EPERM
}

// Chmod implements [experimental.FS].
func (*outsideFS) Chmod(string, fs.FileMode) experimental.Errno { return experimental.EPERM }

// Rename implements [experimental.FS].
func (*outsideFS) Rename(string, string) experimental.Errno { return experimental.EPERM }

// Rmdir implements [experimental.FS].
func (*outsideFS) Rmdir(string) experimental.Errno { return experimental.EPERM }

// Unlink implements [experimental.FS].
func (*outsideFS) Unlink(string) experimental.Errno { return experimental.EPERM }

// Link implements [experimental.FS].
func (*outsideFS) Link(string, string) experimental.Errno { return experimental.EPERM }

// Symlink implements [experimental.FS].
func (*outsideFS) Symlink(string, string) experimental.Errno { return experimental.EPERM }

// Utimens implements [experimental.FS].
func (*outsideFS) Utimens(string, int64, int64) experimental.Errno { return experimental.EPERM }

// A wayFile is an open folder on the way to a mount.
type wayFile struct {
	experimental.UnimplementedFile
	left []string // names that Readdir has not returned yet
}

// IsDir implements [experimental.File].
func (*wayFile) IsDir() (bool, experimental.Errno) { return true, 0 }

// Stat implements [experimental.File].
func (*wayFile) Stat() (sys.Stat_t, experimental.Errno) { return wayStat, 0 }

// Readdir implements [experimental.File].
func (f *wayFile) Readdir(n int) ([]experimental.Dirent, experimental.Errno) {
	if n <= 0 || n > len(f.left) {
		n = len(f.left)
	}
	var all []experimental.Dirent
	for _, name := range f.left[:n] {
		all = append(all, experimental.Dirent{Name: name, Type: fs.ModeDir})
	}
	f.left = f.left[n:]
	return all, 0
}

// Close implements [experimental.File].
func (*wayFile) Close() experimental.Errno { return 0 }

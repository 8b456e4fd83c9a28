package engine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// A rootFile is an open file or folder of a [rootFS].
type rootFile struct {
	unimplemented
	seeker[int64]
	fs        *rootFS
	name      string
	appending bool // writes go to the end, wherever the offset is
}

// unimplemented is one level down, so that it gives way to seeker.
type unimplemented struct{ experimental.UnimplementedFile }

// IsDir implements [experimental.File].
func (f *rootFile) IsDir() (bool, experimental.Errno) { return f.dir, 0 }

// IsAppend implements [experimental.File].
func (f *rootFile) IsAppend() bool { return f.appending }

// SetAppend implements [experimental.File].
func (f *rootFile) SetAppend(enable bool) experimental.Errno {
	if f.dir {
		return experimental.EISDIR
	}
	f.appending = enable
	return 0
}

// Stat implements [experimental.File].
func (f *rootFile) Stat() (sys.Stat_t, experimental.Errno) { return stat(f.file.Stat()) }

// Dev implements [experimental.File].
func (f *rootFile) Dev() (uint64, experimental.Errno) {
	st, errno := f.Stat()
	return st.Dev, errno
}

// Ino implements [experimental.File].
func (f *rootFile) Ino() (sys.Inode, experimental.Errno) {
	st, errno := f.Stat()
	return st.Ino, errno
}

// Read implements [experimental.File].
func (f *rootFile) Read(buf []byte) (int, experimental.Errno) {
	if f.dir {
		return 0, experimental.EISDIR
	}
	n, err := f.file.Read(buf)
	return n, errnoOf(ignoreEOF(err))
}

// Pread implements [experimental.File].
func (f *rootFile) Pread(buf []byte, off int64) (int, experimental.Errno) {
	if f.dir {
		return 0, experimental.EISDIR
	}
	n, err := f.file.ReadAt(buf, off)
	return n, errnoOf(ignoreEOF(err))
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Write implements [experimental.File].
func (f *rootFile) Write(buf []byte) (int, experimental.Errno) {
	if f.dir {
		return 0, experimental.EISDIR
	}
	whence := io.SeekCurrent
	if f.appending {
		whence = io.SeekEnd
	}
	at, err := f.file.Seek(0, whence)
	if err != nil {
		return 0, errnoOf(err)
	}
	if errno := f.fs.quota.grow(f.file, at+int64(len(buf))); errno != 0 {
		return 0, errno
	}
	n, err := f.file.Write(buf)
	return n, errnoOf(err)
}

// Pwrite implements [experimental.File].
func (f *rootFile) Pwrite(buf []byte, off int64) (int, experimental.Errno) {
	if f.dir {
		return 0, experimental.EISDIR
	}
	if errno := f.fs.quota.grow(f.file, off+int64(len(buf))); errno != 0 {
		return 0, errno
	}
	n, err := f.file.WriteAt(buf, off)
	return n, errnoOf(err)
}

// seeker has the Seek of a [rootFile]. It is generic since the interface wants
// a signature that "go vet" takes for a mistaken [io.Seeker].
type seeker[Offset int64] struct {
	file *os.File
	dir  bool
}

// Seek implements [experimental.File].
func (s seeker[Offset]) Seek(offset Offset, whence int) (Offset, experimental.Errno) {
	if s.dir && (offset != 0 || whence != io.SeekStart) {
		return 0, experimental.EISDIR // a folder can only be read anew
	}
	n, err := s.file.Seek(int64(offset), whence)
	return Offset(n), errnoOf(err)
}

// Readdir implements [experimental.File].
func (f *rootFile) Readdir(n int) ([]experimental.Dirent, experimental.Errno) {
	if !f.dir {
		return nil, experimental.ENOTDIR
	}
	entries, err := f.file.ReadDir(n)
	if err := ignoreEOF(err); err != nil {
		return nil, errnoOf(err)
	}
	all := make([]experimental.Dirent, 0, len(entries))
	for _, entry := range entries {
		d := experimental.Dirent{Name: entry.Name(), Type: entry.Type()}
		if info, err := f.fs.root.Lstat(path.Join(f.name, entry.Name())); err == nil {
			d.Ino = sys.NewStat_t(info).Ino
		}
		all = append(all, d)
	}
	return all, 0
}

// Truncate implements [experimental.File].
func (f *rootFile) Truncate(size int64) experimental.Errno {
	if f.dir {
		return experimental.EISDIR
	}
	if errno := f.fs.quota.grow(f.file, size); errno != 0 {
		return errno
	}
	return errnoOf(f.file.Truncate(size))
}

// Sync implements [experimental.File].
func (f *rootFile) Sync() experimental.Errno { return errnoOf(f.file.Sync()) }

// Datasync implements [experimental.File].
func (f *rootFile) Datasync() experimental.Errno { return f.Sync() }

// Utimens implements [experimental.File].
func (f *rootFile) Utimens(atim, mtim int64) experimental.Errno {
	return f.fs.Utimens(f.name, atim, mtim)
}

// Close implements [experimental.File].
func (f *rootFile) Close() experimental.Errno {
	f.fs.files.giveBack()
	return errnoOf(f.file.Close())
}

// errnoOf gives the system's error number. What is none, as os.Root's error
// for a name that leads outside, is a lack of permission.
func errnoOf(err error) experimental.Errno {
	if err == nil {
		return 0
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return experimental.UnwrapOSError(number)
	}
	for _, known := range []error{fs.ErrInvalid, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed} {
		if errors.Is(err, known) {
			return experimental.UnwrapOSError(known)
		}
	}
	return experimental.EPERM
}

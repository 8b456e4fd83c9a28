package tree

import (
	"io/fs"
	"syscall"
)

// identity is what a file system knows of a file besides its size and time.
func identity(info fs.FileInfo) (ctime int64, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano(), st.Ino
	}
	return 0, 0
}

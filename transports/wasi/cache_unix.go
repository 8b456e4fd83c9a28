//go:build unix

package wasi

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMayWrite says whether somebody else than this user or root may write
// to the folder.
func othersMayWrite(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) != os.Geteuid() && st.Uid != 0 || info.Mode().Perm()&0o022 != 0
}

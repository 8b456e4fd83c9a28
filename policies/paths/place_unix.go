//go:build unix

package paths

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openNonblock keeps an open from waiting for the other end of a pipe that
// was put where a file had been.
const openNonblock = syscall.O_NONBLOCK

func isBusyProgram(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

// keepOwner gives f the owner and group of old. Only root can in general, and
// only root would otherwise take files away from their owners.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
